"""The served resources: the built-in ones, and custom ones while their definitions exist."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

from ktui.cacher.cachers import Registry
from ktui.cacher.watch_events import OutEvent
from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, Resource, ResourceTable, builtin
from ktui.storage.objects import StoredObject
from ktui.supervision import stop

log = logging.getLogger(__name__)

CRD_GROUP, CRD_RESOURCE = "apiextensions.k8s.io", "customresourcedefinitions"


class Catalog:
    """Follows the CustomResourceDefinitions. `synced`: they were read once; `rv` is the revision reached."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._definitions: dict[str, dict[str, Any]] = {}
        self._specs: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None
        self.table: ResourceTable = BUILTIN
        self.synced = asyncio.Event()
        self.rv = 0
        self._turned = asyncio.Condition()

    def start(self) -> None:
        resource = builtin(CRD_GROUP, CRD_RESOURCE)
        self._task = self._registry.follow(
            "the follower of custom resource definitions", resource, self._replace, self._change
        )

    async def stop(self) -> None:
        await stop(self._task)
        self._task = None

    async def until(self, holds: Callable[[Catalog], bool]) -> None:
        """Wait until `holds` returns True; it is called whenever definitions have changed."""
        async with self._turned:
            await self._turned.wait_for(lambda: holds(self))

    def by_id(self, resource_id: str) -> Resource | None:
        """Return the preferred version of a resource by its id in telemetry, None if it is not served."""
        return next((r for r in self.table.preferred() if r.id == resource_id), None)

    def canonical(self, resource: Resource) -> Resource:
        """Return the resource's preferred version, whose cache all versions share."""
        if len(resource.versions) <= 1:
            return resource
        return self.table.find(resource.group, resource.versions[0], resource.resource) or resource

    async def _replace(self, objects: Sequence[StoredObject], rv: int) -> None:
        self._definitions = {obj.name: _tree(obj) for obj in objects}
        await self._rebuild(rv)
        self.synced.set()

    async def _change(self, batch: Sequence[OutEvent], rv: int) -> None:
        for event in batch:
            if event.object is not None:
                self._definitions.pop(event.object.name, None)
                if event.type != "DELETED":
                    self._definitions[event.object.name] = _tree(event.object)
        await self._rebuild(rv)

    async def _rebuild(self, rv: int) -> None:
        custom: list[Resource] = []
        for name, definition in self._definitions.items():
            try:
                custom += resources_of(definition)
            except (KeyError, TypeError, AttributeError) as error:
                log.warning("custom resource definition %s cannot be understood: %r", name, error)
        before = self._specs
        self._specs = {name: _spec(definition) for name, definition in self._definitions.items()}
        self.table = BUILTIN.plus(custom)
        # As upstream, a changed definition's objects are read again. Definitions and resources have the same
        # names. All changes apply together with the new table, so that no request sees only a part of them.
        changed = (name for name, spec in before.items() if _served_otherwise(spec, self._specs.get(name)))
        await self._registry.forget(*changed)
        async with self._turned:
            self.rv = rv
            self._turned.notify_all()


def _spec(definition: dict[str, Any]) -> Any:
    """Return the parts of a definition that decide how its resource is served."""
    accepted = (definition.get("status") or {}).get("acceptedNames")
    return definition.get("spec"), accepted


def _served_otherwise(before: Any, now: Any) -> bool:
    """Whether a definition was changed or deleted; a new definition's names are accepted only later."""
    if now is None or before[0] != now[0]:
        return True
    return bool((before[1] or {}).get("plural")) and bool(before[1] != now[1])


def _tree(obj: StoredObject) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(obj.full_json())
    return tree
