"""Write the rules of aggregated ClusterRoles (`admin`, `edit`, `view`), as kube-controller-manager does.

Without its clusterrole-aggregation controller these roles would allow nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from functools import partial
from typing import Any

from ktui.authz.roles import GROUP
from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.rbac import aggregated_rules
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import ignoring_not_found
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.writes.managedfields.entries import track_update
from ktui.writes.objectmeta import timestamp
from ktui.writes.server_controller import DELETED, Key, ServerController

log = logging.getLogger(__name__)

MANAGER = "clusterrole-aggregation-controller"
ROLES = builtin(GROUP, "clusterroles")


class RoleAggregation(ServerController):
    """Reconciles aggregated ClusterRoles: (name,). Only for an etcd that may be written."""

    NAME = "the aggregation of cluster roles"

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry, ROLES)
        self._roles: dict[str, Obj] = {}

    async def listed(self, resource: Resource, objects: Sequence[StoredObject]) -> None:
        self._roles.clear()
        await super().listed(resource, objects)

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        """Any role may be part of any aggregated one."""
        self._roles.pop(obj.name, None)
        if type_ != DELETED:
            self._roles[obj.name] = json.loads(obj.full_json())
        for name, role in self._roles.items():
            if role.get("aggregationRule") is not None:
                self.add((name,))

    async def reconcile(self, key: Key) -> float:
        role = self._roles.get(key[0], {})
        try:
            rules = aggregated_rules(role, self._roles)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            log.warning("ClusterRole %s cannot be aggregated: %s", key[0], error)
            return 0
        if rules is not None and rules != (role.get("rules") or []):
            with ignoring_not_found():
                await self.store(ROLES).update(None, key[0], partial(_with_rules, rules))
        return 0


def _with_rules(rules: list[Any], old: Obj) -> Obj:
    if rules == (old.get("rules") or []) or old.get("aggregationRule") is None:
        raise NoWrite
    new = {**old, "metadata": dict(old["metadata"]), "rules": rules}
    track_update(old, new, manager=MANAGER, time=timestamp(), resource=ROLES)
    return new
