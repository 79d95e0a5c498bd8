"""Small controllers, each with one kind of write: the scheduler, a kubelet, the garbage collector."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial

from ktui.kube.json_trees import Obj
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
from ktui.workloads.demo.pods import CONDITIONS, timestamp
from ktui.workloads.running.users import LoadUser


class Scheduler(Controller):
    """Binds each pod to the node with the fewest pods of this run."""

    AGENT = "kube-scheduler/v1.36.2 scheduler"
    USER = LoadUser("system:kube-scheduler")
    COMPONENT = "default-scheduler"

    def __init__(self, chain: Chain, nodes: tuple[str, ...]) -> None:
        super().__init__(chain)
        self._nodes = nodes
        self._pods = self.informer(PODS)
        self._assumed: dict[str, str] = {}  # pod → node, until the informer has received the binding
        self._pods.handlers.append(self._pod_changed)

    def _pod_changed(self, type_: str, pod: Obj) -> None:
        name = pod["metadata"]["name"]
        if type_ == "DELETED" or pod["spec"].get("nodeName"):
            self._assumed.pop(name, None)
        elif name not in self._assumed:
            self.enqueue(name, version_of(pod))

    async def sync(self, name: str, cause: str) -> None:
        pod = self._pods.objects.get(name)
        if pod is None or is_deleting(pod) or pod["spec"].get("nodeName") or name in self._assumed:
            return
        taken = Counter(self._assumed.values())
        taken.update(found["spec"].get("nodeName", "") for found in self._pods.objects.values())
        node = min(self._nodes, key=lambda node: taken[node])
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": "default", "uid": pod["metadata"]["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        await self.send("POST", f"{PODS}/{name}/binding", body, "bind Pod", cause)
        self._assumed[name] = node
        text = f"Successfully assigned default/{name} to {node}"
        await self.record(pod, "Pod", "Scheduled", text, cause)


START_SECONDS = 0.2  # until a container runs, or has ended


class NodeKubelet(Controller):
    """Runs the pods of one node: reports each as Running, and removes it when it is deleted."""

    AGENT = "kubelet/v1.36.2"
    COMPONENT = "kubelet"

    def __init__(self, chain: Chain, node: str) -> None:
        super().__init__(chain, LoadUser(f"system:node:{node}", "system:nodes"))
        self._pods = self.informer(PODS, f"&fieldSelector=spec.nodeName%3D{node}")
        self._seen: dict[str, str] = {}  # uid → the last action that was begun for the pod
        self._pods.handlers.append(self._pod_changed)

    def _pod_changed(self, type_: str, pod: Obj) -> None:
        uid, doing = pod["metadata"]["uid"], "end" if is_deleting(pod) else "start"
        if type_ == "DELETED":
            self._seen.pop(uid, None)
        elif self._seen.get(uid) != doing:
            self._seen[uid] = doing
            self.enqueue_after(START_SECONDS, pod["metadata"]["name"], version_of(pod))

    async def sync(self, name: str, cause: str) -> None:
        pod = self._pods.objects.get(name)
        if pod is None:
            return
        if is_deleting(pod):
            await self._end(pod, cause)
        elif (pod.get("status") or {}).get("phase") != "Running":
            await self._start(pod, cause)

    async def _start(self, pod: Obj, cause: str) -> None:
        name = pod["metadata"]["name"]
        for reason in ("Pulled", "Created", "Started"):
            await self.record(pod, "Pod", reason, f"{reason} container main", cause)
        status = {"status": _running(pod)}
        await self.send("PATCH", f"{PODS}/{name}/status", status, "report Pod Running", cause)

    async def _end(self, pod: Obj, cause: str) -> None:
        """Delete the pod without a grace period once all its containers have ended."""
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        await self.record(pod, "Pod", "Killing", "Stopping container main", cause)
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}}
        await self.delete(f"{PODS}/{name}", options, "remove Pod", cause)


def _running(pod: Obj) -> Obj:
    now = timestamp(time.time())
    containers = [
        {
            "name": container["name"], "image": container["image"], "imageID": "", "ready": True,
            "started": True, "restartCount": 0, "state": {"running": {"startedAt": now}},
        }
        for container in pod["spec"]["containers"]
    ]  # fmt: skip
    return {
        "phase": "Running",
        "startTime": now,
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in CONDITIONS],
        "containerStatuses": containers,
    }


OWNERS = {"Deployment": DEPLOYMENTS, "ReplicaSet": REPLICA_SETS}


class GarbageCollector(Controller):
    """Deletes objects in the background after their owner was deleted.

    As upstream's: an owner whose deletion the informer reports is read once more before its dependents are
    deleted.
    """

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
