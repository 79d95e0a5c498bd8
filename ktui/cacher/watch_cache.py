"""The memory of one resource: objects, indexes, event buffer, snapshots, and the resourceVersion reached."""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count

from ktui.cacher.event_buffer import EventBuffer
from ktui.cacher.sorted_store import Snapshots, SortedStore
from ktui.cacher.watch_events import DELETED, CacheEvent
from ktui.storage.kept_json import KeptJson
from ktui.storage.objects import StoredObject
from ktui.telemetry.off_loop import sliced

Postings = dict[str, dict[str, "StoredObject"]]  # value → objects by key

# Selectors use few attributes; each further one evicts the oldest.
MAX_ATTRIBUTES = 24


class _Build:
    """An index being built. `settled` are keys that changed meanwhile: their entries are already current."""

    def __init__(self) -> None:
        self.postings: Postings = {}
        self.settled: set[str] = set()
        self.done = asyncio.Event()


class AttributeIndex:
    """value → objects, for each label or field that some selector has used.

    An attribute is indexed when it is first used and kept current from then on, so labels that no selector
    uses cost neither memory nor time. The cost of a selective LIST then depends on the size of its result,
    not of the collection.
    """

    def __init__(
        self, attributes_of: Callable[[StoredObject], Mapping[str, str]], missing: str | None = None
    ) -> None:
        """`missing` is the value of an attribute that an object lacks; None: such objects are not indexed."""
        self._attributes_of = attributes_of
        self._missing = missing
        self._postings: dict[str, Postings] = {}
        self._builds: dict[str, _Build] = {}

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self._postings)

    def clear(self) -> None:
        self._postings.clear()
        self._builds.clear()

    async def prepare(self, attribute: str, everything: Callable[[], Sequence[StoredObject]]) -> None:
        """Index `attribute` unless it is indexed already; in slices, as 100,000 objects take long."""
        if attribute in self._postings:
            return
        if attribute in self._builds:
            await self._builds[attribute].done.wait()
            return
        build = self._builds[attribute] = _Build()
        try:
            async for part in sliced(everything()):
                self._add(build.postings, (obj for obj in part if obj.key not in build.settled), attribute)
            # Cleared meanwhile: these objects are no longer in the cache.
            if self._builds.get(attribute) is build:
                self._install(attribute, build.postings)
        finally:
            build.done.set()
            if self._builds.get(attribute) is build:
                del self._builds[attribute]

    def lookup(
        self, attribute: str, value: str, everything: Callable[[], Sequence[StoredObject]]
    ) -> Mapping[str, StoredObject]:
        """Return the objects whose `attribute` is `value`; index it now if `prepare` was not called."""
        postings = self._postings.get(attribute)
        if postings is None:
            postings = {}
            self._add(postings, everything(), attribute)
            self._install(attribute, postings)
        return postings.get(value, {})

    def change(self, previous: StoredObject | None, current: StoredObject | None) -> None:
        """Apply one change of the store: `current` replaced `previous` (None: absent)."""
        for attribute, postings in self._postings.items():
            self._replace(postings, attribute, previous, current)
        for attribute, build in self._builds.items():
            self._replace(build.postings, attribute, previous, current)
            build.settled.update(obj.key for obj in (previous, current) if obj is not None)

    def _replace(
        self, postings: Postings, attribute: str, previous: StoredObject | None, current: StoredObject | None
    ) -> None:
        before = None if previous is None else self._value(previous, attribute)
        after = None if current is None else self._value(current, attribute)
        if previous is not None and before is not None and before != after:
            posting = postings.get(before, {})
            posting.pop(previous.key, None)
            if not posting:
                postings.pop(before, None)
        if current is not None and after is not None:
            postings.setdefault(after, {})[current.key] = current

    def _value(self, obj: StoredObject, attribute: str) -> str | None:
        return self._attributes_of(obj).get(attribute, self._missing)

    def _add(self, postings: Postings, objects: Iterable[StoredObject], attribute: str) -> None:
        attributes_of, missing = self._attributes_of, self._missing
        for obj in objects:
            value = attributes_of(obj).get(attribute, missing)
            if value is None:
                continue
            posting = postings.get(value)
            if posting is None:
                posting = postings[value] = {}
            posting[obj.key] = obj

    def _install(self, attribute: str, postings: Postings) -> None:
        while len(self._postings) >= MAX_ATTRIBUTES:
            del self._postings[next(iter(self._postings))]
        self._postings[attribute] = postings


# kube-apiserver's blockTimeout.
BLOCK_TIMEOUT = 3.0


class RevisionWaiter:
    """The newest resourceVersion that a cache has seen, and the readers that wait for a newer one."""

    def __init__(self) -> None:
        self.rv = 0
        self._order = count()
        self._waiters: list[tuple[int, int, asyncio.Future[None]]] = []

    @property
    def waiting(self) -> int:
        return sum(not future.done() for _, _, future in self._waiters)

    def wanted(self, rv: int) -> bool:
        """Return True if a reader waits for `rv` or less."""
        return bool(self._waiters) and self._waiters[0][0] <= rv

    def reset(self, rv: int) -> None:
        """Record that the store was filled again at `rv`, which may be older after a restore of etcd."""
        self.rv = rv
        self._wake()

    def advance(self, rv: int) -> None:
        """Record that an event or a progress notification at `rv` arrived."""
        if rv > self.rv:
            self.rv = rv
            self._wake()

    async def wait(self, rv: int, within: float = BLOCK_TIMEOUT) -> bool:
        """Return True as soon as `rv` is reached, False after `within` seconds."""
        if rv <= self.rv:
            return True
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiters, (rv, next(self._order), future))
        try:
            async with asyncio.timeout(within):
                await future
        except TimeoutError:
            self._waiters = [waiter for waiter in self._waiters if not waiter[2].done()]
            heapq.heapify(self._waiters)
            return False
        finally:
            future.cancel()
        return True

    def _wake(self) -> None:
        while self._waiters and self._waiters[0][0] <= self.rv:
            _, _, future = heapq.heappop(self._waiters)
            if not future.done():
                future.set_result(None)


class WatchCache:
    """Upstream's watchCache, filled by the reflector. A watcher of an older `generation` missed events."""

    def __init__(self, kept: KeptJson | None = None) -> None:
        """`kept` is the budget for the JSON of objects, shared with other caches."""
        self.store = SortedStore(kept)
        self.labels = AttributeIndex(lambda obj: obj.labels)
        self.fields = AttributeIndex(lambda obj: obj.fields, missing="")
        self.event_buffer = EventBuffer()
        self.snapshots = Snapshots(self.store, self.event_buffer)
        self.waiter = RevisionWaiter()
        self.generation = 0
        self.events_received = 0

    @property
    def rv(self) -> int:
        return self.waiter.rv

    def replace(self, objects: Sequence[StoredObject], rv: int) -> None:
        """Replace the content with `objects` (sorted by key) at `rv`."""
        self.store.replace(objects)
        self.labels.clear()
        self.fields.clear()
        self.event_buffer.reset(rv)
        self.snapshots.reset(rv)
        self.generation += 1
        self.waiter.reset(rv)

    def apply(self, event_type: str, obj: StoredObject, rv: int) -> CacheEvent:
        """Apply one event of etcd's watch; return it as watchers see it."""
        current = None if event_type == DELETED else obj
        previous = self.store.remove(obj.key) if current is None else self.store.put(obj)
        self.labels.change(previous, current)
        self.fields.change(previous, current)
        event = CacheEvent(event_type, obj, previous, rv, time.monotonic())
        self.event_buffer.append(event)
        self.snapshots.follow()
        self.events_received += 1
        self.waiter.advance(rv)
        return event

    def progress(self, rv: int) -> None:
        """Record a progress notification: there are no further events up to `rv`."""
        self.waiter.advance(rv)

    def compacted(self, rv: int) -> None:
        """Record that etcd was compacted at `rv`: older revisions are no longer served from here either."""
        self.snapshots.drop_below(rv)
