"""Lists as in kube-apiserver's etcd3 store: pages at one revision, filtered while reading."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from ktui.etcd.client import EtcdClient
from ktui.etcd.errors import UnimplementedError
from ktui.etcd.types import KV, RangeResult
from ktui.kube import status
from ktui.storage.keys import ResourceKeys, range_end
from ktui.storage.objects import EVERYTHING, Reader, SelectionPredicate, StoredObject, bytes_of
from ktui.storage.whole_range import MAX_PAGE, read_range
from ktui.telemetry.meter import current_meter
from ktui.telemetry.off_loop import Slices

PageRule = Literal["constant", "doubling"]


def next_page(limit: int, rule: PageRule) -> int:
    """Return the next page's size: up to 1.23 the client's limit, since 1.24 doubled up to 10,000."""
    return limit if rule == "constant" or limit >= MAX_PAGE else min(limit * 2, MAX_PAGE)


@dataclass(frozen=True, slots=True)
class StoreListRequest:
    """A list of one collection, or of one object if `name` is given.

    `revision` 0: the current one. `start_key` is relative to the collection, as in a continue token. etcd
    must have reached `minimum_rv`. `limit` 0: no limit. `stream`: as a RangeStream, if etcd has it.
    `counted`: a page has the number of remaining objects, although a shard filters them (1.36).
    """

    namespace: str | None = None
    name: str | None = None
    selection: SelectionPredicate = EVERYTHING
    limit: int = 0
    revision: int = 0
    start_key: str = ""
    minimum_rv: int = 0
    page_rule: PageRule = "doubling"
    stream: bool = False
    counted: bool = False


@dataclass(frozen=True, slots=True)
class StoreList:
    """A page of objects."""

    objects: Sequence[StoredObject]
    rv: int
    next_start: str = ""  # of the next page, relative to the collection; "" at the end
    remaining: int | None = None  # objects after this page; None if selectors make it unknown


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a whole collection at `rv`; `count` is the number of objects in the collection."""

    objects: Sequence[StoredObject]
    rv: int
    count: int


_BATCH = 128  # objects scanned before the selectors are evaluated


class Lister:
    """One list in progress. Use once."""

    def __init__(
        self, client: EtcdClient, keys: ResourceKeys, reader: Reader, request: StoreListRequest
    ) -> None:
        self._client = client
        self._keys = keys
        self._reader = reader
        self._request = request
        self._revision = request.revision
        self._meter = current_meter()
        self._found: list[StoredObject] = []
        self._last_key = b""  # the last evaluated key
        self._stopped = False  # stopped within a page, because the limit is reached

    async def run(self) -> StoreList:
        """Read until `limit` objects match or the collection ends."""
        request = self._request
        if request.name:  # the list, or its metadata.name selector, has only this key
            self._meter.etcd_gets += 1
            await self._take_in(await self._range(self._keys.of(request.namespace, request.name), b"", 1))
            return self._result()
        if request.limit > 0:
            streams = request.stream and self._client.range_streams.supported is not False
            page = await self._streamed_page() if streams else None
            return page or await self._limited()
        return await self._whole()

    async def _streamed_page(self) -> StoreList | None:
        """Read a page without selectors as one stream; None if etcd has no RangeStream."""
        request = self._request
        start, end = self._bounds()
        results = self._client.range_stream(
            start, end, limit=request.limit, revision=self._revision, purpose="list"
        )
        last = None
        try:
            async with aclosing(results) as chunks:
                async for last in chunks:
                    await self._take_in(last)
        except UnimplementedError:
            return None
        self._meter.etcd_lists += 1
        self._meter.streamed = True
        if last is None or not last.more:
            return self._result()
        return self._result(self._relative(self._last_key) + "\0", last.count - len(self._found))

    async def _limited(self) -> StoreList:
        """Read pages that grow after each incomplete one; `remaining` is known only without selectors."""
        request, limit = self._request, self._request.limit
        start, end = self._bounds()
        while True:
            self._meter.etcd_lists += 1
            answer = await self._range(start, end, limit)
            await self._take_in(answer)
            more = answer.more or self._stopped
            if not more or len(self._found) >= request.limit:
                break
            start = self._last_key + b"\0"
            limit = next_page(limit, request.page_rule)
        if not more:
            return self._result()
        unknown = request.selection.selective and not request.counted
        remaining = None if unknown else answer.count - request.limit
        return self._result(self._relative(self._last_key) + "\0", remaining)

    async def _whole(self) -> StoreList:
        """Read the whole collection in chunks, counted as one list."""
        self._meter.etcd_lists += 1
        start, end = self._bounds()
        stream = self._request.stream
        reading = read_range(self._client, start, end, revision=self._revision, purpose="list", stream=stream)
        async with aclosing(reading) as answers:
            async for answer in answers:
                await self._take_in(answer)
        self._meter.streamed = stream and self._client.range_streams.known is True
        return self._result()

    async def _range(self, start: bytes, end: bytes, limit: int) -> RangeResult:
        """Read one page; further pages are read at the first one's revision."""
        return await self._client.range(start, end, limit=limit, revision=self._revision, purpose="list")

    async def _take_in(self, answer: RangeResult) -> None:
        """Evaluate the selectors for a response; only matching objects are kept."""
        self._meter.fetched += len(answer.kvs)
        # A chunk of a stream has no revision, the last one has that of all.
        if 0 < answer.revision < self._request.minimum_rv:
            raise status.too_large_rv(self._request.minimum_rv, answer.revision, retry_after=0)
        self._revision = self._revision or answer.revision
        before = len(self._found)
        await self._evaluate(answer.kvs)
        self._meter.hold(bytes_of(self._found[before:]) - answer.bytes)

    async def _evaluate(self, kvs: Sequence[KV]) -> None:
        """Evaluate the selectors for a page, up to the limit."""
        slices, selection, limit = Slices(), self._request.selection, self._request.limit
        for low in range(0, len(kvs), _BATCH):
            batch, started = kvs[low : low + _BATCH], time.perf_counter()
            objects = await self._reader.read(batch, scan=selection.selective)
            if selection.selective:
                self._meter.add_phase("decode", (time.perf_counter() - started) * 1000.0)
            taken = self._take(objects, selection, limit)
            if taken:
                self._last_key = batch[taken - 1].key
            if taken < len(batch):
                self._stopped = True
                return
            await slices.yield_if_due()

    def _take(self, objects: list[StoredObject], selection: SelectionPredicate, limit: int) -> int:
        """Keep matching objects; return how many were evaluated before the limit was reached."""
        started = time.perf_counter()
        found, selective = self._found, selection.selective
        taken = 0
        for obj in objects:
            if limit and len(found) >= limit:
                break
            taken += 1
            if not selective or obj.matches(selection):
                found.append(obj)
        self._meter.evaluated += taken
        if selective:
            self._meter.add_phase("filter", (time.perf_counter() - started) * 1000.0)
        return taken

    def _bounds(self) -> tuple[bytes, bytes]:
        prefix = self._keys.collection(self._request.namespace)
        return f"{prefix}{self._request.start_key}".encode(), range_end(prefix.encode())

    def _relative(self, key: bytes) -> str:
        prefix = self._keys.collection(self._request.namespace)
        return key.decode("utf-8", "backslashreplace")[len(prefix) :]

    def _result(self, next_start: str = "", remaining: int | None = None) -> StoreList:
        self._meter.matched += len(self._found)
        self._meter.returned += len(self._found)
        return StoreList(self._found, self._revision, next_start, remaining)
