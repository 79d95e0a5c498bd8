"""The stored roles and bindings, followed through their watch caches."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ktui.cacher.cachers import Registry
from ktui.cacher.watch_events import OutEvent
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.rbac import Binding, RoleRef, RuleIndex, binding_of, requester_keys, rules_of
from ktui.kube.resources import builtin
from ktui.kube.users import Requester
from ktui.storage.objects import StoredObject
from ktui.supervision import stop
from ktui.telemetry.off_loop import LARGE_BYTES, compute_large
from ktui.writes.own_objects import create_missing

log = logging.getLogger(__name__)

GROUP = "rbac.authorization.k8s.io"
Key = tuple[str, str]  # namespace, name


K = TypeVar("K", "RoleRules", "Bindings")
_MANY_SUBJECTS = 1000


class Grant(NamedTuple):
    """A role that a binding grants to a user; if the role does not exist, `problem` says so instead."""

    binding: Binding
    role: RuleIndex | None
    problem: str = ""


class RoleRules(dict[Key, RuleIndex]):
    """The rules of the roles of a collection."""

    async def change(self, changes: Mapping[Key, RuleIndex | None]) -> None:
        """Keep new and changed roles, drop those that are None."""
        for key, role in changes.items():
            self.pop(key, None)
            if role is not None:
                self[key] = role


class Bindings:
    """The bindings of a collection, by namespace and subject.

    A thread may read while it changes: what is found for a subject is replaced, never changed.
    """

    def __init__(self) -> None:
        self._kept: dict[Key, Binding] = {}
        self._of: dict[tuple[str, str, str], dict[str, Binding]] = {}
        self._first_of: dict[tuple[str, str, str], dict[str, Binding]] = {}  # to each role

    def of(self, who: Requester, namespace: str, *, first: bool = False) -> Iterable[Binding]:
        """Return a user's bindings in a namespace or cluster-wide, by name; `first`: one for each role."""
        kept = self._first_of if first else self._of
        found = [named for kind, name in requester_keys(who) if (named := kept.get((namespace, kind, name)))]
        if len(found) < 2:
            return found[0].values() if found else ()
        joined: dict[str, Binding] = {}
        for named in found:
            joined.update(named)
        return [binding for _, binding in sorted(joined.items())]

    async def change(self, changes: Mapping[Key, Binding | None]) -> None:
        """Keep new and changed bindings, drop those that are None."""
        olds = (self._kept.get(key) for key in changes)
        count = sum(len(binding.subjects) for binding in (*changes.values(), *olds) if binding is not None)
        if count < _MANY_SUBJECTS:
            self._change(changes)
        else:
            await compute_large(self._change, changes)

    def _change(self, changes: Mapping[Key, Binding | None]) -> None:
        touched: dict[tuple[str, str, str], dict[str, Binding | None]] = {}
        for key, new in changes.items():
            old = self._kept.pop(key, None)
            for binding, now in ((old, None), (new, new)):
                for subject in () if binding is None else binding.subject_keys():
                    touched.setdefault((key[0], *subject), {})[key[1]] = now
            if new is not None:
                self._kept[key] = new
        for where, named in touched.items():
            merged = sorted({**self._of.get(where, {}), **named}.items())
            left = {name: binding for name, binding in merged if binding is not None}
            firsts: dict[RoleRef, Binding] = {}
            for binding in left.values():
                firsts.setdefault(binding.role, binding)
            self._of[where] = left
            self._first_of[where] = {binding.name: binding for binding in firsts.values()}
            if not left:
                del self._of[where], self._first_of[where]


class Roles:
    """Finds the `grants` of a user in a namespace. `synced` is set once all four collections were read."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._roles = {"clusterroles": RoleRules(), "roles": RoleRules()}
        self._bindings = {"clusterrolebindings": Bindings(), "rolebindings": Bindings()}
        self._unread = {*self._roles, *self._bindings}
        self._tasks: list[asyncio.Task[None]] = []
        self.synced = asyncio.Event()

    def start(self) -> None:
        def index(role: Obj) -> RuleIndex:
            return RuleIndex(rules_of(role))

        self._tasks += [self._follow(name, self._roles, RoleRules, index) for name in self._roles]
        self._tasks += [self._follow(name, self._bindings, Bindings, binding_of) for name in self._bindings]

    async def stop(self) -> None:
        await stop(*self._tasks)
        self._tasks.clear()

    def grants(self, who: Requester, namespace: str, *, first: bool = True) -> Iterator[Grant]:
        """Yield cluster-wide grants first, then those of the namespace, each ordered by name.

        `first`: of the bindings of a subject to one role only the first.
        """
        for name, where in (("clusterrolebindings", ""), ("rolebindings", namespace)):
            if name == "rolebindings" and not namespace:
                return
            for binding in self._bindings[name].of(who, where, first=first):
                cluster = binding.role.kind == "ClusterRole"
                key = ("" if cluster else binding.namespace, binding.role.name)
                role = self._roles["clusterroles" if cluster else "roles"].get(key)
                if role is None:
                    kind = f"{binding.role.kind.lower()}.{GROUP}"
                    yield Grant(binding, None, f"{kind} {quote(binding.role.name)} not found")
                else:
                    yield Grant(binding, role)

    def role(self, resource: str, namespace: str, name: str) -> RuleIndex | None:
        """Return the rules of a role (`roles` or `clusterroles`); None if it is not known."""
        return self._roles[resource].get((namespace, name))

    def _follow(
        self, name: str, all_kept: dict[str, K], make: Callable[[], K], read: Callable[[Any], Any]
    ) -> asyncio.Task[None]:
        resource = builtin(GROUP, name)

        async def replaced(objects: Sequence[StoredObject], _: int) -> None:
            kept = make()
            await kept.change({_key(obj): await understood(obj, read) for obj in objects})
            all_kept[name] = kept
            self._unread.discard(name)
            if not self._unread:
                self.synced.set()

        async def changed(batch: Sequence[OutEvent], _: int) -> None:
            changes = {}
            for event in batch:
                if (obj := event.object) is not None:
                    changes[_key(obj)] = None if event.type == "DELETED" else await understood(obj, read)
            await all_kept[name].change(changes)

        return self.registry.follow(f"the follower of {name}", resource, replaced, changed)


def _key(obj: StoredObject) -> Key:
    return obj.namespace, obj.name


async def understood(obj: StoredObject, read: Callable[[Any], Any]) -> Any:
    """Return what `read` makes of the object, None if it cannot be understood."""
    try:
        if obj.size >= LARGE_BYTES:
            return await compute_large(lambda: read(json.loads(obj.full_json())))
        return read(json.loads(obj.full_json()))
    except ValueError as error:
        log.warning("%s/%s cannot be understood: %s", obj.namespace, obj.name, error)
        return None


async def create_default_roles(registry: Registry) -> None:
    """Create the default roles that do not exist; existing ones stay unchanged. StatusError if etcd refuses.

    (Upstream adds missing rules to roles annotated with autoupdate; here they keep their changes.)
    """
    text = (Path(__file__).parent / "data" / "default_roles.json").read_text()
    defaults: dict[str, list[Obj]] = json.loads(text)
    found = ((builtin(GROUP, name), obj) for name, objects in defaults.items() for obj in objects)
    whole = ({"apiVersion": resource.api_version, "kind": resource.kind, **obj} for resource, obj in found)
    await create_missing(registry, whole)
