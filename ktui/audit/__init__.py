"""Logs of kube-apiserver and etcd: which clients send which requests, their cost, and cheaper variants."""
