"""A watch cache with its reflector, dispatcher and watchers."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

from ktui.cacher.bookmarks import BookmarkClock
from ktui.cacher.cache_watch import CacheWatch, Feed
from ktui.cacher.consistency_check import ConsistencyChecker, name_of
from ktui.cacher.dispatcher import Dispatcher
from ktui.cacher.errors import NotFresh
from ktui.cacher.progress import ProgressRequester
from ktui.cacher.publishing import Sampler
from ktui.cacher.reflector import Reflector
from ktui.cacher.settings import Settings
from ktui.cacher.sorted_store import SortedStore
from ktui.cacher.watch_cache import WatchCache
from ktui.contract import events as telemetry
from ktui.etcd.errors import EtcdError
from ktui.kube import status
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.plan import Plan
from ktui.storage.kept_json import KeptJson
from ktui.storage.store import Store
from ktui.supervision import Supervisor, stop
from ktui.telemetry.bus import Bus, StatePublisher
from ktui.telemetry.meter import current_meter

# Smaller caches are not prewarmed: prewarming all kinds would take a second at start.
LARGE = 1000


async def prewarm(filled: asyncio.Event, store: SortedStore) -> None:
    """Wait until the cache is filled, then transcode one object of a large one off the event loop.

    The functions for a kind are generated with its first object: 100 ms for pods, which in the first request
    would delay all others.
    """
    await filled.wait()
    if len(store) < LARGE:
        return
    (first,) = store.page(0, 1)
    with contextlib.suppress(EtcdError):  # the request for that object gets the error
        await asyncio.to_thread(first.item_pieces)


TRIGGER = "spec.nodeName"
# The longest wait for a ready cache (seconds): kube-apiserver's request timeout, a little shorter so that the
# error comes from the cache.
READY_TIMEOUT = 59.5
# Events of the buffer to shrink at a time, about two milliseconds.
_SHRUNK_AT_ONCE = 64


def disabled_state(store: Store, settings: Settings) -> CacheState:
    """Return the state that plans depend on where there is no watch cache."""
    return CacheState(Readiness.DISABLED, progress=settings.progress, range_stream=store.range_stream)


class ResourceCache:
    """The watch cache of one resource. It starts cold: nothing is read from etcd until `warm` is called."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        bus: Bus,
        supervisor: Supervisor,
        requester: ProgressRequester,
        gate: asyncio.Semaphore,
        kept: KeptJson,
        started: Callable[[], None],
    ) -> None:
        """`started` is called when filling begins: from then on, `look` must be called once a second."""
        self._id = store.resource.id
        self._store = store
        self._settings = settings
        self._bus = bus
        self._supervisor = supervisor
        self._requester = requester
        self._started = started
        self._stale_since = 0.0
        trigger = TRIGGER if TRIGGER in store.resource.field_selectors else ""
        self.memory = WatchCache(kept)
        self._sampler = Sampler(bus, self._id)
        self.dispatcher = Dispatcher(trigger, sampler=self._sampler)
        self.clock = BookmarkClock(supervisor, lambda: self.dispatcher.rv)
        self.feed = Feed(self.memory, self.dispatcher, self.clock)
        self.streams: set[CacheWatch] = set()
        self.shard_filtered = 0  # by streams that have ended
        self._publisher = StatePublisher(bus, lambda: bus.publish(self.state()))
        self.changed = self._publisher.changed  # publishes the state, because a part of it has changed

        def progressed(rv: int) -> None:
            bus.publish(telemetry.ProgressTick(resource=self._id, rv=rv))

        self._reflector = Reflector(
            store, self.memory, self.dispatcher, settings, gate, self.changed, progressed
        )
        self.checker = ConsistencyChecker(store, self.memory, settings, self._reflector.ready, self.changed)
        self._tasks: list[asyncio.Task[None]] = []
        self._probing = 0
        self._shrinking = False
        self._told_json_bytes = 0

    @property
    def cold(self) -> bool:
        """True if this resource was never requested."""
        return not self._tasks

    def warm(self) -> None:
        """Start filling the cache, unless already started."""
        if self.cold:
            self._started()
            prewarming = partial(prewarm, self._reflector.ready, self.memory.store)
            self._tasks = [
                self._supervisor.start(f"the watch cache of {self._id}", self._follow),
                self._supervisor.start(f"the consistency check of {self._id}", self.checker.run),
                self._supervisor.start(f"the prewarming of {self._id}", prewarming),
            ]

    async def ready(self, within: float = READY_TIMEOUT) -> bool:
        """Wait until the cache is filled, starting that if needed; return False after `within` seconds."""
        self.warm()
        try:
            async with asyncio.timeout(within):
                await self._reflector.ready.wait()
        except TimeoutError:
            return False
        return True

    async def reach(self, plan: Plan) -> int:
        """Probe and wait as `plan` says; return the probed revision or the plan's minimum.

        Raises NotFresh if the cache does not reach it in time, StatusError if it is not ready or etcd is
        unreachable.
        """
        if plan.wait.ready:  # as kube-apiserver up to 1.30
            with current_meter().phase("wait"):
                ready = await self.ready()
            if not ready:  # up to 1.23 only the request's own timeout ended the wait
                late = status.service_unavailable("context deadline exceeded")
                raise status.timeout() if self._settings.behaviour.minor <= 23 else late
        if not plan.probe:
            await self.fresh(plan.minimum)
            return plan.minimum
        probed = await self.probe()
        if plan.wait.fresh:
            await self.fresh(probed)
        return probed

    async def probe(self) -> int:
        """Return etcd's current revision, without a timeout of its own. Raises StatusError."""
        self._probing += 1
        self.changed()
        try:
            return await self._store.probe()
        finally:
            self._probing -= 1
            self.changed()

    async def fresh(self, rv: int) -> None:
        """Wait up to 3 s until the cache has seen `rv`. Raises NotFresh."""
        waiter = self.memory.waiter
        if rv <= waiter.rv:
            return
        # Progress requests for waiting readers exist since 1.28, with its feature gate.
        asks = self._settings.progress and self._settings.behaviour.enabled("ConsistentListFromCache")
        asking = self._requester.asking(self._reflector.request_progress) if asks else nullcontext()
        self.changed()
        with current_meter().phase("wait"), asking:
            reached = await waiter.wait(rv)
        self.changed()
        if not reached:
            raise NotFresh(rv, waiter.rv)

    @contextmanager
    def sending(self, rv: int) -> Iterator[None]:
        """While the block runs, a LIST at `rv` is being sent: its objects stay encoded."""
        self.memory.event_buffer.reader(rv)
        try:
            yield
        finally:
            self.memory.event_buffer.reader_gone(rv)
            self._shrink()

    def _shrink(self) -> None:
        if not self._shrinking:
            self._shrink_some()

    def _shrink_some(self) -> None:
        self._shrinking = self.memory.event_buffer.shrink(_SHRUNK_AT_ONCE, time.monotonic())
        if self._shrinking:
            asyncio.get_running_loop().call_soon(self._shrink_some)

    @property
    def readiness(self) -> Readiness:
        """DISABLED without `--watch-cache`; of a cold cache INITIALIZING."""
        return self._reflector.readiness if self._settings.watch_cache else Readiness.DISABLED

    def routing_state(self) -> CacheState:
        """Return the state that plans depend on."""
        if not self._settings.watch_cache:
            return disabled_state(self._store, self._settings)
        return CacheState(
            readiness=self._reflector.readiness,
            cache_rv=self.memory.rv,
            progress=self._settings.progress,
            range_stream=self._store.range_stream,
            oldest_snapshot_rv=self.memory.snapshots.oldest,
            oldest_watch_rv=self.memory.event_buffer.oldest_watch_rv,
            downtime_seconds=self._reflector.downtime,
            last_error=self._reflector.error,
        )

    def size(self) -> tuple[int | None, int]:
        """Return the number of objects and their average size; None before the cache was filled."""
        readiness = self._reflector.readiness
        if self.cold or readiness not in (Readiness.READY, Readiness.REINITIALIZING):
            return None, 0
        store = self.memory.store
        objects = len(store)
        return objects, store.bytes // objects if objects else 0

    def state(self) -> telemetry.CacheStatus:
        memory, reflector = self.memory, self._reflector
        name = "cold" if self.cold else reflector.readiness.value
        return telemetry.CacheStatus(
            resource=self._id,
            state=name if self._settings.watch_cache else Readiness.DISABLED.value,
            rv=memory.rv,
            objects=len(memory.store),
            bytes=memory.store.bytes,
            json_bytes=memory.store.share.bytes,
            json_evicted=memory.store.share.evicted,
            oldest_rv=memory.event_buffer.oldest_watch_rv,
            capacity=memory.event_buffer.capacity,
            buffered=len(memory.event_buffer),
            events=memory.events_received,
            watchers=sum(not stream.cause for stream in self.streams),
            waiting=memory.waiter.waiting + self._probing,
            snapshots=len(memory.snapshots),
            loaded=reflector.loaded,
            loaded_bytes=reflector.loaded_bytes,
            expected=reflector.expected,
            error=reflector.error,
            progress_requests=reflector.progress_requests,
            stale_since=self._stale_since,
            **self.checker.figures,
        )

    def lose(self) -> str:
        """Drop the first object from memory, as if its event had never arrived; return its name, "" if none.

        For seeing that the next consistency check finds it; the object's next change repairs the cache.
        """
        store = self.memory.store
        if not len(store):
            return ""
        (first,) = store.page(0, 1)
        store.remove(first.key)
        self.changed()
        return name_of(first)

    @property
    def stale_seconds(self) -> float:
        """Seconds for which reads may have missed changes in etcd; 0 if the cache follows etcd."""
        return self._reflector.stale_seconds if self._settings.watch_cache else 0.0

    async def close(self) -> None:
        """Stop reading etcd and end all streams."""
        await stop(*self._tasks)
        for stream in list(self.streams):
            stream.close("server stops")
        await self.clock.close()
        self.memory.store.close()
        self._publisher.close()
        self._sampler.close()

    def look(self) -> None:
        """Shrink what no reader holds any longer; publish what has changed by itself."""
        if self.memory.event_buffer.held:
            self._shrink()
        if self.memory.store.share.bytes != self._told_json_bytes:
            self._told_json_bytes = self.memory.store.share.bytes
            self.changed()
        stale = self.stale_seconds
        if bool(stale) != bool(self._stale_since):
            self._stale_since = time.time() - stale if stale else 0.0
            self.changed()

    async def _follow(self) -> None:
        """Follow etcd and dispatch its events; if either task fails, both are restarted with a list."""
        async with asyncio.TaskGroup() as halves:
            halves.create_task(self._reflector.run(), name=f"reflector {self._id}")
            halves.create_task(self.dispatcher.run(), name=f"dispatcher {self._id}")
