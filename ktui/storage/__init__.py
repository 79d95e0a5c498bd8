"""The etcd3 store: Kubernetes objects as keys, pages, transactions and leases."""
