"""One watch cache a resource: reflector, ring of events, snapshots, freshness, watchers, delegation."""
