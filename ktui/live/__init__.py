"""A real kube-apiserver as a source: its metrics and dumps read as a stream, turned into telemetry events."""
