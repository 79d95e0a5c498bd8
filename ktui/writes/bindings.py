"""The binding subresource of pods: assign a pod to a node."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bare_error
from ktui.writes import request_body
from ktui.writes.admission.pods import copy_topology
from ktui.writes.create import find_node
from ktui.writes.metadata.objectmeta import timestamp

CREATED = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(server: Server, call: Call, resource: Resource) -> None:
    """POST pods/NAME/binding: the scheduler's word on which node runs the pod."""
    form, body = await request_body.begin(server, call, resource)
    binding = request_body.sent_document(server, call, body, "v1", "Binding") if body else {}
    target = binding.get("target") or {}
    if target.get("kind") not in (None, "", "Node"):
        raise bare_error(
            f'target.kind: Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"'
        )
    node_name = target.get("name")
    if not node_name:
        raise bare_error("target.name: Required value")
    node = await find_node(server, node_name)

    def assign(pod: dict[str, Any]) -> dict[str, Any]:
        spec = pod.setdefault("spec", {})
        if spec.get("nodeName"):
            raise _already_assigned(call.info.name, spec["nodeName"])
        spec["nodeName"] = node_name
        conditions = pod.setdefault("status", {}).setdefault("conditions", [])
        scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp()}
        pod["status"]["conditions"] = [c for c in conditions if c.get("type") != "PodScheduled"] + [scheduled]
        if node is not None:
            copy_topology(pod, node, call.behaviour.minor)
        return pod

    call.writes()
    await server.cacher(resource).store.update(call.info.namespace, call.info.name, assign)
    await send_other(server, call, CREATED, form, 201)


def _already_assigned(name: str, node: str) -> StatusError:
    message = (
        f'Operation cannot be fulfilled on pods/binding "{name}": '
        f'pod {name} is already assigned to node "{node}"'
    )
    return StatusError(409, "Conflict", message, {"name": name, "kind": "pods/binding"})
