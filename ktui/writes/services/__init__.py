"""Allocate, keep and free the cluster IPs and node ports of Services."""
