"""etcd, prefix by prefix and key by key."""
