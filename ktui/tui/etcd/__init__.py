"""Screen 4: what etcd holds."""
