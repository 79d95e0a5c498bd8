"""A real kube-apiserver as a source: read its metrics and dumps, and convert them into telemetry events."""
