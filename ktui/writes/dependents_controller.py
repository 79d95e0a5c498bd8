"""Finish deletions with `--cascade=orphan` and `--cascade=foreground` of workloads.

They set a finalizer, for which kubectl waits. Upstream: pkg/controller/garbagecollector, which also deletes
what a deleted owner leaves behind; this controller does not.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import starmap

from ktui.apiserver.server import Server
from ktui.kube.json_trees import Obj
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import ignoring_not_found
from ktui.storage.objects import StoredObject
from ktui.storage.writer import NoWrite
from ktui.writes.before_delete import FOREGROUND, ORPHAN
from ktui.writes.delete import delete
from ktui.writes.objectmeta import metadata_of
from ktui.writes.options import DeleteOptions
from ktui.writes.server_controller import DELETED, Key, ServerController, release

RETRY_SECONDS = 1.0  # while dependents remain
OWNERS = (
    ("apps", "deployments"),
    ("apps", "replicasets"),
    ("apps", "statefulsets"),
    ("apps", "daemonsets"),
    ("batch", "cronjobs"),
    ("batch", "jobs"),
    ("", "replicationcontrollers"),
)
DEPENDENTS = (("apps", "replicasets"), ("batch", "jobs"), ("apps", "controllerrevisions"), ("", "pods"))


class DependentsController(ServerController):
    """Reconciles owners that are being deleted: (resource, namespace, name).

    Only for an etcd that ktui has started: another has a kube-controller-manager.
    """

    NAME = "the controller of deleted owners"
    WORKERS = 20  # upstream's --concurrent-gc-syncs

    def __init__(self, server: Server) -> None:
        self._server = server
        super().__init__(server.services.registry, *starmap(builtin, OWNERS))

    def changed(self, resource: Resource, type_: str, obj: StoredObject) -> None:
        if type_ != DELETED and _is_held(json.loads(obj.full_json())):
            self.add((resource.id, obj.namespace, obj.name))

    async def reconcile(self, key: Key) -> float:
        """Orphan the dependents or delete them, then remove the finalizer."""
        resource_id, namespace, name = key
        resource = self.resources[resource_id]
        found, _ = await self.store(resource).get(namespace, name)
        if found is None or not _is_held(owner := json.loads(found.full_json())):
            return 0
        uid = metadata_of(owner).get("uid", "")
        orphans = ORPHAN in metadata_of(owner)["finalizers"]
        if await self._handle_dependents(namespace, uid, orphans=orphans):
            return RETRY_SECONDS

        def is_owner(old: Obj) -> bool:
            return metadata_of(old).get("uid") == uid and _is_held(old)

        await release(self.store(resource), namespace, name, (ORPHAN, FOREGROUND), is_owner)
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
                        options = DeleteOptions(policy="Background")
                        gone, _ = await delete(self._server, resource, namespace, dependent.name, options)
                        blocked = blocked or not gone
        return blocked


def _is_held(obj: Obj) -> bool:
    metadata = metadata_of(obj)
    held = {ORPHAN, FOREGROUND} & set(metadata.get("finalizers") or [])
    return bool(held and metadata.get("deletionTimestamp"))


def _without_owner(uid: str, old: Obj) -> Obj:
    """The object without its reference to the owner."""
    metadata = dict(metadata_of(old))
    references = metadata.get("ownerReferences") or []
    metadata["ownerReferences"] = [reference for reference in references if reference.get("uid") != uid]
    if metadata["ownerReferences"] == references:
        raise NoWrite
    return {**old, "metadata": metadata}
