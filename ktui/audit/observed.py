"""Where slow requests were served from and where their time went, as the apiserver measured it."""

from __future__ import annotations

from typing import ClassVar

from ktui.audit.formats.record import Spent

_PROBE = 20_000  # microseconds: reading the current revision takes etcd less, unless it is overloaded
_SHARE = 4  # a quarter of the time
_LONG = 100_000

PARTS = ("queue", "etcd", "encode", "write", "other")


def source_of(spent: Spent) -> str:
    """Return `cache`, `etcd`, `unclear`, or "" if the log does not measure etcd (httplog).

    A cache answers without etcd, or after a read of one key (the current revision).
    """
    if spent.etcd < 0:
        return ""
    if spent.etcd <= _PROBE:
        return "cache"
    served = spent.total - spent.queue - spent.write
    return "etcd" if spent.etcd >= _LONG or spent.etcd * _SHARE >= served else "unclear"


class SlowRequests:
    """The requests of a group that took more than 500 ms: their number by source, microseconds by part."""

    __slots__ = ("count", "encode", "etcd", "other", "queue", "sources", "total", "write")
    SOURCES: ClassVar[tuple[str, ...]] = ("cache", "etcd", "unclear")

    def __init__(self) -> None:
        self.count = self.total = 0
        self.queue = self.etcd = self.encode = self.write = self.other = 0
        self.sources = dict.fromkeys(self.SOURCES, 0)

    def add(self, spent: Spent, times: int = 1) -> None:
        """Add one request; `times` -1 removes it."""
        self.count += times
        self.total += times * spent.total
        self.queue += times * spent.queue
        self.etcd += times * max(0, spent.etcd)
        self.encode += times * spent.encode
        self.write += times * spent.write
        self.other += times * spent.other
        if source := source_of(spent):
            self.sources[source] += times

    def merge(self, other: SlowRequests) -> None:
        self.count += other.count
        self.total += other.total
        for part in PARTS:
            setattr(self, part, getattr(self, part) + getattr(other, part))
        for source, count in other.sources.items():
            self.sources[source] += count
