"""`/metrics`: kube-apiserver's own metric names."""
