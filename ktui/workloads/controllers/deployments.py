"""The controllers of ReplicaSets and Deployments: a ReplicaSet per template, and rolling updates.

As upstream's: old ReplicaSets shrink as far as the new one has available pods, and the new one grows as far
as maxSurge allows. Not implemented: rollbacks, pauses, conditions, the history's limit.
"""

from __future__ import annotations

import hashlib
import math
from typing import NamedTuple

import msgspec

from ktui.kube.json_trees import Obj
from ktui.workloads.controllers.controller import (
    DEPLOYMENTS,
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
    """Keeps as many pods as the spec has replicas.

    Its own creations and deletions count before the informer reports them (upstream's expectations).
    """

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
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                **template["metadata"], "generateName": f"{name}-",
                "ownerReferences": owned_by(replica_set, "ReplicaSet"),
            },
            "spec": template["spec"],
        }  # fmt: skip
        body["metadata"].pop("creationTimestamp", None)
        pod = await self.send("POST", PODS, body, "create Pod", cause)
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
    """The order of deletions: pods without a node, then those that are not ready (ActivePodsWithRanks)."""
    return bool(pod["spec"].get("nodeName")), is_ready(pod), str(pod["metadata"]["name"])


HASH = "pod-template-hash"


class RollingUpdate(NamedTuple):
    """The sizes of a Deployment's ReplicaSets, and its limits in pods."""

    wanted: int
    surge: int
    unavailable: int

    def new_size(self, new: int, everything: int) -> int:
        """Return the new ReplicaSet's size, of `new` pods now and `everything` of all (NewRSNewReplicas)."""
        if new >= self.wanted:
            return self.wanted
        return new + max(0, min(self.wanted + self.surge - everything, self.wanted - new))

    def to_remove(self, everything: int, new: int, new_available: int) -> int:
        """Return the number of pods that the old ReplicaSets may lose now (reconcileOldReplicaSets)."""
        return max(0, everything - (self.wanted - self.unavailable) - (new - new_available))


class DeploymentController(Controller):
    AGENT = "kube-controller-manager/v1.36.2 deployment-controller"
    USER = LoadUser("system:serviceaccount:kube-system:deployment-controller")
    COMPONENT = "deployment-controller"

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain)
        self._deployments = self.informer(DEPLOYMENTS)
        self._sets = self.informer(REPLICA_SETS)
        self._created: dict[str, Obj] = {}  # by name: ReplicaSets that the informer has not received yet
        self._deployments.handlers.append(
            lambda _, obj: self.enqueue(obj["metadata"]["name"], version_of(obj))
        )
        self._sets.handlers.append(self._set_changed)

    def _set_changed(self, _: str, replica_set: Obj) -> None:
        self._created.pop(replica_set["metadata"]["name"], None)
        if owner := owner_of(replica_set).get("name"):
            self.enqueue(owner, version_of(replica_set))

    async def sync(self, name: str, cause: str) -> None:
        deployment = self._deployments.objects.get(name)
        if deployment is None or is_deleting(deployment):
            return
        uid = deployment["metadata"]["uid"]
        known = {**self._created, **self._sets.objects}
        own = [found for found in known.values() if owner_of(found).get("uid") == uid]
        limits = rolling_update(deployment)
        digest = template_hash(deployment)
        new = next((found for found in own if found["metadata"]["labels"].get(HASH) == digest), None)
        old = [found for found in own if found is not new]
        if new is None:
            await self._create_set(deployment, digest, limits.new_size(0, _total(own)), cause)
            return
        if (size := limits.new_size(_size(new), _total(own))) != _size(new):
            await self._resize(deployment, new, size, cause)
        elif old:
            available = int((new.get("status") or {}).get("availableReplicas", 0))
            most = limits.to_remove(_total(own), _size(new), available)
            await self._shrink(deployment, old, most, cause)
        await self._report(deployment, new, own, cause)

    async def _create_set(self, deployment: Obj, digest: str, size: int, cause: str) -> None:
        spec, metadata = deployment["spec"], deployment["metadata"]
        template = spec["template"]
        labels = {**template["metadata"]["labels"], HASH: digest}
        body = {
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": f"{metadata['name']}-{digest}", "labels": labels,
                "ownerReferences": owned_by(deployment, "Deployment"),
            },
            "spec": {
                "replicas": size,
                "selector": {"matchLabels": {**spec["selector"]["matchLabels"], HASH: digest}},
                "template": {**template, "metadata": {**template["metadata"], "labels": labels}},
            },
        }  # fmt: skip
        made = await self.send("POST", REPLICA_SETS, body, "create ReplicaSet", cause)
        self._created[made["metadata"]["name"]] = made
        await self._scaled(deployment, made, 0, size, cause)

    async def _shrink(self, deployment: Obj, old: list[Obj], most: int, cause: str) -> None:
        """Remove `most` pods from the old ReplicaSets, the oldest first."""
        for replica_set in sorted(old, key=lambda found: str(found["metadata"]["creationTimestamp"])):
            less = min(most, _size(replica_set))
            if less:
                await self._resize(deployment, replica_set, _size(replica_set) - less, cause)
            most -= less

    async def _resize(self, deployment: Obj, replica_set: Obj, size: int, cause: str) -> None:
        before = _size(replica_set)
        body = {**replica_set, "spec": {**replica_set["spec"], "replicas": size}}
        name = replica_set["metadata"]["name"]
        await self.update(f"{REPLICA_SETS}/{name}", body, f"scale ReplicaSet {before} to {size}", cause)
        await self._scaled(deployment, replica_set, before, size, cause)

    async def _scaled(self, deployment: Obj, replica_set: Obj, before: int, after: int, cause: str) -> None:
        way = "up" if after > before else "down"
        text = f"Scaled {way} replica set {replica_set['metadata']['name']} from {before} to {after}"
        await self.record(deployment, "Deployment", "ScalingReplicaSet", text, cause)

    async def _report(self, deployment: Obj, new: Obj, own: list[Obj], cause: str) -> None:
        count = {
            key: sum(int((found.get("status") or {}).get(key, 0)) for found in own)
            for key in ("replicas", "readyReplicas", "availableReplicas")
        }
        count["updatedReplicas"] = int((new.get("status") or {}).get("replicas", 0))
        count["unavailableReplicas"] = max(0, _total(own) - count["availableReplicas"])
        status = {key: value for key, value in count.items() if value}
        await self.report(DEPLOYMENTS, deployment, status, "update Deployment status", cause)


def rolling_update(deployment: Obj) -> RollingUpdate:
    spec = deployment["spec"]
    wanted = int(spec["replicas"])
    limits = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = _share(limits.get("maxSurge", "25%"), wanted, up=True)
    unavailable = _share(limits.get("maxUnavailable", "25%"), wanted, up=False)
    return RollingUpdate(wanted, surge, unavailable if surge or unavailable else 1)


def _share(limit: int | str, wanted: int, *, up: bool) -> int:
    """Return `25%` as a number of the wanted pods, rounded up for maxSurge and down for maxUnavailable."""
    if isinstance(limit, int):
        return limit
    exact = wanted * int(limit.removesuffix("%")) / 100
    return math.ceil(exact) if up else math.floor(exact)


def template_hash(deployment: Obj) -> str:
    """Return a hash of the template; upstream uses another function."""
    content = msgspec.json.encode(deployment["spec"]["template"], order="sorted")
    return hashlib.sha256(content).hexdigest()[:10]


def _size(replica_set: Obj) -> int:
    return int(replica_set["spec"]["replicas"])


def _total(sets: list[Obj]) -> int:
    return sum(_size(found) for found in sets)
