"""Mode 4: what etcd holds."""
