"""Finish deletions with `--cascade=orphan` and `--cascade=foreground` of workloads.

They set a finalizer, for which kubectl waits. Upstream: pkg/controller/garbagecollector, which also deletes
what a deleted owner leaves behind; this controller does not.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from functools import partial
from itertools import starmap
from typing import TYPE_CHECKING, Any

from ktui.apiserver.server import Server
from ktui.cacher.cacher_requests import ListRequest
from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import Resource, builtin
from ktui.kube.status import ignoring_not_found
from ktui.storage.objects import EVERYTHING
from ktui.storage.writer import NoWrite
from ktui.telemetry.off_loop import Slices
from ktui.writes.before_delete import FOREGROUND, ORPHAN
from ktui.writes.delete import delete
from ktui.writes.deletion_controller import DeletionController, release
from ktui.writes.objectmeta import metadata_of
from ktui.writes.options import DeleteOptions

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

Obj = dict[str, Any]

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


class DependentsController(DeletionController):
    """Only for an etcd that ktui has started: another has a kube-controller-manager."""

    def __init__(self, server: Server) -> None:
        self._server = server
        super().__init__(server.services.registry, starmap(builtin, OWNERS), _is_held, self._release)

    async def _release(self, resource: Resource, namespace: str, name: str) -> None:
        """Orphan the dependents or delete them, then remove the finalizer."""
        store = self._server.cacher(resource).store
        owner, _ = await store.get(namespace, name)
        if owner is None:
            return
        found: Obj = json.loads(owner.full_json())
        uid = metadata_of(found).get("uid", "")
        orphans = ORPHAN in (metadata_of(found).get("finalizers") or [])
        while True:
            if not await self._handle_dependents(namespace, uid, orphans=orphans):
                break
            await asyncio.sleep(RETRY_SECONDS)

        def is_owner(old: Obj) -> bool:
            return metadata_of(old).get("uid") == uid and _is_held(old)

        await release(store, namespace, name, (ORPHAN, FOREGROUND), is_owner)

    async def _handle_dependents(self, namespace: str, uid: str, *, orphans: bool) -> bool:
        """Orphan or delete each dependent; True if one of them still blocks its owner's deletion."""
        blocked = False
        for resource in starmap(builtin, DEPENDENTS):
            async for dependent in self._dependents(resource, namespace, uid):
                with ignoring_not_found():
                    if orphans:
                        change = partial(_without_owner, uid)
                        await self._server.cacher(resource).store.update(namespace, dependent.name, change)
                    else:
                        options = DeleteOptions(policy="Background")
                        gone, _ = await delete(self._server, resource, namespace, dependent.name, options)
                        blocked = blocked or not gone
        return blocked

    async def _dependents(self, resource: Resource, namespace: str, uid: str) -> AsyncIterator[StoredObject]:
        request = ListRequest(namespace, None, ListOptions(), EVERYTHING)
        cacher = self._server.cacher(resource)
        await cacher.ready()
        slices, text = Slices(), uid.encode()
        for stored in (await cacher.list(request)).objects:
            if text in stored.raw:  # few of the namespace's objects have to be decoded
                references = metadata_of(json.loads(stored.full_json())).get("ownerReferences") or []
                if any(reference.get("uid") == uid for reference in references):
                    yield stored
            await slices.yield_if_due()


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
