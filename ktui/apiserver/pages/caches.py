"""`/ktui/v1/caches/…`: the content of a watch cache, for the Cache screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ktui.apiserver.catalog import CRD_GROUP, CRD_RESOURCE, Catalog
from ktui.apiserver.http.request import Request
from ktui.apiserver.http.response import Response
from ktui.apiserver.pages.responses import number, send_json
from ktui.cacher.cacher import Cacher
from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.cacher.watch_events import CacheEvent
from ktui.contract.cache_documents import CachedEvent, CachedObject, EventPage, ObjectPage
from ktui.etcd.errors import EtcdError
from ktui.kube.status import StatusError, bad_request, server_timeout
from ktui.storage.objects import StoredObject

MAX_ROWS = 5000
SORTS: Mapping[str, Callable[[StoredObject], Any]] = {
    "namespace": lambda obj: (obj.namespace, obj.name),
    "name": lambda obj: (obj.name, obj.namespace),
    "rv": lambda obj: obj.rv,
    "bytes": lambda obj: obj.size,
}


class CachePages:
    def __init__(self, registry: Registry, catalog: Catalog, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings
        self._catalog = catalog

    async def objects(self, request: Request, response: Response) -> None:
        """Send objects with `filter` in namespace/name, by key or `sort` (`-bytes`: the largest first)."""
        offset, limit = number(request, "offset", 0), min(number(request, "limit", 200), MAX_ROWS)
        text, sort = request.parameter("filter").lower(), request.parameter("sort")
        by = SORTS.get(sort.removeprefix("-"))
        if sort and by is None:
            raise bad_request(f"sort is one of {', '.join(SORTS)}, with - before it for the other direction")
        cacher = self._cacher(request)
        if cacher.cache is None:
            await send_json(response, ObjectPage("0", 0, []))
            return
        memory = cacher.cache.memory
        if text or by is not None:
            # In a thread, because 100,000 objects take tens of milliseconds.
            found = await asyncio.to_thread(_found, memory.store.all(), text, by, sort.startswith("-"))
            total, window = len(found), found[offset : offset + limit]
        else:
            total, window = len(memory.store), memory.store.page(offset, limit)
        rows = [CachedObject(obj.namespace, obj.name, str(obj.rv), obj.size) for obj in window]
        await send_json(response, ObjectPage(str(memory.rv), total, rows))

    async def events(self, request: Request, response: Response) -> None:
        """Send the event buffer's newest events, newest first; with `revision` those of that revision."""
        limit, revision = min(number(request, "limit", 200), MAX_ROWS), number(request, "revision", 0)
        cacher = self._cacher(request)
        if cacher.cache is None:
            found: Sequence[CacheEvent] = ()
        elif revision:
            bearing = cacher.cache.memory.event_buffer.since(revision - 1, 1)
            found = [event for event in bearing if event.rv == revision][:limit]
        else:
            found = cacher.cache.memory.event_buffer.newest(limit)
        rows = [
            CachedEvent(str(event.rv), event.type, event.object.namespace, event.object.name)
            for event in found
        ]
        await send_json(response, EventPage(rows))

    async def warm(self, request: Request, response: Response) -> None:
        self._cacher(request).warm()
        await send_json(response, {"warming": self._resource_id(request)}, 202)

    async def cancel(self, request: Request, response: Response) -> None:
        """Stop filling the cache, which is then cold again. 409 if it is not being filled."""
        cacher, resource_id = self._cacher(request), self._resource_id(request)
        state = cacher.state().state
        if state not in ("initializing", "reinitializing"):
            raise _conflict(f"{resource_id} is {state}: nothing is being filled")
        if resource_id == f"{CRD_RESOURCE}.{CRD_GROUP}":
            raise _conflict("the server itself needs the definitions of custom resources")
        await self._registry.forget(resource_id)
        self._registry.for_resource(cacher.resource)
        await send_json(response, {"cold": resource_id})

    async def check(self, request: Request, response: Response) -> None:
        """Compare the cache with etcd at the cache's resourceVersion, in pages; 409 if it is not ready."""
        cacher = self._cacher(request)
        state = cacher.state().state
        if cacher.cache is None or state != "ready":
            raise _conflict(f"{cacher.resource.id} is {state}: there is nothing to compare with etcd")
        try:
            found = await cacher.cache.checker.check()
        except EtcdError as error:  # which the checker has logged
            raise server_timeout(cacher.resource, "check") from error
        await send_json(response, found)

    async def lose(self, request: Request, response: Response) -> None:
        """Make a cache of ktui's own etcd lose an object, which a check then finds; 409 if it has none."""
        cacher = self._cacher(request)
        if not self._settings.owned:
            raise _conflict("caches of an etcd that ktui did not start are not made inconsistent")
        lost = cacher.cache.lose() if cacher.cache is not None else ""
        if not lost:
            raise _conflict(f"the cache of {cacher.resource.id} has no objects")
        await send_json(response, {"lost": lost})

    def _cacher(self, request: Request) -> Cacher:
        resource_id = self._resource_id(request)
        resource = self._catalog.by_id(resource_id)
        if resource is None or not resource.stored:
            raise StatusError(404, "NotFound", f"no resource {resource_id!r} is served")
        return self._registry.for_resource(resource)

    @staticmethod
    def _resource_id(request: Request) -> str:
        return request.path.strip("/").split("/")[3]


def _conflict(message: str) -> StatusError:
    return StatusError(409, "Conflict", message)


def _found(
    objects: list[StoredObject], text: str, by: Callable[[StoredObject], Any] | None, reverse: bool
) -> list[StoredObject]:
    found = [obj for obj in objects if text in f"{obj.namespace}/{obj.name}".lower()] if text else objects
    return sorted(found, key=by, reverse=reverse) if by is not None else found
