"""The stored roles and bindings, followed through their watch caches."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ktui.cacher.cachers import Registry
from ktui.cacher.watch_events import OutEvent
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.rbac import Binding, BindingSubject, PolicyRule, binding_of, rules_of
from ktui.kube.resources import builtin
from ktui.kube.users import Requester
from ktui.storage.objects import StoredObject
from ktui.supervision import stop
from ktui.writes.own_objects import create_missing

log = logging.getLogger(__name__)

GROUP = "rbac.authorization.k8s.io"
Key = tuple[str, str]  # namespace, name


class Grant(NamedTuple):
    """A rule that a binding grants to a user; if its role does not exist, `problem` says so instead."""

    binding: Binding
    subject: BindingSubject
    rule: PolicyRule | None
    problem: str = ""


class Roles:
    """Finds the `grants` of a user in a namespace. `synced` is set once all four collections were read."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._roles: dict[str, dict[Key, Any]] = {"clusterroles": {}, "roles": {}}
        self._bindings: dict[str, dict[Key, Any]] = {"clusterrolebindings": {}, "rolebindings": {}}
        self._unread = {*self._roles, *self._bindings}
        self._tasks: list[asyncio.Task[None]] = []
        self.synced = asyncio.Event()

    def start(self) -> None:
        for name, kept, read in (
            ("clusterroles", self._roles, rules_of),
            ("roles", self._roles, rules_of),
            ("clusterrolebindings", self._bindings, binding_of),
            ("rolebindings", self._bindings, binding_of),
        ):
            self._tasks.append(self._follow(name, kept, read))

    async def stop(self) -> None:
        await stop(*self._tasks)
        self._tasks.clear()

    def grants(self, who: Requester, namespace: str) -> Iterator[Grant]:
        """Yield cluster-wide grants first, then those of the namespace, each ordered by name."""
        yield from self._given(who, self._bindings["clusterrolebindings"].values())
        if namespace:
            inside = (
                binding for key, binding in self._bindings["rolebindings"].items() if key[0] == namespace
            )
            yield from self._given(who, inside)

    def rules(self, resource: str, namespace: str, name: str) -> tuple[PolicyRule, ...] | None:
        """Return the rules of a role (`roles` or `clusterroles`); None if it is not known."""
        found: tuple[PolicyRule, ...] | None = self._roles[resource].get((namespace, name))
        return found

    def _given(self, who: Requester, bindings: Any) -> Iterator[Grant]:
        for binding in bindings:
            subject = binding.subject_of(who)
            if subject is None:
                continue
            cluster = binding.role.kind == "ClusterRole"
            key = ("" if cluster else binding.namespace, binding.role.name)
            rules = self._roles["clusterroles" if cluster else "roles"].get(key)
            if rules is None:
                kind = f"{binding.role.kind.lower()}.{GROUP}"
                yield Grant(binding, subject, None, f"{kind} {quote(binding.role.name)} not found")
            for rule in rules or ():
                yield Grant(binding, subject, rule)

    def _follow(
        self, name: str, kept: dict[str, dict[Key, Any]], read: Callable[[Any], Any]
    ) -> asyncio.Task[None]:
        resource = builtin(GROUP, name)

        async def replaced(objects: Sequence[StoredObject], _: int) -> None:
            kept[name] = dict(_understood(objects, read))
            self._unread.discard(name)
            if not self._unread:
                self.synced.set()

        async def changed(batch: Sequence[OutEvent], _: int) -> None:
            now = dict(kept[name])
            for event in batch:
                if event.object is None:
                    continue
                now.pop((event.object.namespace, event.object.name), None)
                if event.type != "DELETED":
                    now.update(_understood([event.object], read))
            kept[name] = dict(sorted(now.items()))

        return self.registry.follow(f"the follower of {name}", resource, replaced, changed)


def _understood(objects: Sequence[StoredObject], read: Callable[[Any], Any]) -> Iterator[tuple[Key, Any]]:
    for obj in objects:
        try:
            yield (obj.namespace, obj.name), read(json.loads(obj.full_json()))
        except ValueError as error:
            log.warning("%s/%s cannot be understood: %s", obj.namespace, obj.name, error)


async def create_default_roles(registry: Registry) -> None:
    """Create the default roles that do not exist; existing ones stay unchanged. StatusError if etcd refuses.

    (Upstream adds missing rules to roles annotated with autoupdate; here they keep their changes.)
    """
    defaults: dict[str, list[Obj]] = json.loads(
        (Path(__file__).parent / "data" / "default_roles.json").read_text()
    )

    def whole(name: str, obj: Obj) -> Obj:
        resource = builtin(GROUP, name)
        return {"apiVersion": resource.api_version, "kind": resource.kind, **obj}

    await create_missing(
        registry, (whole(name, obj) for name, objects in defaults.items() for obj in objects)
    )
