"""Finish deletions, as kube-controller-manager does: of namespaces, of owners, of claims and volumes.

Without these controllers `kubectl delete` would wait forever. All are for an etcd that ktui has started:
another has a kube-controller-manager. Upstream: pkg/controller/namespace/deletion, garbagecollector (which
also deletes what a deleted owner leaves behind; here it does not), volume/pvcprotection and pvprotection.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import starmap
from typing import Any

from ktui.apiserver.server import Server
from ktui.cacher.cachers import Registry
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import ignoring_not_found, not_found
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.writes.before_create import PROTECTED
from ktui.writes.before_delete import FOREGROUND, ORPHAN
from ktui.writes.delete import delete
from ktui.writes.objectmeta import metadata_of, set_condition
from ktui.writes.options import DeleteOptions
from ktui.writes.server_controller import DELETED, Key, ServerController, pages

RETRY_SECONDS = 1.0  # while content or dependents remain, a pod uses the claim, or the volume is bound
IN_BACKGROUND = DeleteOptions(policy="Background")


class DeletionController(ServerController):
    """Reconciles objects that are being deleted and wait for it: (resource, namespace, name)."""

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        if type_ != DELETED and self.is_held(json.loads(obj.full_json())):
            self.add((resource.id, obj.namespace, obj.name))

    def finalizers(self, obj: Obj) -> Collection[str]:
        """Return those finalizers of the object that this controller removes."""
        return ()

    def is_held(self, obj: Obj) -> bool:
        """True if the object is being deleted and waits for this controller."""
        return bool(metadata_of(obj).get("deletionTimestamp")) and bool(self.finalizers(obj))

    async def held(self, key: Key) -> Obj | None:
        """Return the object, None unless it waits for this controller."""
        resource, namespace, name = key
        obj = await self.current(self.resources[resource], namespace, name)
        return obj if obj is not None and self.is_held(obj) else None

    async def release(self, key: Key, uid: str = "") -> None:
        """Remove the finalizers of a held object, which is deleted if it has no others.

        With `uid` only that object's: another may have got its name.
        """
        resource, namespace, name = key

        def released(old: Obj) -> Obj | None:
            metadata = dict(metadata_of(old))
            if not self.is_held(old) or (uid and metadata.get("uid") != uid):
                raise NoWrite
            gone = self.finalizers(old)
            metadata["finalizers"] = [kept for kept in metadata["finalizers"] if kept not in gone]
            return {**old, "metadata": metadata} if metadata["finalizers"] else None

        with ignoring_not_found():
            await self.store(self.resources[resource]).update(namespace or None, name, released)


def _present(obj: Obj, *finalizers: str) -> Collection[str]:
    return {*finalizers} & {*(metadata_of(obj).get("finalizers") or ())}


class StorageProtection(DeletionController):
    """Removes the finalizer of claims and volumes, which admission set, once they are not in use."""

    NAME = "the controller of deleted claims and volumes"

    def __init__(self, registry: Registry) -> None:
        core = (builtin("", name) for name in ("persistentvolumes", "persistentvolumeclaims"))
        super().__init__(registry, *core, builtin("storage.k8s.io", "volumeattributesclasses"))

    def finalizers(self, obj: Obj) -> Collection[str]:
        return _present(obj, PROTECTED.get(obj.get("kind", ""), ""))

    async def reconcile(self, key: Key) -> float:
        """Release what is not in use: a volume that is not bound, a claim that no scheduled pod names.

        A class of attributes is not in use if no claim or volume has it.

        As in upstream a pod that has ended counts, and one without a node does not: no kubelet starts it with
        a claim that is deleted.
        """
        resource, namespace, name = key
        if self.resources[resource].kind == "PersistentVolume":
            volume = await self.current(self.resources[resource], "", name) or {}
            if (volume.get("status") or {}).get("phase") == "Bound":
                return RETRY_SECONDS
        elif self.resources[resource].kind == "VolumeAttributesClass":
            for plural in ("persistentvolumes", "persistentvolumeclaims"):
                async for _, holder in self.objects(builtin("", plural), "", name):
                    if name in _attributes_of(holder):
                        return RETRY_SECONDS
        else:
            async for _, pod in self.objects(builtin("", "pods"), namespace, name):
                volumes = (pod.get("spec") or {}).get("volumes") or []
                claims = ((v.get("persistentVolumeClaim") or {}).get("claimName") for v in volumes)
                if (pod.get("spec") or {}).get("nodeName") and name in claims:
                    return RETRY_SECONDS
        await self.release(key)
        return 0


def _attributes_of(holder: Obj) -> set[Any]:
    """Return the classes of attributes that a claim or volume has, had, or is to get."""
    status = holder.get("status") or {}
    wanted = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
    own = (holder.get("spec") or {}).get("volumeAttributesClassName")
    return {own, status.get("currentVolumeAttributesClassName"), wanted}


OWNERS = (
    ("apps", "deployments"), ("apps", "replicasets"), ("apps", "statefulsets"), ("apps", "daemonsets"),
    ("batch", "cronjobs"), ("batch", "jobs"), ("", "replicationcontrollers"),
)  # fmt: skip
DEPENDENTS = (("apps", "replicasets"), ("batch", "jobs"), ("apps", "controllerrevisions"), ("", "pods"))


class DependentsController(DeletionController):
    """Finishes deletions of workloads with `--cascade=orphan` and `--cascade=foreground`."""

    NAME = "the controller of deleted owners"
    WORKERS = 20  # upstream's --concurrent-gc-syncs

    def __init__(self, server: Server) -> None:
        self._server = server
        super().__init__(server.services.registry, *starmap(builtin, OWNERS))

    def finalizers(self, obj: Obj) -> Collection[str]:
        return _present(obj, ORPHAN, FOREGROUND)

    async def reconcile(self, key: Key) -> float:
        """Orphan the dependents or delete them, then remove the finalizer."""
        if (owner := await self.held(key)) is None:
            return 0
        uid = metadata_of(owner).get("uid", "")
        if await self._handle_dependents(key[1], uid, orphans=ORPHAN in self.finalizers(owner)):
            return RETRY_SECONDS
        await self.release(key, uid)
        return 0

    async def _handle_dependents(self, namespace: str, uid: str, *, orphans: bool) -> bool:
        """Orphan or delete each dependent; True if one of them still blocks its owner's deletion."""
        blocked = False
        for resource in starmap(builtin, DEPENDENTS):
            async for dependent, obj in self.objects(resource, namespace, uid):
                references = metadata_of(obj).get("ownerReferences") or []
                if not any(reference.get("uid") == uid for reference in references):
                    continue
                with ignoring_not_found():
                    if orphans:
                        change = partial(_without_owner, uid)
                        await self.store(resource).update(namespace, dependent.name, change)
                    else:
                        where = resource, namespace, dependent.name
                        gone, _ = await delete(self._server, *where, IN_BACKGROUND)
                        blocked = blocked or not gone
        return blocked


def _without_owner(uid: str, old: Obj) -> Obj:
    metadata = dict(metadata_of(old))
    references = metadata.get("ownerReferences") or []
    metadata["ownerReferences"] = [reference for reference in references if reference.get("uid") != uid]
    if metadata["ownerReferences"] == references:
        raise NoWrite
    return {**old, "metadata": metadata}


FINALIZER = "kubernetes"
# Type, reason and message once no objects remain, upstream's wording; the reason while some do.
_CONDITIONS = (
    ("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered", ""),
    ("NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
     "All legacy kube types successfully parsed", ""),
    ("NamespaceDeletionContentFailure", "ContentDeleted",
     "All content successfully deleted, may be waiting on finalization", ""),
    ("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed",
     "SomeResourcesRemain"),
    ("NamespaceFinalizersRemaining", "ContentHasNoFinalizers",
     "All content-preserving finalizers finished", "SomeFinalizersRemain"),
)  # fmt: skip


@dataclass(slots=True)
class Remaining:
    """The remaining objects of a namespace, by resource (`pods.`, `jobs.batch`) and by finalizer."""

    resources: Counter[str] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)

    def conditions(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield type, status, reason and message of each condition of the namespace."""
        texts = {}
        if self.resources:
            each = (f"{name} has {n} resource instances" for name, n in sorted(self.resources.items()))
            texts["NamespaceContentRemaining"] = f"Some resources are remaining: {', '.join(each)}"
        if self.finalizers:
            each = (f"{name} in {n} resource instances" for name, n in sorted(self.finalizers.items()))
            held = "Some content in the namespace has finalizers remaining: "
            texts["NamespaceFinalizersRemaining"] = held + ", ".join(each)
        for kind, done, message, remain in _CONDITIONS:
            text = texts.get(kind)
            yield (kind, "True", remain, text) if text else (kind, "False", done, message)


class NamespaceController(DeletionController):
    """Deletes the content of namespaces that are being deleted, then removes the finalizer in their spec."""

    NAME = "the controller of deleted namespaces"
    WORKERS = 10  # upstream's --concurrent-namespace-syncs

    def __init__(self, server: Server) -> None:
        self._server = server
        super().__init__(server.services.registry, builtin("", "namespaces"))

    def finalizers(self, obj: Obj) -> Collection[str]:
        return {FINALIZER} & {*((obj.get("spec") or {}).get("finalizers") or ())}

    async def reconcile(self, key: Key) -> float:
        """Delete the content; once there is none, remove the finalizer."""
        with ignoring_not_found():
            if (namespace := await self.held(key)) is None:
                return 0
            uid = metadata_of(namespace).get("uid", "")
            remaining = await self._delete_content(key, uid)
            await self._report(key, uid, remaining)
            if remaining.resources:
                return RETRY_SECONDS

            def finalized(old: Obj) -> Obj | None:
                _check_uid(old, uid)
                spec = old.get("spec") or {}
                kept = [held for held in spec.get("finalizers") or [] if held != FINALIZER]
                if not kept and not metadata_of(old).get("finalizers"):
                    return None
                return {**old, "spec": {**spec, "finalizers": kept}}

            await self.store(self.resources[key[0]]).update(None, key[2], finalized)
        return 0

    async def _delete_content(self, key: Key, uid: str) -> Remaining:
        """Delete every object as a client would; return the remaining ones.

        From 1.33 on everything else waits until the pods are gone (upstream: OrderedNamespaceDeletion).
        """
        remaining, namespace = Remaining(), key[2]
        pods_first = self._server.services.settings.behaviour.minor >= 33
        for resource in sorted(self._content(), key=lambda resource: resource.id != "pods"):
            if pods_first and remaining.resources["pods."]:
                break
            async for objects in pages(self.registry.uncached_store(resource), namespace):
                # A client may remove the finalizer itself and create the namespace again, with content that
                # must stay.
                if objects and metadata_of(await self.held(key) or {}).get("uid") != uid:
                    raise not_found(self.resources[key[0]], namespace)
                for obj in objects:
                    if (kept := await self._delete_object(resource, obj)) is not None:
                        remaining.resources[f"{resource.resource}.{resource.group}"] += 1
                        remaining.finalizers.update(metadata_of(kept).get("finalizers") or [])
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
        options, now = IN_BACKGROUND, datetime.datetime.now(datetime.UTC)
        if resource.id == "pods":
            end = metadata_of(json.loads(obj.full_json())).get("deletionTimestamp")
            if end is not None and datetime.datetime.fromisoformat(end) <= now:
                options = DeleteOptions(grace_seconds=0)
        with ignoring_not_found():
            gone, kept = await delete(self._server, resource, obj.namespace, obj.name, options)
            return None if gone else kept
        return None

    async def _report(self, key: Key, uid: str, remaining: Remaining) -> None:
        """Write the conditions, if they have changed."""

        def reported(old: Obj) -> Obj:
            _check_uid(old, uid)
            new = dict(old)
            for condition in remaining.conditions():
                set_condition(new, *condition)
            if new["status"] == old.get("status"):
                raise NoWrite
            return new

        await self.store(self.resources[key[0]]).update(None, key[2], reported)


def _check_uid(namespace: Obj, uid: str) -> None:
    """Raise NoWrite for another namespace of the same name."""
    if metadata_of(namespace).get("uid") != uid:
        raise NoWrite
