"""Compare a cache with etcd, now and periodically: digests of both at the same resourceVersion.

kube-apiserver's DetectCacheInconsistency (1.34+): every 5 to 7.5 minutes, FNV-1 (64 bit) over
`namespace/name/rv` of every object in key order, without separators. After a failure snapshots are not served
until a check has succeeded.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ktui.cacher.settings import Settings
from ktui.cacher.watch_cache import WatchCache
from ktui.etcd.errors import EtcdError
from ktui.storage.objects import StoredObject
from ktui.storage.store import Store
from ktui.telemetry.meter import Meter, metered
from ktui.telemetry.off_loop import sliced

PERIOD = 300.0
JITTER = 0.5
SUCCESS, FAILURE, ERROR = "success", "failure", "error"
_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1

log = logging.getLogger(__name__)


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
                self.text = f"{name_of(obj)} is missing in the cache (RV {obj.rv} in etcd)"
            elif obj.key > cached.key:
                self.text = f"{name_of(cached)} is in the cache (RV {cached.rv}) and not in etcd"
            elif obj.rv != cached.rv:
                self.text = f"{name_of(obj)} has RV {cached.rv} in the cache and {obj.rv} in etcd"
            self._at += 1

    def end(self) -> None:
        """Record that etcd has no more objects."""
        if not self.text and self._at < len(self._cached):
            extra = self._cached[self._at]
            self.text = f"{name_of(extra)} is in the cache (RV {extra.rv}) and not in etcd"


def name_of(obj: StoredObject) -> str:
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


@dataclass(frozen=True, slots=True)
class LastCheck:
    """The last check: outcome, end (Unix time), cost, and the first difference or etcd's error."""

    outcome: str
    at: float
    ms: float
    rpcs: int
    keys: int
    bytes: int
    detail: str = ""

    def figures(self) -> dict[str, Any]:
        """Return the fields of CacheStatus about the check."""
        return {
            "check": self.outcome, "checked_at": self.at, "check_ms": self.ms, "check_objects": self.keys,
            "check_bytes": self.bytes, "check_detail": self.detail,
        }  # fmt: skip


@dataclass(slots=True, eq=False)
class ConsistencyChecker:
    """Checks one cache: when asked, and `run` all the time if `check_consistency`. `counts` is by outcome."""

    store: Store
    cache: WatchCache
    settings: Settings
    ready: asyncio.Event
    changed: Callable[[], None]
    counts: Counter[str] = field(default_factory=Counter)
    last: LastCheck | None = None

    async def run(self) -> None:
        """Check periodically until cancelled, if the version has the feature and the setting allows it."""
        while True:
            await asyncio.sleep(PERIOD * random.uniform(1.0, 1.0 + JITTER))
            detects = self.settings.behaviour.enabled("DetectCacheInconsistency")
            if detects and self.settings.check_consistency and self.ready.is_set():
                await self.once()

    async def once(self) -> str:
        """Check now; return the outcome."""
        try:
            return SUCCESS if (await self.check()).consistent else FAILURE
        except EtcdError:
            return ERROR

    async def check(self) -> CheckResult:
        """Compare the cache with etcd now, count it, and keep what it found and cost. Raises EtcdError."""
        name, started, outcome, detail = self.store.resource.id, time.perf_counter(), ERROR, ""
        with metered(Meter()) as meter:
            try:
                stream = self.settings.behaviour.enabled("EtcdRangeStream")
                result = await check(self.store, self.cache, stream=stream)
                outcome = SUCCESS if result.consistent else FAILURE
                detail = result.difference
            except EtcdError as error:
                detail = str(error)
                log.warning("Cache consistency check of %s could not be made: %s", name, error)
                raise
            finally:
                self.counts[outcome] += 1
                ms = (time.perf_counter() - started) * 1000.0
                cost = meter.etcd_rpcs, meter.etcd_keys, meter.etcd_bytes
                self.last = LastCheck(outcome, time.time(), ms, *cost, detail)
                self.changed()
        if not result.consistent:
            log.error("Cache consistency check failed: %s: %s", name, result)
        self.cache.snapshots.trust(result.consistent)
        self.changed()
        return result
