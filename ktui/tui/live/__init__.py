"""The dashboard over a kube-apiserver whose metrics are read: the same screens and keys."""
