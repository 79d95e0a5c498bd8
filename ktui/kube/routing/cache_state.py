"""Inputs of a plan besides the request: the state of the watch cache and of etcd."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Readiness(StrEnum):
    """State of one resource's watch cache."""

    READY = "ready"
    INITIALIZING = "initializing"
    REINITIALIZING = "reinitializing"
    DISABLED = "disabled"  # events, `--watch-cache=false`


@dataclass(frozen=True, slots=True)
class CacheState:
    """The watch cache of one resource and the etcd behind it.

    `etcd_rv` and `compact_rv` are None if unknown (a running server does not ask etcd
    before it plans); then nothing is predicted from them.
    `progress`: etcd's progress notifications can be trusted.
    `oldest_snapshot_rv` is None if no snapshot is retained.
    `oldest_watch_rv` is the smallest resourceVersion from which a WATCH may start.
    `downtime_seconds` is how long the cache has not been ready, `last_error` the reason.
    """

    readiness: Readiness = Readiness.READY
    cache_rv: int = 0
    progress: bool = True
    oldest_snapshot_rv: int | None = None
    oldest_watch_rv: int = 0
    etcd_rv: int | None = None
    compact_rv: int | None = None
    downtime_seconds: float = 0.0
    last_error: str = ""
