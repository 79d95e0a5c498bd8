"""The base of controllers for which deleted objects wait: a task for each object finishes its deletion."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ktui.kube.status import ignoring_not_found
from ktui.storage.writer import NoWrite
from ktui.supervision import stop
from ktui.writes.objectmeta import metadata_of

if TYPE_CHECKING:
    from ktui.cacher.cachers import Registry
    from ktui.cacher.watch_events import OutEvent
    from ktui.kube.resources import Resource
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store

Obj = dict[str, Any]
Key = tuple[str, str, str]
"""Resource, namespace and name."""


class DeletionController:
    """Follows resources until `stop`, and awaits `finish(resource, namespace, name)` for each held object.

    `is_held` is true for an object that is being deleted and has the controller's finalizer. `finish` is
    awaited again if another object of the same name was held meanwhile.
    """

    def __init__(
        self,
        registry: Registry,
        resources: Iterable[Resource],
        is_held: Callable[[Obj], bool],
        finish: Callable[[Resource, str, str], Coroutine[Any, Any, None]],
    ) -> None:
        self._registry = registry
        self._resources = tuple(resources)
        self._is_held = is_held
        self._finish = finish
        self._finishing: dict[Key, asyncio.Task[None]] = {}
        self._held_again: set[Key] = set()
        self._following: list[asyncio.Task[None]] = []

    def start(self) -> None:
        for resource in self._resources:
            name = f"the controller of deleted {resource.resource}"
            changes = partial(self._replaced, resource), partial(self._changed, resource)
            self._following.append(self._registry.follow(name, resource, *changes))

    async def stop(self) -> None:
        await stop(*self._following, *self._finishing.values())

    async def _replaced(self, resource: Resource, objects: Sequence[StoredObject], _: int) -> None:
        for obj in objects:
            self._consider(resource, obj)

    async def _changed(self, resource: Resource, batch: Sequence[OutEvent], _: int) -> None:
        for event in batch:
            if event.object is not None and event.type != "DELETED":
                self._consider(resource, event.object)

    def _consider(self, resource: Resource, obj: StoredObject) -> None:
        """Start the task of an object that is held, or tell the task of its name that one is held."""
        if not self._is_held(json.loads(obj.full_json())):
            return
        key = resource.id, obj.namespace, obj.name
        if key in self._finishing:
            self._held_again.add(key)
        else:
            work = partial(self._finish_each, key, partial(self._finish, resource, obj.namespace, obj.name))
            self._finishing[key] = self._registry.supervisor.start(f"the deletion of {obj.name}", work)

    async def _finish_each(self, key: Key, finish: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await finish()
        while key in self._held_again:
            self._held_again.discard(key)
            await finish()
        del self._finishing[key]  # without a pause since the last look at _held_again


async def release(
    store: Store, namespace: str, name: str, finalizers: Collection[str], is_held: Callable[[Obj], bool]
) -> None:
    """Remove these finalizers from an object that is held; it is deleted if it has no others."""

    def released(old: Obj) -> Obj | None:
        if not is_held(old):
            raise NoWrite
        metadata = dict(metadata_of(old))
        metadata["finalizers"] = [kept for kept in metadata["finalizers"] if kept not in finalizers]
        return {**old, "metadata": metadata} if metadata["finalizers"] else None

    with ignoring_not_found():
        await store.update(namespace or None, name, released)
