"""A watch cache for each resource: reflector, event buffer, snapshots, watchers, and delegation to etcd."""
