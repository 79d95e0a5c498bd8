"""The state of the watch caches."""

from __future__ import annotations

from ktui.contract.events.base import Count, Event, UnixTime


class CacheStatus(Event, frozen=True, kw_only=True, tag="cache"):
    """One resource's watch cache. Sent on change, at most 4 times a second per resource."""

    resource: str  # "pods", "ciliumnodes.cilium.io"
    state: str  # cold | initializing | ready | reinitializing | disabled
    rv: Count = 0
    objects: Count = 0
    bytes: Count = 0  # stored bytes of the objects held
    json_bytes: Count = 0  # of their JSON and Table rows, which are kept for the next answers
    json_evicted: Count = 0  # objects whose JSON was dropped to keep within the budget, since start
    oldest_rv: Count = 0
    capacity: Count = 0
    buffered: Count = 0  # events in the event buffer
    events: Count = 0  # received since start
    watchers: Count = 0
    waiting: Count = 0  # readers waiting for a revision
    snapshots: Count = 0
    loaded: Count = 0  # objects read so far while initializing
    loaded_bytes: Count = 0  # their stored bytes
    expected: Count = 0  # objects to read; 0 if unknown
    error: str = ""
    progress_requests: Count = 0
    # Unix time of etcd's last answer, if the cache serves reads although its watch of etcd is behind; else 0.
    stale_since: UnixTime = 0.0


class ProgressTick(Event, frozen=True, kw_only=True, tag="progress_tick"):
    """A cache received a revision by an etcd progress notification, not by an event."""

    resource: str
    rv: Count
