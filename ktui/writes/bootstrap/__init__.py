"""What a kube-apiserver puts into an empty etcd when it starts."""
