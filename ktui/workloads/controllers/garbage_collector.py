"""The garbage collector: deletes objects in the background after their owner was deleted.

As upstream's: an owner whose deletion the informer reports is read once more before its dependents are
deleted.
"""

from __future__ import annotations

from functools import partial

from ktui.workloads.behaviours.object_informer import Obj
from ktui.workloads.controllers.controller import (
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    Chain,
    Controller,
    is_deleting,
    owner_of,
    version_of,
)
from ktui.workloads.running.users import LoadUser

OWNERS = {"Deployment": DEPLOYMENTS, "ReplicaSet": REPLICA_SETS}


class GarbageCollector(Controller):
    AGENT = "kube-controller-manager/v1.36.2 generic-garbage-collector"
    USER = LoadUser("system:serviceaccount:kube-system:generic-garbage-collector")
    COMPONENT = "garbage-collector"

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain)
        self._known = {path: self.informer(path) for path in (DEPLOYMENTS, REPLICA_SETS, PODS)}
        self._gone: dict[str, str] = {}  # uid of an owner → resourceVersion of its deletion
        for path, informer in self._known.items():
            informer.handlers.append(partial(self._changed, path))

    def _changed(self, path: str, type_: str, obj: Obj) -> None:
        if type_ != "DELETED":
            if cause := self._gone.get(owner_of(obj).get("uid", "")):
                self.enqueue(f"{path}/{obj['metadata']['name']}", cause)
            return
        uid = obj["metadata"]["uid"]
        self._gone[uid] = version_of(obj)
        for collection, informer in self._known.items():
            for name, dependent in informer.objects.items():
                if owner_of(dependent).get("uid") == uid:
                    self.enqueue(f"{collection}/{name}", version_of(obj))

    async def sync(self, name: str, cause: str) -> None:
        collection, _, own_name = name.rpartition("/")
        dependent = self._known[collection].objects.get(own_name)
        if dependent is None or is_deleting(dependent):
            return
        reference = owner_of(dependent)
        path = f"{OWNERS[reference['kind']]}/{reference['name']}"
        owner = await self.read(path, f"look up {reference['kind']}", cause)
        if owner is not None and owner["metadata"]["uid"] == reference["uid"]:
            return
        options = {
            "preconditions": {"uid": dependent["metadata"]["uid"]},
            "propagationPolicy": "Background",
        }
        await self.delete(name, options, f"delete {_kind(collection)}", cause)


def _kind(collection: str) -> str:
    return next((kind for kind, path in OWNERS.items() if path == collection), "Pod")
