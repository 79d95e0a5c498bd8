"""Write the rules of aggregated ClusterRoles (`admin`, `edit`, `view`), as kube-controller-manager does.

Without its clusterrole-aggregation controller these roles would allow nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ktui.authz.roles import GROUP
from ktui.kube.rbac import aggregated_rules
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import StatusError
from ktui.storage.writer import NoWrite
from ktui.supervision import stop
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import timestamp

if TYPE_CHECKING:
    from ktui.cacher.cachers import Registry
    from ktui.cacher.watch_events import OutEvent
    from ktui.storage.objects import StoredObject

log = logging.getLogger(__name__)

MANAGER = "clusterrole-aggregation-controller"
Obj = dict[str, Any]


class RoleAggregation:
    """Follows ClusterRoles until `stop`; only for an etcd that may be written."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        resource = builtin(GROUP, "clusterroles")
        self._resource: Resource = resource
        self._roles: dict[str, Obj] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = self._registry.follow(
            "the aggregation of cluster roles", self._resource, self._replaced, self._changed
        )

    async def stop(self) -> None:
        await stop(self._task)

    async def _replaced(self, objects: Sequence[StoredObject], _: int) -> None:
        self._roles = {obj.name: json.loads(obj.full_json()) for obj in objects}
        await self._reconcile()

    async def _changed(self, batch: Sequence[OutEvent], _: int) -> None:
        for event in batch:
            if event.object is not None:
                self._roles.pop(event.object.name, None)
                if event.type != "DELETED":
                    self._roles[event.object.name] = json.loads(event.object.full_json())
        await self._reconcile()

    async def _reconcile(self) -> None:
        store = self._registry.for_resource(self._resource).store
        for name, role in self._roles.items():
            try:
                rules = aggregated_rules(role, self._roles)
                if rules is not None and rules != (role.get("rules") or []):
                    await store.update(None, name, partial(self._with_rules, rules))
            except (StatusError, ValueError, TypeError, AttributeError, KeyError) as error:
                log.warning("ClusterRole %s cannot be aggregated: %s", name, error)

    def _with_rules(self, rules: list[Any], old: Obj) -> Obj:
        if rules == (old.get("rules") or []) or old.get("aggregationRule") is None:
            raise NoWrite
        new = {**old, "metadata": dict(old["metadata"]), "rules": rules}
        track_update(old, new, manager=MANAGER, time=timestamp(), resource=self._resource)
        return new
