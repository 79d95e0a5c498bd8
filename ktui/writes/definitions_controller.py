"""kube-apiserver's controllers of definitions: names, conditions, APIServices, and the cleanup.

Upstream: the naming, establishing, finalizing and CRD registration controllers; here they are one.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any

from ktui.cacher.cachers import Registry
from ktui.kube.crd import resources_of
from ktui.kube.json_trees import Obj
from ktui.kube.resources import BUILTIN, Resource, builtin
from ktui.kube.status import ignoring_not_found
from ktui.storage.objects import StoredObject
from ktui.storage.store import Store
from ktui.storage.writer import NoWrite
from ktui.writes.before_delete import Fate, begin_deletion
from ktui.writes.bootstrap import AUTOMANAGED, CUSTOM_PRIORITY, CUSTOM_VERSION_PRIORITY, api_service
from ktui.writes.definitions import CLEANUP, accept_names
from ktui.writes.managedfields.entries import tracked
from ktui.writes.objectmeta import metadata_of, set_condition
from ktui.writes.options import DeleteOptions
from ktui.writes.own_objects import MANAGER, create_own
from ktui.writes.server_controller import DELETED, Key, ServerController, pages

log = logging.getLogger(__name__)


RETRY_SECONDS = 1.0  # while objects with finalizers remain
DEFINITIONS = builtin("apiextensions.k8s.io", "customresourcedefinitions")
API_SERVICES = builtin("apiregistration.k8s.io", "apiservices")


class DefinitionController(ServerController):
    """Reconciles definitions: (name,). Only for an etcd that may be written."""

    NAME = "the controller of definitions"
    WORKERS = 5  # upstream's finalizer has as many

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry, DEFINITIONS)
        self._known: dict[str, Obj] = {}
        self._deleted: dict[str, Obj] = {}  # until reconciled
        self._accepting = asyncio.Lock()

    async def listed(self, resource: Resource, objects: Sequence[StoredObject]) -> None:
        there = {obj.name for obj in objects}
        for name in [name for name in self._known if name not in there]:
            self._delete(name, self._known[name])
        await super().listed(resource, objects)

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        definition: Obj = json.loads(obj.full_json())
        if type_ == DELETED:
            self._delete(obj.name, definition)
        else:
            self._known[obj.name] = definition
            self.add((obj.name,))

    def _delete(self, name: str, definition: Obj) -> None:
        self._known.pop(name, None)
        self._deleted[name] = definition
        self.add((name,))

    async def reconcile(self, key: Key) -> float:
        """Accept the names, register the versions; of one that is being deleted, delete the objects."""
        (name,) = key
        definition = self._known.get(name)
        deleted = self._deleted.pop(name, None)
        try:
            if definition is not None and not metadata_of(definition).get("deletionTimestamp"):
                await self._accept(name)
            for each in (deleted, definition):
                if each is not None:
                    await self._register(each)
        except (KeyError, TypeError, AttributeError) as error:
            log.warning("custom resource definition %s is left as it is: %r", name, error)
        metadata = metadata_of(definition or {})
        finalizers = metadata.get("finalizers")
        held = isinstance(finalizers, list) and CLEANUP in finalizers
        return await self._clean(name) if held and metadata.get("deletionTimestamp") else 0

    async def _accept(self, name: str) -> None:
        """Write the definition's status if accepting the names changes it."""

        def accepted(old: Obj) -> Obj:
            new = dict(old)
            accept_names(new, self._taken(name, (old.get("spec") or {}).get("group")))
            if new["status"] == old.get("status"):
                raise NoWrite
            return tracked(old, new, MANAGER, DEFINITIONS, "status")

        async with self._accepting:
            definition = self._known[name]
            trial = dict(definition)
            accept_names(trial, self._taken(name, definition["spec"]["group"]))
            if trial["status"] != definition.get("status"):
                with ignoring_not_found():
                    stored = await self.store(DEFINITIONS).update(None, name, accepted)
                    self._known[name] = json.loads(stored.full_json())  # the next one must not take its names

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
        if any(resource.group == group for resource in BUILTIN):
            return
        wanted = {
            version["name"]
            for known in self._known.values()
            if known["spec"]["group"] == group and not metadata_of(known).get("deletionTimestamp")
            for version in known["spec"].get("versions") or []
            if version.get("served")
        }
        store = self.store(API_SERVICES)
        for version in sorted({v["name"] for v in definition["spec"].get("versions") or []} | wanted):
            there, _ = await store.get(None, f"{version}.{group}")
            if version in wanted and there is None:
                new = api_service(group, version, CUSTOM_PRIORITY, CUSTOM_VERSION_PRIORITY, "true")
                await create_own(self.registry, new)
            elif version not in wanted and there is not None:
                labels = metadata_of(json.loads(there.full_json())).get("labels") or {}
                if labels.get(AUTOMANAGED) == "true":
                    await store.delete(None, there.name)

    async def _clean(self, name: str) -> float:
        """Delete the definition's objects; once there are none, remove its finalizer."""
        found, remaining = await self.current(DEFINITIONS, "", name), 0
        if found is None:
            return 0
        resources = resources_of(found)
        for resource in resources[:1]:  # its versions share their objects
            served = self.registry.uncached_store(resource)
            async for objects in pages(served):
                for obj in objects:
                    remaining += not await _deleted(served, obj)
        if remaining:
            return RETRY_SECONDS

        def released(old: Obj) -> Obj | None:
            metadata = dict(metadata_of(old))
            metadata["finalizers"] = [f for f in metadata.get("finalizers") or [] if f != CLEANUP]
            new = {**old, "metadata": metadata}
            done = "InstanceDeletionCompleted", "removed all instances"
            set_condition(new, "Terminating", "False", *done)
            return new if metadata["finalizers"] else None

        with ignoring_not_found():
            await self.store(DEFINITIONS).update(None, name, released)
        return 0


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
