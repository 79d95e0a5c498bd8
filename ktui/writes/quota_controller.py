"""Write the status of ResourceQuotas, as kube-controller-manager's resourcequota controller does.

Admission charges new objects. This controller copies `spec.hard` into the status, and counts the usage again
when objects are deleted or change their usage. Upstream: pkg/controller/resourcequota.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ktui.cacher.cacher_requests import ListRequest
from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import StatusError, ignoring_not_found
from ktui.storage.objects import EVERYTHING
from ktui.storage.writer import NoWrite
from ktui.supervision import stop
from ktui.telemetry.off_loop import Slices
from ktui.writes.admission.pod_resources import Quantities, plus
from ktui.writes.admission.quotas import in_scope, limited_by, usage_now
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import metadata_of, timestamp

if TYPE_CHECKING:
    from ktui.cacher.cachers import Registry
    from ktui.cacher.watch_events import OutEvent
    from ktui.storage.objects import StoredObject

log = logging.getLogger(__name__)

MANAGER = "kube-controller-manager"
RESYNC_SECONDS = 300.0  # --resource-quota-sync-period
# Resources whose updates can change their usage; a pod's usage changes only when it ends.
CHANGING = ("services", "persistentvolumeclaims")
ENDED = ("Succeeded", "Failed")
Obj = dict[str, Any]
Key = tuple[str, str]
"""Namespace and name of a quota."""


class QuotaController:
    """Follows quotas, and the resources that they limit, until `stop`.

    Only for an etcd that ktui has started: another has a kube-controller-manager. `resources` returns all
    served resources.
    """

    def __init__(self, registry: Registry, resources: Callable[[], Iterable[Resource]]) -> None:
        self._registry = registry
        self._resources = resources
        self._quotas: dict[Key, Obj] = {}
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._dirty: dict[Key, None] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        quotas = builtin("", "resourcequotas")
        self._tasks = [
            self._registry.follow("the quotas", quotas, self._replaced, self._changed),
            self._registry.supervisor.start("the controller of quotas", self._work),
        ]

    async def stop(self) -> None:
        await stop(*self._tasks, *self._followed.values())

    # Changes of quotas and objects.

    async def _replaced(self, objects: Sequence[StoredObject], _: int) -> None:
        slices, quotas = Slices(), {}
        for obj in objects:
            quotas[(obj.namespace, obj.name)] = json.loads(obj.full_json())
            await slices.yield_if_due()
        self._quotas = quotas
        self._follow_limited()
        self._mark(self._quotas)

    async def _changed(self, batch: Sequence[OutEvent], _: int) -> None:
        limits_changed = False
        for event in batch:
            if event.object is None:
                continue
            key, quota = (event.object.namespace, event.object.name), json.loads(event.object.full_json())
            before = self._quotas.get(key)
            if event.type == "DELETED" or before is None or _hard(before) != _hard(quota):
                limits_changed = True
            if event.type == "DELETED":
                self._quotas.pop(key, None)
                self._dirty.pop(key, None)
                continue
            self._quotas[key] = quota
            status = quota.get("status") or {}
            if event.type == "ADDED" or _hard(quota) != status.get("hard") or "used" not in status:
                self._mark([key])
        if limits_changed:
            self._follow_limited()

    def _follow_limited(self) -> None:
        """Follow the resources that some quota limits, and no others."""
        names = {name for quota in self._quotas.values() for name in _hard(quota)}
        wanted = {resource.id: resource for resource in self._resources() if limited_by(resource, names)}
        for unwanted in self._followed.keys() - wanted.keys():
            self._followed.pop(unwanted).cancel()
        for name in wanted.keys() - self._followed.keys():
            resource = wanted[name]
            self._followed[name] = self._registry.follow(
                f"what quotas limit of {name}",
                resource,
                partial(self._objects_replaced, resource),
                partial(self._objects_changed, resource),
            )

    async def _objects_replaced(self, resource: Resource, objects: Sequence[StoredObject], _: int) -> None:
        self._mark(self._limiting(resource, None))

    async def _objects_changed(self, resource: Resource, batch: Sequence[OutEvent], _: int) -> None:
        slices, namespaces = Slices(), set()
        for event in batch:
            if event.object is not None and (event.type == "DELETED" or _changes_its_use(resource, event)):
                namespaces.add(event.object.namespace)
            await slices.yield_if_due()
        if namespaces:
            self._mark(self._limiting(resource, namespaces))

    def _limiting(self, resource: Resource, namespaces: Collection[str] | None) -> list[Key]:
        """Return the quotas that limit the resource, in these namespaces or (None) in all."""
        return [
            key
            for key, quota in self._quotas.items()
            if (namespaces is None or key[0] in namespaces) and limited_by(resource, _hard(quota))
        ]

    def _mark(self, keys: Iterable[Key]) -> None:
        self._dirty.update(dict.fromkeys(keys))
        self._wake.set()

    # Reconciling.

    async def _work(self) -> None:
        clock = asyncio.get_running_loop().time
        resync = clock() + RESYNC_SECONDS
        while True:
            try:
                async with asyncio.timeout_at(resync):
                    await self._wake.wait()
            except TimeoutError:
                pass
            if clock() >= resync:  # however often it was woken
                self._mark(self._quotas)
                resync = clock() + RESYNC_SECONDS
            self._wake.clear()
            while self._dirty:
                key = next(iter(self._dirty))
                del self._dirty[key]
                try:
                    await self._sync(key)
                except StatusError as error:
                    log.warning("the status of quota %s/%s cannot be written: %s", *key, error.message)

    async def _sync(self, key: Key) -> None:
        quota = self._quotas.get(key)
        if quota is None:
            return
        used = await self._used(key[0], quota)
        store = self._registry.for_resource(builtin("", "resourcequotas")).store
        seen = metadata_of(quota).get("resourceVersion")
        overtaken = False

        def count(old: Obj) -> Obj:
            nonlocal overtaken
            # The count does not include what admission has charged since.
            overtaken = metadata_of(old).get("resourceVersion") != seen
            if overtaken:
                raise NoWrite
            return with_status(old, used)

        with ignoring_not_found():
            await store.update(key[0], key[1], count)
        if overtaken and metadata_of(self._quotas.get(key) or {}).get("resourceVersion") != seen:
            self._mark([key])  # otherwise its event will follow

    async def _used(self, namespace: str, quota: Obj) -> Quantities:
        """Return the usage by those names in `spec.hard` that some resource counts towards."""
        hard, found, slices = _hard(quota), Quantities(), Slices()
        for resource in list(self._resources()):
            names = limited_by(resource, hard)
            if not names:
                continue
            found = dict.fromkeys(names, "0") | found
            cacher = self._registry.for_resource(resource)
            await cacher.ready()
            request = ListRequest(namespace, None, ListOptions(resource_version="0"), EVERYTHING)
            for obj in (await cacher.list(request)).objects:
                tree = json.loads(obj.full_json())
                if in_scope(resource, tree, quota.get("spec") or {}):
                    usage = usage_now(resource, tree)
                    found = plus(found, {name: usage[name] for name in names if name in usage})
                await slices.yield_if_due()
        return found


def with_status(quota: Obj, used: Quantities) -> Obj:
    """Return the quota with its limits and their usage in the status; raise NoWrite if nothing changes."""
    status, hard = quota.get("status") or {}, _hard(quota)
    kept = {name: value for name, value in {**(status.get("used") or {}), **used}.items() if name in hard}
    wanted = {**status, "hard": hard, "used": {name: kept[name] for name in sorted(kept)}}
    if wanted == status:
        raise NoWrite
    new = {**quota, "metadata": dict(metadata_of(quota)), "status": wanted}
    resource = builtin("", "resourcequotas")
    track_update(quota, new, manager=MANAGER, time=timestamp(), resource=resource, subresource="status")
    return new


def _hard(quota: Obj) -> Quantities:
    hard: Quantities = (quota.get("spec") or {}).get("hard") or {}
    return hard


def _changes_its_use(resource: Resource, event: OutEvent) -> bool:
    if event.type != "MODIFIED" or event.object is None:
        return False
    if resource.id != "pods":
        return resource.id in CHANGING
    return (json.loads(event.object.full_json()).get("status") or {}).get("phase") in ENDED
