"""How the watch caches stand."""

from __future__ import annotations

from ktui.contract.events.base import Event


class CacheState(Event, frozen=True, kw_only=True, tag="cache"):
    """One resource's watch cache. Sent on change, at most 4 times a second a resource."""

    resource: str  # "pods", "ciliumnodes.cilium.io"
    state: str  # cold | initializing | ready | reinitializing | disabled
    rv: int = 0
    objects: int = 0
    bytes: int = 0  # stored bytes of the objects held
    oldest_rv: int = 0
    capacity: int = 0
    buffered: int = 0  # events in the ring
    events: int = 0  # received since start
    watchers: int = 0
    waiting: int = 0  # readers waiting until fresh
    snapshots: int = 0
    loaded: int = 0  # objects read so far while initializing
    loaded_bytes: int = 0  # their stored bytes
    expected: int = 0  # objects to read, when known
    error: str = ""
    progress_requests: int = 0
    # Unix time of etcd's last word, when the cache serves reads and does not follow etcd; else 0.
    stale_since: float = 0.0


class ProgressTick(Event, frozen=True, kw_only=True, tag="progress_tick"):
    """A cache learnt a revision from an etcd progress notification (no event of its own)."""

    resource: str
    rv: int
