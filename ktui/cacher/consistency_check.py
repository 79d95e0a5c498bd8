"""Compare a cache with etcd: digests of both at the same resourceVersion.

kube-apiserver's consistency checker: FNV-1 (64 bit) over `namespace/name/rv` of every object in key order,
without separators.
"""

from __future__ import annotations

from collections.abc import Iterable
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


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Digests (hexadecimal) and counts at one resourceVersion."""

    rv: int
    cache_digest: str
    etcd_digest: str
    cache_objects: int
    etcd_objects: int

    @property
    def consistent(self) -> bool:
        return self.cache_digest == self.etcd_digest


async def check(store: Store, cache: WatchCache) -> CheckResult:
    """Compare `cache` with etcd at the cache's resourceVersion. Raises EtcdError if etcd does not answer."""
    rv, objects = cache.rv, cache.store.all()
    here, there = Digest(), Digest()
    async for part in sliced(objects):
        here.add(part)
    async for page in store.pages(revision=rv):
        async for part in sliced(page.objects):
            there.add(part)
    return CheckResult(rv, f"{here.value:016x}", f"{there.value:016x}", here.objects, there.objects)
