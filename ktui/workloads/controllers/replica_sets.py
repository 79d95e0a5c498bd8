"""The ReplicaSet controller: keeps as many pods as the spec has replicas.

Its own creations and deletions count before the informer reports them (upstream's expectations).
"""

from __future__ import annotations

from ktui.workloads.behaviours.object_informer import Obj
from ktui.workloads.controllers.controller import (
    PODS,
    REPLICA_SETS,
    Chain,
    Controller,
    is_deleting,
    owned_by,
    owner_of,
    version_of,
)
from ktui.workloads.running.users import LoadUser


class ReplicaSetController(Controller):
    AGENT = "kube-controller-manager/v1.36.2 replicaset-controller"
    USER = LoadUser("system:serviceaccount:kube-system:replicaset-controller")
    COMPONENT = "replicaset-controller"

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain)
        self._sets = self.informer(REPLICA_SETS)
        self._pods = self.informer(PODS)
        self._created: dict[str, Obj] = {}  # by name, until the informer has received them
        self._deleted: set[str] = set()
        self._sets.handlers.append(lambda _, obj: self.enqueue(obj["metadata"]["name"], version_of(obj)))
        self._pods.handlers.append(self._pod_changed)

    def _pod_changed(self, type_: str, pod: Obj) -> None:
        name = pod["metadata"]["name"]
        self._created.pop(name, None)
        if type_ == "DELETED" or is_deleting(pod):
            self._deleted.discard(name)
        if owner := owner_of(pod).get("name"):
            self.enqueue(owner, version_of(pod))

    async def sync(self, name: str, cause: str) -> None:
        replica_set = self._sets.objects.get(name)
        if replica_set is None or is_deleting(replica_set):
            return
        pods = self._pods_of(replica_set)
        missing = int(replica_set["spec"]["replicas"]) - len(pods)
        for _ in range(missing):
            await self._create_pod(replica_set, cause)
        for pod in sorted(pods, key=_to_delete_first)[: max(0, -missing)]:
            await self._delete_pod(replica_set, pod, cause)
        await self._report(replica_set, cause)

    def _pods_of(self, replica_set: Obj) -> list[Obj]:
        uid = replica_set["metadata"]["uid"]
        known = {**self._created, **self._pods.objects}
        return [
            pod
            for name, pod in known.items()
            if owner_of(pod).get("uid") == uid and not is_deleting(pod) and name not in self._deleted
        ]

    async def _create_pod(self, replica_set: Obj, cause: str) -> None:
        template, name = replica_set["spec"]["template"], replica_set["metadata"]["name"]
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                **template["metadata"],
                "generateName": f"{name}-",
                "ownerReferences": owned_by(replica_set, "apps/v1", "ReplicaSet"),
            },
            "spec": template["spec"],
        }
        body["metadata"].pop("creationTimestamp", None)
        pod = await self.create(PODS, body, "create Pod", cause)
        made = pod["metadata"]["name"]
        if made not in self._pods.objects:
            self._created[made] = pod
        await self.record(replica_set, "ReplicaSet", "SuccessfulCreate", f"Created pod: {made}", cause)

    async def _delete_pod(self, replica_set: Obj, pod: Obj, cause: str) -> None:
        name = pod["metadata"]["name"]
        self._deleted.add(name)
        await self.delete(f"{PODS}/{name}", {}, "delete Pod", cause)
        await self.record(replica_set, "ReplicaSet", "SuccessfulDelete", f"Deleted pod: {name}", cause)

    async def _report(self, replica_set: Obj, cause: str) -> None:
        pods = self._pods_of(replica_set)
        ready = sum(is_ready(pod) for pod in pods)
        labelled = {"replicas": len(pods), "fullyLabeledReplicas": len(pods)}
        count = {**labelled, "readyReplicas": ready, "availableReplicas": ready}
        status = {key: value for key, value in count.items() if value or key == "replicas"}
        await self.report(REPLICA_SETS, replica_set, status, "update ReplicaSet status", cause)


def is_ready(pod: Obj) -> bool:
    conditions: list[Obj] = (pod.get("status") or {}).get("conditions") or []
    return any(found["type"] == "Ready" and found["status"] == "True" for found in conditions)


def _to_delete_first(pod: Obj) -> tuple[bool, bool, str]:
    """Return the sort key for deletions: pods without a node first, then those that are not ready
    (ActivePodsWithRanks)."""
    return bool(pod["spec"].get("nodeName")), is_ready(pod), str(pod["metadata"]["name"])
