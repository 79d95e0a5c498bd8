"""The scheduler: binds each pod to the node with the fewest pods of this run."""

from __future__ import annotations

from collections import Counter

from ktui.workloads.behaviours.object_informer import Obj
from ktui.workloads.controllers.controller import PODS, Chain, Controller, is_deleting, version_of
from ktui.workloads.running.users import LoadUser


class Scheduler(Controller):
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
        await self.create(f"{PODS}/{name}/binding", body, "bind Pod", cause)
        self._assumed[name] = node
        text = f"Successfully assigned default/{name} to {node}"
        await self.record(pod, "Pod", "Scheduled", text, cause)
