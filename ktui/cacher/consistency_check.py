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
from ktui.contract.cache_documents import CacheDigest, ConsistencyCheck, EtcdDigest
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


@dataclass(slots=True, eq=False)
class ConsistencyChecker:
    """Checks one cache: when asked, and `run` all the time if `check_consistency`.

    `counts` is by outcome. `figures` are the fields of CacheStatus about the last check: its outcome, end
    (Unix time) and cost, and the first difference or etcd's error.
    """

    store: Store
    cache: WatchCache
    settings: Settings
    ready: asyncio.Event
    changed: Callable[[], None]
    counts: Counter[str] = field(default_factory=Counter)
    figures: dict[str, Any] = field(default_factory=dict)

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

    async def check(self) -> ConsistencyCheck:
        """Compare the cache with etcd at the cache's resourceVersion, count it, and keep what it found and
        cost.

        Raises EtcdError if etcd does not answer.
        """
        name, started, outcome, detail = self.store.resource.id, time.perf_counter(), ERROR, ""
        rv, here, there = self.cache.rv, Digest(), Digest()
        with metered(Meter()) as meter:
            try:
                detail = await self._compare(rv, here, there)
                outcome = SUCCESS if here.value == there.value else FAILURE
            except EtcdError as error:
                detail = str(error)
                log.warning("Cache consistency check of %s could not be made: %s", name, error)
                raise
            finally:
                self.counts[outcome] += 1
                ms = (time.perf_counter() - started) * 1000.0
                self.figures = {
                    "check": outcome, "checked_at": time.time(), "check_ms": ms,
                    "check_objects": meter.etcd_keys, "check_bytes": meter.etcd_bytes, "check_detail": detail,
                }  # fmt: skip
                self.changed()
        cached = CacheDigest(f"{here.value:016x}", here.objects)
        stored = EtcdDigest(f"{there.value:016x}", there.objects, meter.etcd_rpcs, meter.etcd_bytes)
        result = ConsistencyCheck(str(rv), outcome == SUCCESS, cached, stored, ms, detail)
        if not result.consistent:
            log.error("Cache consistency check failed: %s: %s", name, result)
        self.cache.snapshots.trust(result.consistent)
        self.changed()
        return result

    async def _compare(self, rv: int, here: Digest, there: Digest) -> str:
        """Digest the cache and etcd at `rv`; return the first object in key order that differs."""
        objects = self.cache.store.all()
        async for part in sliced(objects):
            here.add(part)
        first = FirstDifference(objects)
        stream = self.settings.behaviour.enabled("EtcdRangeStream")
        async for page in self.store.pages(revision=rv, stream=stream):
            async for part in sliced(page.objects):
                there.add(part)
                first.compare(part)
        first.end()
        return first.text
