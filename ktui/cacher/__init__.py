"""One watch cache per resource: reflector, event buffer, snapshots, watchers, and delegation to etcd."""
