"""The cachers of all resources, created on first use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial

from ktui.cacher.cacher import Cacher
from ktui.cacher.cacher_requests import ListRequest, WatchRequest
from ktui.cacher.progress import ProgressRequester
from ktui.cacher.resource_cache import ResourceCache
from ktui.cacher.settings import Settings
from ktui.cacher.watch_events import OutEvent
from ktui.contract.events import CacheStatus
from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import Resource
from ktui.kube.routing.request import is_cached
from ktui.kube.selectors import FieldSelector, LabelSelector
from ktui.kube.status import StatusError
from ktui.storage.kept_json import KeptJson
from ktui.storage.objects import SelectionPredicate, StoredObject
from ktui.storage.store import Store
from ktui.supervision import Supervisor, stop
from ktui.telemetry.bus import Bus

LOOK_SECONDS = 1.0  # between two looks at each cache


class Registry:
    """All cachers. `warmups` limits how many caches are filled at the same time: 1 for an etcd that ktui does
    not own.

    `supervisor` keeps the caches' tasks running, and those of their servers.
    """

    def __init__(
        self,
        make_store: Callable[[Resource], Store],
        settings: Settings,
        bus: Bus,
        *,
        warmups: int = 1,
        supervisor: Supervisor | None = None,
    ) -> None:
        self.settings = settings
        self.supervisor = supervisor or Supervisor()
        self._make_store = make_store
        self._bus = bus
        self._requester = ProgressRequester(self.supervisor)
        self._looking: asyncio.Task[None] | None = None
        self._kept = KeptJson()
        self._gate = asyncio.Semaphore(warmups)
        self._cachers: dict[str, Cacher] = {}
        bus.add_snapshot(self.states)

    def __iter__(self) -> Iterator[Cacher]:
        return iter(list(self._cachers.values()))

    def follow(
        self, name: str, resource: Resource, replaced: Replaced, changed: Changed
    ) -> asyncio.Task[None]:
        """Start the task `name`, which follows `resource` until cancelled.

        It calls `replaced` with all objects and their revision, then `changed` with each batch of events and
        its revision. After an error all objects are read again.
        """
        return self.supervisor.start(name, partial(_follow, self, resource, replaced, changed))

    def for_resource(self, resource: Resource) -> Cacher:
        """Return the cacher of `resource`, shared by all its served versions. Does not read etcd yet."""
        cacher = self._cachers.get(resource.id)
        if cacher is None:
            cacher = self._cachers[resource.id] = self._make(resource)
            self._bus.publish(cacher.state())
        return cacher

    def uncached_store(self, resource: Resource) -> Store:
        """Return a store for keys that do not belong to an API resource: without cache and telemetry."""
        return self._make_store(resource)

    def warm(self, resources: Iterable[Resource]) -> None:
        """Start filling the caches of those `resources` that etcd stores."""
        for resource in resources:
            if resource.stored:
                self.for_resource(resource).warm()

    async def filled(self, within: float) -> bool:
        """Wait until every cache that has been started is filled; return False after `within` seconds."""
        started = [cacher for cacher in self if cacher.cache is not None and not cacher.cache.cold]
        return all(await asyncio.gather(*(cacher.ready(within) for cacher in started)))

    async def forget(self, *resource_ids: str) -> None:
        """Remove and close the cachers of resources that are no longer served."""
        dropped = [self._cachers.pop(resource_id, None) for resource_id in resource_ids]
        await asyncio.gather(*(cacher.close() for cacher in dropped if cacher is not None))

    def compacted(self, rv: int) -> None:
        """Record that etcd was compacted at `rv`: no cache serves older revisions."""
        for cacher in self:
            if cacher.cache is not None:
                cacher.cache.memory.compacted(rv)
                cacher.cache.changed()

    def stale(self) -> dict[str, float]:
        """Return the caches that serve reads but no longer follow etcd, and for how many seconds."""
        cached = ((cacher.resource.id, cacher.cache) for cacher in self if cacher.cache is not None)
        return {resource: silent for resource, cache in cached if (silent := cache.stale_seconds)}

    def states(self) -> list[CacheStatus]:
        """Return the state of every cache, as telemetry publishes it."""
        return [cacher.state() for cacher in self]

    async def close(self) -> None:
        """Stop reading etcd and end all streams."""
        await asyncio.gather(*(cacher.close() for cacher in self))
        await self._requester.close()
        await stop(self._looking)

    def _make(self, resource: Resource) -> Cacher:
        store = self._make_store(resource)
        cache = None
        if is_cached(resource.group, resource.resource):
            shared = self._requester, self._gate, self._kept
            cache = ResourceCache(
                store, self.settings, self._bus, self.supervisor, *shared, self._begin_to_look
            )
        return Cacher(store, self.settings, cache, self.supervisor)

    def _begin_to_look(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = self.supervisor.start("the check for stale caches", self._look)

    async def _look(self) -> None:
        """One timer for all caches."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            for cacher in self:
                if cacher.cache is not None and not cacher.cache.cold:
                    cacher.cache.look()


log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0

Replaced = Callable[[Sequence["StoredObject"], int], Awaitable[None]]
Changed = Callable[[Sequence["OutEvent"], int], Awaitable[None]]


async def _follow(registry: Registry, resource: Resource, replaced: Replaced, changed: Changed) -> None:
    everything = SelectionPredicate(LabelSelector.parse(""), FieldSelector.parse("", resource), None, None)
    while True:
        try:
            cacher = registry.for_resource(resource)
            await cacher.ready()
            answer = await cacher.list(ListRequest(None, None, ListOptions(resource_version="0"), everything))
            await replaced(answer.objects, answer.rv)
            options = ListOptions(resource_version=str(answer.rv), watch=True)
            stream = (await cacher.watch(WatchRequest(None, None, options, everything))).stream
            try:
                async for batch in stream.batches():
                    if any(event.type == "ERROR" for event in batch):
                        break
                    await changed(batch, batch[-1].rv)
            finally:
                stream.close("the server itself")
        except StatusError as error:
            log.warning("%s cannot be followed: %s", resource.id, error.message)
        await asyncio.sleep(RETRY_SECONDS)
