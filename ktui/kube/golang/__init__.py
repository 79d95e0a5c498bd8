"""How Go's standard library writes, and what it says of bad input: clients of kube-apiserver see both."""
