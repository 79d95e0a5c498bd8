"""Write the rules of aggregated ClusterRoles (`admin`, `edit`, `view`), as kube-controller-manager does.

Without its clusterrole-aggregation controller these roles would allow nothing.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from functools import partial

from ktui.authz.roles import GROUP, understood
from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.rbac import aggregated_rules, encoded_rules
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import ignoring_not_found
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.telemetry.meter import Meter, metered
from ktui.telemetry.off_loop import compute
from ktui.writes.managedfields.entries import tracked
from ktui.writes.server_controller import DELETED, Key, ServerController

log = logging.getLogger(__name__)

MANAGER = "clusterrole-aggregation-controller"
ROLES = builtin(GROUP, "clusterroles")
MANY = 2_000  # rules of all roles: milliseconds


class RoleAggregation(ServerController):
    """Reconciles aggregated ClusterRoles: (name,). Only for an etcd that may be written."""

    NAME = "the aggregation of cluster roles"

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry, ROLES)
        self._unread: dict[str, StoredObject] = {}
        self._roles: dict[str, Obj] = {}  # with `encoded_rules`

    async def listed(self, resource: Resource, objects: Sequence[StoredObject]) -> None:
        self._unread.clear()
        self._roles.clear()
        await super().listed(resource, objects)

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        if type_ == DELETED:
            self._unread.pop(obj.name, None)
            self._roles.pop(obj.name, None)
            self._add_aggregated()
        else:
            self._unread[obj.name] = obj  # a megabyte is decoded in a thread
            self.add((obj.name,))

    async def reconcile(self, key: Key) -> float:
        await self._read()
        role = self._roles.get(key[0])
        if role is None:
            return 0
        meter = Meter()
        meter.large = sum(len(each["rules"]) for each in self._roles.values()) > MANY
        with metered(meter):
            try:
                rules = await compute(aggregated_rules, role, dict(self._roles))
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                log.warning("ClusterRole %s cannot be aggregated: %s", key[0], error)
                return 0
            if rules is not None and rules != role["rules"]:
                with ignoring_not_found():
                    await self.store(ROLES).update(None, key[0], partial(_with_rules, rules))
        return 0

    async def _read(self) -> None:
        """Decode what has changed; queue all aggregated roles, as any role may be part of each."""
        if not self._unread:
            return
        while self._unread:
            name, obj = next(iter(self._unread.items()))
            # Rules are kept as bytes, which the garbage collector never visits.
            role = await understood(obj, lambda role: {**role, "rules": encoded_rules(role)})
            if self._unread.get(name) is not obj:  # changed or deleted meanwhile
                continue
            del self._unread[name]
            self._roles.pop(name, None)
            if role is not None:
                self._roles[name] = role
        self._add_aggregated()

    def _add_aggregated(self) -> None:
        for name, role in self._roles.items():
            if role.get("aggregationRule") is not None:
                self.add((name,))


def _with_rules(rules: list[bytes], old: Obj) -> Obj:
    if rules == encoded_rules(old) or old.get("aggregationRule") is None:
        raise NoWrite
    return tracked(old, {**old, "rules": [json.loads(rule) for rule in rules]}, MANAGER, ROLES)
