"""What Go's standard library says about bad input: kube-apiserver hands these texts to its clients."""
