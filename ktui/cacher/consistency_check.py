"""Compare a cache with etcd: digests of both at the same resourceVersion.

kube-apiserver's consistency checker: FNV-1 (64 bit) over `namespace/name/rv` of every object in key order,
without separators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.telemetry.off_loop import sliced

if TYPE_CHECKING:
    from ktui.cacher.watch_cache import WatchCache
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store

_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


class Digest:
    """FNV-1, 64 bit, fed object by object."""

    def __init__(self) -> None:
        self.value = _OFFSET
        self.objects = 0

    def add(self, objects: Iterable[StoredObject]) -> None:
        value = self.value
        for obj in objects:
            self.objects += 1
            for byte in f"{obj.namespace}/{obj.name}/{obj.rv}".encode():
                value = ((value * _PRIME) & _MASK) ^ byte
        self.value = value


class FirstDifference:
    """Finds the first object, in key order, that cache and etcd do not both have at the same revision."""

    def __init__(self, cached: Sequence[StoredObject]) -> None:
        self.text = ""
        self._cached = cached
        self._at = 0

    def compare(self, stored: Iterable[StoredObject]) -> None:
        """Compare the next objects of etcd."""
        for obj in stored:
            if self.text:
                return
            cached = self._cached[self._at] if self._at < len(self._cached) else None
            if cached is None or obj.key < cached.key:
                self.text = f"{_name(obj)} is missing in the cache (RV {obj.rv} in etcd)"
            elif obj.key > cached.key:
                self.text = f"{_name(cached)} is in the cache (RV {cached.rv}) and not in etcd"
            elif obj.rv != cached.rv:
                self.text = f"{_name(obj)} has RV {cached.rv} in the cache and {obj.rv} in etcd"
            self._at += 1

    def end(self) -> None:
        """Record that etcd has no more objects."""
        if not self.text and self._at < len(self._cached):
            extra = self._cached[self._at]
            self.text = f"{_name(extra)} is in the cache (RV {extra.rv}) and not in etcd"


def _name(obj: StoredObject) -> str:
    return f"{obj.namespace}/{obj.name}" if obj.namespace else obj.name


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Digests (hexadecimal) and counts at one resourceVersion."""

    rv: int
    cache_digest: str
    etcd_digest: str
    cache_objects: int
    etcd_objects: int
    difference: str = ""  # the first object in key order that differs

    @property
    def consistent(self) -> bool:
        return self.cache_digest == self.etcd_digest


async def check(store: Store, cache: WatchCache, *, stream: bool = False) -> CheckResult:
    """Compare `cache` with etcd at the cache's resourceVersion. Raises EtcdError if etcd does not answer.

    `stream`: etcd is read as a RangeStream, if it has that.
    """
    rv, objects = cache.rv, cache.store.all()
    here, there = Digest(), Digest()
    async for part in sliced(objects):
        here.add(part)
    first = FirstDifference(objects)
    async for page in store.pages(revision=rv, stream=stream):
        async for part in sliced(page.objects):
            there.add(part)
            first.compare(part)
    first.end()
    digests = f"{here.value:016x}", f"{there.value:016x}"
    return CheckResult(rv, *digests, here.objects, there.objects, first.text)
