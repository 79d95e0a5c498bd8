"""Objects that a kube-apiserver creates in an empty etcd when it starts."""
