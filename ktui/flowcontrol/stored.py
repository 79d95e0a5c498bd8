"""Create, update and follow the stored FlowSchemas and PriorityLevelConfigurations, and set their status.

Upstream: pkg/registry/flowcontrol/ensurer and util/flowcontrol/apf_controller.go. A mandatory object always
has upstream's spec; a suggested one has it while its annotation apf.kubernetes.io/autoupdate-spec is "true".
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ktui.cacher.cachers import Registry
from ktui.cacher.settings import Settings
from ktui.cacher.watch_events import OutEvent
from ktui.flowcontrol.controller import PriorityAndFairness
from ktui.flowcontrol.levels import StoredSpec
from ktui.kube.flow_rules import level_spec, schema_spec
from ktui.kube.flow_schemas import AUTO_UPDATE, MANDATORY, default_levels, default_schemas
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import StatusError
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.supervision import stop
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import next_generation, timestamp
from ktui.writes.own_objects import create_own

log = logging.getLogger(__name__)

GROUP = "flowcontrol.apiserver.k8s.io"
PRODUCER = "api-priority-and-fairness-config-producer-v1"
CONSUMER = "api-priority-and-fairness-config-consumer-v1"
LEVELS, SCHEMAS = "prioritylevelconfigurations", "flowschemas"
KEEP_UP_SECONDS = 60.0
AT_ONCE = 8


class StoredFlowConfig:
    """Applies the stored objects, if any, to `controller`. `synced`: both kinds have been read."""

    def __init__(self, registry: Registry, settings: Settings, controller: PriorityAndFairness) -> None:
        self._registry = registry
        self._settings = settings
        self._controller = controller
        self._writable = False
        self._stored: dict[str, dict[str, Obj]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.synced = asyncio.Event()

    @property
    def stored(self) -> tuple[list[Obj], list[Obj]]:
        found = (self._stored.get(name, {}) for name in (SCHEMAS, LEVELS))
        schemas, levels = ([*objects.values()] for objects in found)
        return schemas, levels

    def start(self, *, writable: bool) -> None:
        """Follow the objects; if `writable` also update them and set their status."""
        self._writable = writable
        self._tasks += [self._follow(name) for name in (LEVELS, SCHEMAS)]
        if writable:
            self._tasks.append(self._registry.supervisor.start("the keeper of flow schemas", self._keep_up))

    async def stop(self) -> None:
        await stop(*self._tasks)
        self._tasks.clear()

    async def ensure(self) -> None:
        """Create upstream's objects that are missing, update those that it keeps; raise StatusError."""
        minor = self._settings.behaviour.minor
        places = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for kind, defaults in ((LEVELS, default_levels(minor)), (SCHEMAS, default_schemas(minor))):
                for name, spec in defaults.items():
                    group.create_task(self._ensure(places, builtin(GROUP, kind), name, spec))

    async def _keep_up(self) -> None:
        while True:
            await asyncio.sleep(KEEP_UP_SECONDS)
            try:
                await self.ensure()
            except ExceptionGroup as error:
                log.warning("flow schemas cannot be kept up: %s", error.exceptions[0])

    async def _ensure(self, places: asyncio.Semaphore, resource: Resource, name: str, spec: Obj) -> None:
        metadata: Obj = {"name": name, "annotations": {AUTO_UPDATE: "true"}}
        new = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}
        async with places:
            stored = self._stored.get(resource.resource, {}).get(name)
            if stored is None:
                await create_own(self._registry, json.loads(json.dumps(new)), PRODUCER)
            elif _kept_up(stored, spec, mandatory=name in MANDATORY) is not stored:
                store = self._registry.for_resource(resource).store
                await store.update(None, name, partial(_renewed, spec, name in MANDATORY, resource))

    def _follow(self, name: str) -> asyncio.Task[None]:
        async def replaced(objects: Sequence[StoredObject], _: int) -> None:
            self._stored[name] = {obj.name: json.loads(obj.full_json()) for obj in objects}
            await self._digest()

        async def changed(batch: Sequence[OutEvent], _: int) -> None:
            now = self._stored[name]
            for event in batch:
                if event.object is not None:
                    now.pop(event.object.name, None)
                    if event.type != "DELETED":
                        now[event.object.name] = json.loads(event.object.full_json())
            await self._digest()

        return self._registry.follow(f"the follower of {name}", builtin(GROUP, name), replaced, changed)

    async def _digest(self) -> None:
        if len(self._stored) < len((LEVELS, SCHEMAS)):
            return
        schemas, levels = self.stored
        if schemas or levels:
            specs = {name: StoredSpec(spec, uid) for name, spec, uid in _read(levels, level_spec)}
            found = {name: (spec, uid) for name, spec, uid in _read(schemas, schema_spec)}
            self._controller.configure(specs, found)
        self.synced.set()
        if self._writable:
            await self._set_conditions()

    async def _set_conditions(self) -> None:
        """Set the condition Dangling of each schema: whether its level is missing."""
        resource = builtin(GROUP, SCHEMAS)
        store = self._registry.for_resource(resource).store

        async def one(name: str, condition: Obj) -> None:
            try:
                await store.update(None, name, partial(_conditioned, condition, resource))
            except StatusError as error:
                if error.code != 404:
                    log.warning("the status of FlowSchema %s cannot be set: %s", name, error.message)

        async with asyncio.TaskGroup() as group:
            for name, schema in self._stored[SCHEMAS].items():
                level = ((schema.get("spec") or {}).get("priorityLevelConfiguration") or {}).get("name", "")
                condition = _dangling(level, missing=level not in self._stored[LEVELS])
                if not _has(schema, condition):
                    group.create_task(one(name, condition))


def _read(objects: Sequence[Obj], read: Callable[[Obj], Any]) -> list[tuple[str, Any, str]]:
    found = []
    for obj in objects:
        metadata = obj.get("metadata") or {}
        try:
            found.append((metadata["name"], read(obj), metadata.get("uid", "")))
        except ValueError as error:
            log.warning("%s %s is ignored: %s", obj.get("kind"), metadata.get("name"), error)
    return found


def _kept_up(stored: Obj, spec: Obj, *, mandatory: bool) -> Obj:
    """Return the object as it should be stored; `stored` itself if nothing changes."""
    metadata = stored["metadata"]
    asked = (metadata.get("annotations") or {}).get(AUTO_UPDATE)
    # Without the annotation, upstream owns an object until its spec is changed.
    own = mandatory or asked == "true" or (asked not in ("true", "false") and metadata.get("generation") == 1)
    wanted = "true" if own else "false"
    annotated = asked == wanted or (asked is not None and not mandatory)
    same = not own or _same_spec(stored.get("spec") or {}, spec)
    if annotated and same:
        return stored
    annotations = {**(metadata.get("annotations") or {}), AUTO_UPDATE: asked if annotated else wanted}
    renewed = stored.get("spec") if same else json.loads(json.dumps(spec))
    return {**stored, "metadata": {**metadata, "annotations": annotations}, "spec": renewed}


def _same_spec(stored: Obj, spec: Obj) -> bool:
    """Compare two specs as decoded, because the stored one may lack empty members."""
    read: Callable[[Obj], Any] = schema_spec if "rules" in spec else level_spec
    try:
        return bool(read({"spec": stored}) == read({"spec": spec}))
    except ValueError:
        return False


def _renewed(spec: Obj, mandatory: bool, resource: Resource, old: Obj) -> Obj:
    new = _kept_up(old, spec, mandatory=mandatory)
    if new is old:
        raise NoWrite
    if next_generation(old, new, resource):
        new["metadata"]["generation"] = int(old["metadata"].get("generation", 0)) + 1
    track_update(old, new, manager=PRODUCER, time=timestamp(), resource=resource)
    return new


def _dangling(level: str, *, missing: bool) -> Obj:
    what = f"This FlowSchema references the PriorityLevelConfiguration object named {quote(level)}"
    how = "but there is no such object" if missing else "and it exists"
    return {
        "type": "Dangling",
        "status": "True" if missing else "False",
        "reason": "NotFound" if missing else "Found",
        "message": f"{what} {how}",
    }


def _has(schema: Obj, condition: Obj) -> bool:
    conditions = (schema.get("status") or {}).get("conditions") or ()
    return any(condition.items() <= kept.items() for kept in conditions)


def _conditioned(condition: Obj, resource: Resource, old: Obj) -> Obj:
    if _has(old, condition):
        raise NoWrite
    status = dict(old.get("status") or {})
    others = [kept for kept in status.get("conditions") or () if kept.get("type") != condition["type"]]
    status["conditions"] = [*others, {**condition, "lastTransitionTime": timestamp()}]
    new = {**old, "metadata": dict(old["metadata"]), "status": status}
    track_update(old, new, manager=CONSUMER, time=timestamp(), resource=resource, subresource="status")
    return new
