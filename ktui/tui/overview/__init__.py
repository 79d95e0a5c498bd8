"""Screen 1: etcd, watch caches and requests at a glance."""
