"""Measure what metering costs: the same LISTs of 5,000 pods in process, metered and not.

No network and no etcd: answers are dropped, and etcd is a list of keys and values.
Unmetered means that nothing is counted or timed; the calls to the meter remain and do
nothing. Rounds alternate, and each figure is their median, so that a slow moment of the
machine affects both equally.

    python -m benchmarks.meter [--pods N] [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from statistics import median
from typing import Any, cast
from unittest.mock import patch

from benchmarks.pods import PREFIX, seeded, template
from ktui.apiserver.forms.plain import Plain
from ktui.apiserver.framing import chunked
from ktui.apiserver.http.response import Body, Response
from ktui.apiserver.verbs.listing import drain, stream
from ktui.cacher import cache_list
from ktui.cacher.cache_list import CacheQuery, list_from_cache
from ktui.cacher.watch_cache import WatchCache
from ktui.etcd.types import KV, RangeResult
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.routing.parameters import RequestScope
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.storage import lister
from ktui.storage.keys import ResourceKeys
from ktui.storage.lister import Lister, StoreListRequest
from ktui.storage.objects import Reader, SelectionPredicate, StoredObject
from ktui.telemetry.meter import CpuClock, Footprint, Meter, metered

ALLOWED = 0.03
ROOT = PREFIX.decode()


_NO_PHASE = nullcontext()


class NoMeter(Meter):
    """A meter whose methods do nothing."""

    def phase(self, name: str) -> Any:
        return _NO_PHASE

    def add_phase(self, name: str, ms: float) -> None:
        pass

    def hold(self, size: int) -> None:
        pass

    def reach(self, size: int) -> None:
        pass

    def look(self) -> None:
        pass


class Etcd:
    """Answers every Range with the next of its keys."""

    def __init__(self, kvs: Sequence[KV]) -> None:
        self._kvs = kvs

    async def range(self, start: bytes, end: bytes, *, limit: int = 0, **_: Any) -> RangeResult:
        found = [kv for kv in self._kvs if kv.key >= start]
        kvs = found[:limit] if limit else found
        size = sum(len(kv.key) + len(kv.value) for kv in kvs)
        meter = cast("Any", lister).current_meter()  # as the ledger does it
        meter.hold(size)
        meter.reach(size)
        return RangeResult(kvs, len(found), bool(limit) and len(found) > limit, 9, size)


Work = Callable[[Meter], Awaitable[None]]


class Bench:
    """The pods, as stored in etcd and in a cache."""

    def __init__(self, pods: int) -> None:
        resource = BUILTIN.find("", "v1", "pods")
        assert resource is not None
        self.resource: Resource = resource
        self.kvs = [
            KV(key, value, at, at, 1, 0)
            for at, (key, value) in enumerate(sorted(seeded(template(), pods)), 1)
        ]
        self.reader = Reader(resource, ROOT)
        self.cache = WatchCache()
        self.cache.replace([self.reader.scanned(kv) for kv in self.kvs], rv=9)
        for obj in self.cache.store.all():
            obj.item_pieces()

    def works(self) -> dict[str, Work]:
        return {
            "cache, all": self._from_cache(""),
            "cache, a selector that no index serves": self._from_cache("tier!=tier-03"),
            "etcd, all": self._from_etcd(""),
            "etcd, a selector": self._from_etcd("tier=tier-03"),
        }

    def _from_cache(self, labels: str) -> Work:
        selection = _selection(labels)
        query = CacheQuery(
            RequestScope("", "", single=False, narrowed=False, selective=bool(labels)),
            selection,
            ROOT,
            pods=True,
        )

        async def run(meter: Meter) -> None:
            page = await list_from_cache(self.cache, query)
            await self._send(page.objects, meter)

        return run

    def _from_etcd(self, labels: str) -> Work:
        request = StoreListRequest(selection=_selection(labels))

        async def run(meter: Meter) -> None:
            client = cast("Any", Etcd(self.kvs))
            found = await Lister(client, ResourceKeys(self.resource), self.reader, request).run()
            await self._send(drain(list(found.objects), meter), meter)

        return run

    async def _send(self, objects: Iterable[StoredObject], meter: Meter) -> None:
        form = Plain(self.resource)
        body = Body(Response(_nowhere), "application/json", gzip=False)
        chunks = chunked(form.list_head({"resourceVersion": "9"}), (form.item(obj) for obj in objects))
        await stream(body, chunks, meter)


async def _nowhere(message: Any) -> None:
    """Drop a message that would be sent."""


def _selection(labels: str) -> SelectionPredicate:
    return SelectionPredicate(LabelSelector.parse(labels), FieldSelector([]), None, None)


async def _metered(work: Work) -> None:
    meter = Meter(request_id=1, footprint=Footprint())
    with metered(meter):
        await CpuClock(_coroutine(work, meter), meter)


async def _unmetered(work: Work) -> None:
    await work(NoMeter())


async def _coroutine(work: Work, meter: Meter) -> None:
    await work(meter)


@contextmanager
def _nothing_is_counted() -> Iterator[None]:
    """Replace the current meter by one that does nothing."""
    blind = NoMeter()
    with ExitStack() as patches:
        for module in (cache_list, lister):
            patches.enter_context(patch.object(module, "current_meter", lambda: blind))
        yield


async def _milliseconds(run: Callable[[Work], Awaitable[None]], work: Work) -> float:
    gc.collect()
    started = time.process_time()
    await run(work)
    return (time.process_time() - started) * 1000.0


async def _compare(work: Work, rounds: int) -> tuple[float, float]:
    """Return the median CPU milliseconds metered and unmetered."""
    with_meter, without = [], []
    await _metered(work)
    for _ in range(rounds):
        with_meter.append(await _milliseconds(_metered, work))
        with _nothing_is_counted():
            without.append(await _milliseconds(_unmetered, work))
    return median(with_meter), median(without)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.meter",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--pods", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=41)
    args = parser.parse_args()
    bench = Bench(args.pods)
    worst = 0.0
    print(f"LIST of {args.pods:,} pods, median CPU time of {args.rounds} rounds")
    for name, work in bench.works().items():
        metered_ms, unmetered_ms = asyncio.run(_compare(work, args.rounds))
        share = metered_ms / unmetered_ms - 1
        worst = max(worst, share)
        print(f"  {name:<40} {unmetered_ms:9.2f} ms   metered {metered_ms:9.2f} ms   {share:+.1%}")
    print(f"worst {worst:+.1%}, allowed {ALLOWED:.0%}")
    return 0 if worst < ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
