"""Kubernetes objects as keys of etcd: pages, gets, transactions, leases, watches."""
