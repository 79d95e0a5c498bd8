"""The base of the server's controllers: followed objects fill a queue of keys, and workers reconcile them.

As in client-go, a key is in the queue once and with one worker at a time; one whose reconciliation fails
comes back after a second, doubling.
"""

from __future__ import annotations

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import ClassVar

from ktui.cacher.cacher_requests import ListRequest
from ktui.cacher.cachers import Registry
from ktui.cacher.watch_events import OutEvent
from ktui.kube.json_trees import Obj
from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.storage.lister import StoreListRequest
from ktui.storage.objects import EVERYTHING, StoredObject
from ktui.storage.store import Store
from ktui.supervision import stop
from ktui.telemetry.off_loop import Slices

log = logging.getLogger(__name__)

Key = tuple[str, ...]
"""Names that say what to reconcile, such as resource, namespace and name."""
LISTED, DELETED = "LISTED", "DELETED"
PAGE = 500
FIRST_BACKOFF, MOST_BACKOFF = 1.0, 60.0  # seconds until a key whose reconciliation failed comes back


class ServerController(ABC):
    """Follows objects through their watch caches from `start` to `stop`, and writes what they require.

    NAME completes the sentence "… failed"; WORKERS is how many keys are reconciled at a time.
    """

    NAME: ClassVar[str]
    WORKERS: ClassVar[int] = 1

    def __init__(self, registry: Registry, *resources: Resource) -> None:
        self.registry = registry
        self.resources = {resource.id: resource for resource in resources}
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._queue: dict[Key, None] = {}
        self._queued = asyncio.Event()
        self._busy: set[Key] = set()
        self._later: dict[Key, asyncio.TimerHandle] = {}
        self._failures: Counter[Key] = Counter()

    @abstractmethod
    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        """Queue the keys that an object concerns.

        `type_`: ADDED, MODIFIED or DELETED, with its last state; LISTED when following begins.
        """

    @abstractmethod
    async def reconcile(self, key: Key) -> float:
        """Write what the key requires; return the seconds until it is reconciled again, 0 if it is done.

        After a StatusError the key comes back.
        """

    def start(self) -> None:
        for resource in self.resources.values():
            self.follow(resource)
        begin = self.registry.supervisor.start
        self._workers = [begin(self.NAME, self._work) for _ in range(self.WORKERS)]

    async def stop(self) -> None:
        await stop(*self._followed.values(), *self._workers)
        for timer in self._later.values():
            timer.cancel()

    def follow(self, resource: Resource) -> None:
        name = f"the watch of {resource.id} by {self.NAME}"
        self._followed[resource.id] = self.registry.follow(
            name, resource, lambda objects, _: self.listed(resource, objects), partial(self._batch, resource)
        )

    def unfollow(self, resource_id: str) -> None:
        self._followed.pop(resource_id).cancel()

    def add(self, key: Key) -> None:
        if timer := self._later.pop(key, None):
            timer.cancel()
        self._queue[key] = None
        self._queued.set()

    def add_after(self, seconds: float, key: Key) -> None:
        if key not in self._queue and key not in self._later:
            self._later[key] = asyncio.get_running_loop().call_later(seconds, self.add, key)

    @property
    def idle(self) -> bool:
        """True if no key is queued, reconciled, or waiting to come back."""
        return not (self._queue or self._busy or self._later)

    def store(self, resource: Resource) -> Store:
        return self.registry.for_resource(resource).store

    async def current(self, resource: Resource, namespace: str, name: str) -> Obj | None:
        """Return the object in etcd, None if there is none."""
        found, _ = await self.store(resource).get(namespace or None, name)
        return json.loads(found.full_json()) if found is not None else None

    async def listed(self, resource: Resource, objects: Sequence[StoredObject]) -> None:
        """Take all objects of a resource: when following begins, and again after an error."""
        slices = Slices()
        for obj in objects:
            self.changed(resource, LISTED, obj)
            await slices.yield_if_due()

    async def objects(
        self, resource: Resource, namespace: str, holding: str = "", version: str = ""
    ) -> AsyncIterator[tuple[StoredObject, Obj]]:
        """Yield a namespace's objects whose stored bytes hold a text, with their trees.

        `version` is the LIST's resourceVersion.
        """
        cacher = self.registry.for_resource(resource)
        await cacher.ready()
        slices, text = Slices(), holding.encode()
        request = ListRequest(namespace, None, ListOptions(resource_version=version), EVERYTHING)
        for stored in (await cacher.list(request)).objects:
            if text in stored.raw:  # few of 100,000 objects have to be decoded
                yield stored, json.loads(stored.full_json())
            await slices.yield_if_due()

    async def _batch(self, resource: Resource, batch: Sequence[OutEvent], _: int) -> None:
        slices = Slices()
        for event in batch:
            if event.object is not None:
                self.changed(resource, event.type, event.object)
            await slices.yield_if_due()

    async def _work(self) -> None:
        while True:
            while (key := next((key for key in self._queue if key not in self._busy), None)) is None:
                self._queued.clear()
                await self._queued.wait()
            del self._queue[key]
            self._busy.add(key)
            try:
                if seconds := await self.reconcile(key):
                    self.add_after(seconds, key)
                self._failures.pop(key, None)
            except Exception as error:
                self.add_after(min(MOST_BACKOFF, FIRST_BACKOFF * 2 ** min(self._failures[key], 10)), key)
                self._failures[key] += 1
                if not isinstance(error, StatusError):
                    raise  # a bug, which the supervisor reports
                log.warning("%s: %s: %s", self.NAME, "/".join(filter(None, key)), error.message)
            finally:
                self._busy.discard(key)


async def pages(store: Store, namespace: str | None = None) -> AsyncIterator[Sequence[StoredObject]]:
    """Yield the objects of a resource, or of a namespace, page by page."""
    start = ""
    while True:
        page = await store.list(StoreListRequest(namespace, limit=PAGE, start_key=start))
        yield page.objects
        if not (start := page.next_start):
            return
