"""What a kube-apiserver says of single requests: OTLP spans and klog `Trace[…]` lines, as one record each."""
