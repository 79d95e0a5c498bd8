"""Output formats and error messages of Go's standard library: clients of kube-apiserver see both."""
