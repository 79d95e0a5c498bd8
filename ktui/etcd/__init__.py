"""Connections to etcd, the embedded process, watch streams, and the ledger of every RPC."""
