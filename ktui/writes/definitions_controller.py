"""kube-apiserver's controllers of definitions: names, conditions, APIServices, and the cleanup.

Upstream: the naming, establishing, finalizing and CRD registration controllers; here they are one.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, Resource, builtin
from ktui.kube.status import StatusError, ignoring_not_found
from ktui.storage.store_requests import StoreListRequest
from ktui.storage.writer import NoWrite
from ktui.supervision import stop
from ktui.writes.before_delete import Fate, begin_deletion
from ktui.writes.bootstrap import AUTOMANAGED, CUSTOM_PRIORITY, CUSTOM_VERSION_PRIORITY, api_service
from ktui.writes.definitions import CLEANUP, accept_names, set_condition
from ktui.writes.deletion_controller import DeletionController
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import metadata_of, timestamp
from ktui.writes.options import DeleteOptions
from ktui.writes.own_objects import MANAGER, create_own

if TYPE_CHECKING:
    from ktui.cacher.cachers import Registry
    from ktui.cacher.watch_events import OutEvent
    from ktui.storage.objects import StoredObject
    from ktui.storage.store import Store

log = logging.getLogger(__name__)

Obj = dict[str, Any]

RETRY_SECONDS = 1.0  # while objects with finalizers remain
PAGE = 500


class DefinitionController:
    """Follows definitions through their watch cache until `stop`; only for an etcd that may be written."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._known: dict[str, Obj] = {}
        self._resource = builtin("apiextensions.k8s.io", "customresourcedefinitions")
        self._deletions = DeletionController(registry, [self._resource], _is_held, self._clean)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = self._registry.follow(
            "the controller of definitions", self._resource, self._replace, self._change
        )
        self._deletions.start()

    async def stop(self) -> None:
        await stop(self._task)
        await self._deletions.stop()

    async def _replace(self, objects: Sequence[StoredObject], rv: int) -> None:
        self._known = {obj.name: json.loads(obj.full_json()) for obj in objects}
        for definition in list(self._known.values()):
            await self._reconcile(definition)

    async def _change(self, batch: Sequence[OutEvent], rv: int) -> None:
        for event in batch:
            if event.object is None:
                continue
            definition: Obj = json.loads(event.object.full_json())
            if event.type == "DELETED":
                self._known.pop(event.object.name, None)
                await self._register(definition)
            else:
                self._known[event.object.name] = definition
                await self._reconcile(definition)

    async def _reconcile(self, definition: Obj) -> None:
        metadata = metadata_of(definition)
        name = str(metadata.get("name"))
        try:
            if not metadata.get("deletionTimestamp"):
                await self._accept(name, definition)
            await self._register(definition)
        except (KeyError, TypeError, AttributeError, StatusError) as error:
            log.warning("custom resource definition %s is left as it is: %r", name, error)

    async def _accept(self, name: str, definition: Obj) -> None:
        """Write the definition's status if accepting the names changes it."""
        store = self._registry.for_resource(self._resource).store

        def accepted(old: Obj) -> Obj:
            new = dict(old)
            accept_names(new, self._taken(name, (old.get("spec") or {}).get("group")))
            if new["status"] == old.get("status"):
                raise NoWrite
            return _tracked(old, new)

        trial = dict(definition)
        accept_names(trial, self._taken(name, definition["spec"]["group"]))
        if trial["status"] != definition.get("status"):
            await store.update(None, name, accepted)

    def _taken(self, name: str, group: str | None) -> dict[str, set[str]]:
        """Return the accepted names of the group's other definitions."""
        found: dict[str, set[Any]] = {"resources": set(), "kinds": set()}
        for other, definition in self._known.items():
            if other == name or (definition.get("spec") or {}).get("group") != group:
                continue
            names: Obj = (definition.get("status") or {}).get("acceptedNames") or {}
            found["resources"] |= {
                names.get("plural"),
                names.get("singular"),
                *(names.get("shortNames") or []),
            }
            found["kinds"] |= {names.get("kind"), names.get("listKind")}
        return found

    async def _register(self, definition: Obj) -> None:
        """Create an APIService for each version that the group's definitions serve, and delete the others."""
        group = definition["spec"]["group"]
        if BUILTIN.has_group(group):
            return
        wanted = {
            version["name"]
            for known in self._known.values()
            if known["spec"]["group"] == group and not metadata_of(known).get("deletionTimestamp")
            for version in known["spec"].get("versions") or []
            if version.get("served")
        }
        cacher = self._registry.for_resource(builtin("apiregistration.k8s.io", "apiservices"))
        for version in sorted({v["name"] for v in definition["spec"].get("versions") or []} | wanted):
            there, _ = await cacher.store.get(None, f"{version}.{group}")
            if version in wanted and there is None:
                new = api_service(group, version, CUSTOM_PRIORITY, CUSTOM_VERSION_PRIORITY, "true")
                await create_own(self._registry, new)
            elif version not in wanted and there is not None and _automanaged(there):
                await cacher.store.delete(None, there.name)

    async def _clean(self, resource: Resource, namespace: str, name: str) -> None:
        """Delete the definition's objects, wait for those with finalizers, then remove its own finalizer."""
        store = self._registry.for_resource(resource).store
        found, _ = await store.get(None, name)
        if found is None:
            return
        resources = resources_of(json.loads(found.full_json()))
        remaining = len(resources)
        while remaining:
            remaining = await self._delete_objects(resources[0])
            await asyncio.sleep(RETRY_SECONDS if remaining else 0)

        def released(old: Obj) -> Obj | None:
            metadata = dict(metadata_of(old))
            metadata["finalizers"] = [f for f in metadata.get("finalizers") or [] if f != CLEANUP]
            new = {**old, "metadata": metadata}
            done = "InstanceDeletionCompleted", "removed all instances"
            set_condition(new, "Terminating", "False", *done)
            return new if metadata["finalizers"] else None

        with ignoring_not_found():
            await store.update(None, name, released)

    async def _delete_objects(self, resource: Resource) -> int:
        """Delete every object; return how many remain."""
        store = self._registry.uncached_store(resource)
        remaining, start = 0, ""
        while True:
            page = await store.list(StoreListRequest(limit=PAGE, start_key=start))
            for obj in page.objects:
                remaining += not await _deleted(store, obj)
            start = page.next_start
            if not start:
                return remaining


async def _deleted(store: Store, obj: StoredObject) -> bool:
    """Delete one object as a client would; return True if it is gone."""
    gone = False

    def decide(current: Obj) -> Obj | None:
        nonlocal gone
        fate, marked = begin_deletion(current, DeleteOptions())
        gone = fate is Fate.REMOVE
        if fate is Fate.NOTHING:
            raise NoWrite
        return None if gone else marked

    with ignoring_not_found():
        await store.update(obj.namespace or None, obj.name, decide)
        return gone
    return True


def _is_held(definition: Obj) -> bool:
    metadata = metadata_of(definition)
    finalizers = metadata.get("finalizers")
    return bool(metadata.get("deletionTimestamp")) and isinstance(finalizers, list) and CLEANUP in finalizers


def _automanaged(service: StoredObject) -> bool:
    labels = metadata_of(json.loads(service.full_json())).get("labels") or {}
    return bool(labels.get(AUTOMANAGED) == "true")


def _tracked(old: Obj, new: Obj) -> Obj:
    resource = builtin("apiextensions.k8s.io", "customresourcedefinitions")
    new["metadata"] = dict(metadata_of(new))
    now = timestamp()
    track_update(old, new, manager=MANAGER, time=now, resource=resource, subresource="status")
    return new
