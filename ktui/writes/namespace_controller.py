"""Finish the deletion of namespaces, as kube-controller-manager does: the content first, then the namespace.

Without it `kubectl delete namespace` would wait forever. Upstream: pkg/controller/namespace/deletion.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import StatusError, ignoring_not_found, not_found
from ktui.storage.objects import StoredObject
from ktui.storage.store import Store
from ktui.storage.store_requests import StoreListRequest
from ktui.storage.writer import NoWrite
from ktui.writes.conditions import set_condition
from ktui.writes.delete import delete
from ktui.writes.objectmeta import metadata_of
from ktui.writes.options import DeleteOptions
from ktui.writes.server_controller import DELETED, Key, ServerController

FINALIZER = "kubernetes"
RETRY_SECONDS = 1.0  # while objects remain: pods in their grace period, objects with finalizers
PAGE = 500
# Type → (status, reason, message) once no objects remain; upstream's wording.
_DONE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": (
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
}


@dataclass(slots=True)
class Remaining:
    """The remaining objects of a namespace, by resource (`pods.`, `jobs.batch`) and by finalizer."""

    resources: Counter[str] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)

    def conditions(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield type, status, reason and message of each condition of the namespace."""
        texts = dict.fromkeys(_DONE, "")
        if self.resources:
            each = (f"{name} has {n} resource instances" for name, n in sorted(self.resources.items()))
            texts["NamespaceContentRemaining"] = f"Some resources are remaining: {', '.join(each)}"
        if self.finalizers:
            each = (f"{name} in {n} resource instances" for name, n in sorted(self.finalizers.items()))
            held = "Some content in the namespace has finalizers remaining: "
            texts["NamespaceFinalizersRemaining"] = held + ", ".join(each)
        reasons = {
            "NamespaceContentRemaining": "SomeResourcesRemain",
            "NamespaceFinalizersRemaining": "SomeFinalizersRemain",
        }
        for kind, text in texts.items():
            if text:
                yield kind, "True", reasons[kind], text
            else:
                yield kind, "False", *_DONE[kind]


class NamespaceController(ServerController):
    """Reconciles namespaces that are being deleted: (name,).

    Only for an etcd that ktui has started: another has a kube-controller-manager.
    """

    NAME = "the controller of deleted namespaces"
    WORKERS = 10  # upstream's --concurrent-namespace-syncs

    def __init__(self, server: Server) -> None:
        self._server = server
        super().__init__(server.services.registry, builtin("", "namespaces"))

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        if type_ != DELETED and _is_held(json.loads(obj.full_json())):
            self.add((obj.name,))

    async def reconcile(self, key: Key) -> float:
        """Delete the content; once there is none, remove the finalizer."""
        (name,) = key
        with ignoring_not_found():
            if not (uid := await self._held(name)):
                return 0
            remaining = await self._delete_content(name, uid)
            await self._report(name, uid, remaining)
            if remaining.resources:
                return RETRY_SECONDS
            await self._finalize(name, uid)
        return 0

    @property
    def _store(self) -> Store:
        return self.store(builtin("", "namespaces"))

    async def _held(self, name: str) -> str:
        """Return the namespace's uid, "" unless it waits for this controller.

        A client may remove the finalizer itself and create the namespace again, with content that must stay.
        """
        found, _ = await self._store.get(None, name)
        return found.uid if found is not None and _is_held(json.loads(found.full_json())) else ""

    async def _delete_content(self, namespace: str, uid: str) -> Remaining:
        """Delete every object as a client would; return the remaining ones."""
        remaining = Remaining()
        for resource in self._content():
            store = self.registry.uncached_store(resource)
            start = ""
            while True:
                page = await store.list(StoreListRequest(namespace, limit=PAGE, start_key=start))
                if page.objects and await self._held(namespace) != uid:
                    raise not_found(builtin("", "namespaces"), namespace)
                for obj in page.objects:
                    if (kept := await self._delete_object(resource, obj)) is not None:
                        remaining.resources[f"{resource.resource}.{resource.group}"] += 1
                        remaining.finalizers.update(metadata_of(kept).get("finalizers") or [])
                start = page.next_start
                if not start:
                    break
        return remaining

    def _content(self) -> list[Resource]:
        """Return every namespaced resource that is stored, once (Events are served by two groups)."""
        by_prefix: dict[str, Resource] = {}
        for resource in self._server.catalog.table.preferred():
            if resource.namespaced and resource.stored:
                by_prefix.setdefault(resource.prefix, resource)
        return list(by_prefix.values())

    async def _delete_object(self, resource: Resource, obj: StoredObject) -> Obj | None:
        """Delete one object; return it if it remains, else None.

        ktui runs no kubelets: a pod whose grace period has passed is removed in place of its kubelet.
        """
        options = DeleteOptions(policy="Background")
        if resource.id == "pods" and _is_overdue(json.loads(obj.full_json())):
            options = DeleteOptions(grace_seconds=0)
        try:
            gone, kept = await delete(self._server, resource, obj.namespace, obj.name, options)
        except StatusError as error:
            if error.code == 404:
                return None
            raise
        return None if gone else kept

    async def _report(self, name: str, uid: str, remaining: Remaining) -> None:
        """Write the conditions, if they have changed."""

        def reported(old: Obj) -> Obj:
            _check_uid(old, uid)
            new = dict(old)
            for condition in remaining.conditions():
                set_condition(new, *condition)
            if new["status"] == old.get("status"):
                raise NoWrite
            return new

        await self._store.update(None, name, reported)

    async def _finalize(self, name: str, uid: str) -> None:
        """Remove the finalizer; a namespace without another one is deleted."""

        def finalized(old: Obj) -> Obj | None:
            _check_uid(old, uid)
            kept = [held for held in (old.get("spec") or {}).get("finalizers") or [] if held != FINALIZER]
            if not kept and not metadata_of(old).get("finalizers"):
                return None
            return {**old, "spec": {**(old.get("spec") or {}), "finalizers": kept}}

        await self._store.update(None, name, finalized)


def _check_uid(namespace: Obj, uid: str) -> None:
    """Raise NoWrite for another namespace of the same name."""
    if metadata_of(namespace).get("uid") != uid:
        raise NoWrite


def _is_held(namespace: Obj) -> bool:
    """True if the namespace is being deleted and waits for this controller."""
    held = (namespace.get("spec") or {}).get("finalizers") or []
    return bool(metadata_of(namespace).get("deletionTimestamp")) and FINALIZER in held


def _is_overdue(pod: Obj) -> bool:
    """True if the time by which the pod's kubelet had to remove it has passed."""
    end = metadata_of(pod).get("deletionTimestamp")
    return end is not None and datetime.datetime.fromisoformat(end) <= datetime.datetime.now(datetime.UTC)
