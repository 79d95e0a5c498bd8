"""Read logs of kube-apiserver and etcd: which clients send which requests, their cost, cheaper variants."""
