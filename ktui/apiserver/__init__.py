"""HTTP as kube-apiserver speaks it, over the cachers."""
