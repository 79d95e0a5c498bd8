"""What a kube-apiserver says of single requests: OTLP spans and klog `Trace[…]` lines, as one record each."""

SCHEME = "otlp://"  # of the endpoint that stands for traces in the event about a server
