"""Write the status of ResourceQuotas, as kube-controller-manager's resourcequota controller does.

Admission charges new objects. This controller copies `spec.hard` into the status, and counts the usage again
when objects are deleted or change their usage. Upstream: pkg/controller/resourcequota.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import ignoring_not_found
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.writes.admission.pod_resources import Quantities, plus
from ktui.writes.admission.quotas import in_scope, limited_by, usage_now
from ktui.writes.managedfields.entries import tracked
from ktui.writes.objectmeta import metadata_of
from ktui.writes.server_controller import DELETED, LISTED, Key, ServerController

MANAGER = "kube-controller-manager"
RESYNC_SECONDS = 300.0  # --resource-quota-sync-period
OVERTAKEN_SECONDS = 0.1  # until a count is repeated that a charge of admission has overtaken
# Resources whose updates can change their usage; a pod's usage changes only when it ends.
CHANGING = ("services", "persistentvolumeclaims")
QUOTAS = builtin("", "resourcequotas")
LIMITED: Key = ()
"""The key of what is followed: the resources that some quota limits."""


class QuotaController(ServerController):
    """Reconciles quotas, (namespace, name), and LIMITED.

    Only for an etcd that ktui has started: another has a kube-controller-manager. `resources` returns all
    served resources.
    """

    NAME = "the controller of quotas"

    def __init__(self, registry: Registry, resources: Callable[[], Iterable[Resource]]) -> None:
        super().__init__(registry, QUOTAS)
        self._served = resources
        self._quotas: defaultdict[str, dict[str, Obj]] = defaultdict(dict)  # by namespace and name
        self._limited: dict[str, Resource] = {}

    async def listed(self, resource: Resource, objects: Sequence[StoredObject]) -> None:
        if resource.id != QUOTAS.id:
            for namespace in list(self._quotas):
                self._add_limiting(resource, namespace)
            return
        there = {(obj.namespace, obj.name) for obj in objects}
        for namespace, quotas in self._quotas.items():
            for name in [name for name in quotas if (namespace, name) not in there]:
                del quotas[name]
        self.add(LIMITED)
        await super().listed(resource, objects)

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        if resource.id == QUOTAS.id:
            self._quota_changed(type_, obj)
        changes = type_ == DELETED or (type_ == "MODIFIED" and resource.id in CHANGING)
        if type_ == "MODIFIED" and resource.id == "pods":
            phase = (json.loads(obj.full_json()).get("status") or {}).get("phase")
            changes = phase in ("Succeeded", "Failed")
        if changes:
            self._add_limiting(resource, obj.namespace)

    def _quota_changed(self, type_: str, obj: StoredObject) -> None:
        quotas = self._quotas[obj.namespace]
        before = quotas.pop(obj.name, None)
        if type_ == DELETED:
            self.add(LIMITED)
            return
        quota = quotas[obj.name] = json.loads(obj.full_json())
        if before is None or _hard(before) != _hard(quota):
            self.add(LIMITED)
        status = quota.get("status") or {}
        if type_ in (LISTED, "ADDED") or _hard(quota) != status.get("hard") or "used" not in status:
            self.add((obj.namespace, obj.name))

    def _add_limiting(self, resource: Resource, namespace: str) -> None:
        """Queue the namespace's quotas that limit the resource."""
        for name, quota in self._quotas[namespace].items():
            if limited_by(resource, _hard(quota)):
                self.add((namespace, name))

    def _follow_limited(self) -> None:
        """Follow the resources that some quota limits, and no others."""
        hard = [_hard(quota) for quotas in self._quotas.values() for quota in quotas.values()]
        names = {name for each in hard for name in each}
        wanted = {resource.id: resource for resource in self._served() if limited_by(resource, names)}
        wanted.pop(QUOTAS.id, None)  # is followed anyway
        for unwanted in self._limited.keys() - wanted.keys():
            self.unfollow(unwanted)
        for name in wanted.keys() - self._limited.keys():
            self.follow(wanted[name])
        self._limited = wanted

    async def reconcile(self, key: Key) -> float:
        """Write the status; admission changes it too, so a count that is overtaken is repeated."""
        if key == LIMITED:
            self._follow_limited()
            return 0
        namespace, name = key
        quota = self._quotas[namespace].get(name)
        if quota is None:
            return 0
        used = await self._used(namespace, quota)
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
            await self.store(QUOTAS).update(namespace, name, count)
        return OVERTAKEN_SECONDS if overtaken else RESYNC_SECONDS

    async def _used(self, namespace: str, quota: Obj) -> Quantities:
        """Return the usage by those names in `spec.hard` that some resource counts towards."""
        hard, found = _hard(quota), Quantities()
        for resource in list(self._served()):
            names = limited_by(resource, hard)
            if not names:
                continue
            found = dict.fromkeys(names, "0") | found
            async for _, obj in self.objects(resource, namespace, version="0"):
                if in_scope(resource, obj, quota.get("spec") or {}):
                    usage = usage_now(resource, obj)
                    found = plus(found, {name: usage[name] for name in names if name in usage})
        return found


def with_status(quota: Obj, used: Quantities) -> Obj:
    """Return the quota with its limits and their usage in the status; raise NoWrite if nothing changes."""
    status, hard = quota.get("status") or {}, _hard(quota)
    kept = {name: value for name, value in {**(status.get("used") or {}), **used}.items() if name in hard}
    wanted = {**status, "hard": hard, "used": {name: kept[name] for name in sorted(kept)}}
    if wanted == status:
        raise NoWrite
    return tracked(quota, {**quota, "status": wanted}, MANAGER, QUOTAS, "status")


def _hard(quota: Obj) -> Quantities:
    hard: Quantities = (quota.get("spec") or {}).get("hard") or {}
    return hard
