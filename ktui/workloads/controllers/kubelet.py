"""A kubelet: runs the pods of its node, and removes pods that are being deleted."""

from __future__ import annotations

import time

from ktui.workloads.behaviours.object_informer import Obj
from ktui.workloads.controllers.controller import PODS, Chain, Controller, is_deleting, version_of
from ktui.workloads.demo.objects import timestamp
from ktui.workloads.running.users import LoadUser

CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
START_SECONDS = 0.2  # until a container runs, or has ended


class NodeKubelet(Controller):
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
        await self.patch(f"{PODS}/{name}/status", {"status": _running(pod)}, "report Pod Running", cause)

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
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for container in pod["spec"]["containers"]
    ]
    return {
        "phase": "Running",
        "startTime": now,
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in CONDITIONS],
        "containerStatuses": containers,
    }
