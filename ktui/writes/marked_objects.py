"""Objects that are marked for deletion and wait for a controller: one task finishes each of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ktui.cacher.registry import follow
from ktui.supervision import stop

if TYPE_CHECKING:
    from ktui.cacher.events import OutEvent
    from ktui.cacher.registry import Registry
    from ktui.kube.resources import Resource
    from ktui.storage.objects import StoredObject

Obj = dict[str, Any]


class MarkedObjects:
    """Follows `resource` through its watch cache, and awaits `finish(namespace, name)` for each held object.

    `is_held` is true for an object that is being deleted and has the controller's finalizer. `finish` is
    awaited again if another object of the same name was held meanwhile.
    """

    def __init__(
        self,
        registry: Registry,
        resource: Resource,
        is_held: Callable[[Obj], bool],
        finish: Callable[[str, str], Coroutine[Any, Any, None]],
    ) -> None:
        self._registry = registry
        self._resource = resource
        self._is_held = is_held
        self._finish = finish
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._held_again: set[tuple[str, str]] = set()
        self._following: asyncio.Task[None] | None = None

    def start(self) -> None:
        following = partial(follow, self._registry, self._resource, self._replaced, self._changed)
        name = f"the controller of deleted {self._resource.resource}"
        self._following = self._registry.supervisor.start(name, following)

    async def stop(self) -> None:
        await stop(self._following, *self._tasks.values())

    async def _replaced(self, objects: Sequence[StoredObject], _: int) -> None:
        for obj in objects:
            self._consider(obj)

    async def _changed(self, batch: Sequence[OutEvent], _: int) -> None:
        for event in batch:
            if event.object is not None and event.type != "DELETED":
                self._consider(event.object)

    def _consider(self, obj: StoredObject) -> None:
        """Start the task of an object that is held, or tell the task of its name that one is held."""
        if not self._is_held(json.loads(obj.full_json())):
            return
        key = obj.namespace, obj.name
        if key in self._tasks:
            self._held_again.add(key)
        else:
            work = partial(self._finish_each, key)
            self._tasks[key] = self._registry.supervisor.start(f"the deletion of {obj.name}", work)

    async def _finish_each(self, key: tuple[str, str]) -> None:
        await self._finish(*key)
        while key in self._held_again:
            self._held_again.discard(key)
            await self._finish(*key)
        del self._tasks[key]  # without a pause since the last look at _held_again
