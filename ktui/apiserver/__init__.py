"""The HTTP API of kube-apiserver, over the cachers."""
