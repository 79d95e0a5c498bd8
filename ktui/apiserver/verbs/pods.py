"""Subresources of pods that act: binding and eviction."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.objects.admission import copy_topology
from ktui.apiserver.objects.metadata import timestamp
from ktui.apiserver.objects.options import DeleteOptions
from ktui.apiserver.server import Server
from ktui.apiserver.verbs import writing
from ktui.apiserver.verbs.create import find_node
from ktui.apiserver.verbs.delete import delete
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError, bare_error

CREATED = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(server: Server, call: Call, resource: Resource) -> None:
    """POST pods/NAME/binding: the scheduler's word on which node runs the pod."""
    form, body = await writing.begin(server, call, resource)
    binding = writing.sent_document(server, call, body, "v1", "Binding") if body else {}
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


async def evict(server: Server, call: Call, resource: Resource) -> None:
    """POST pods/NAME/eviction: a deletion (disruption budgets are not kept here)."""
    form, body = await writing.begin(server, call, resource)
    eviction = writing.sent_document(server, call, body, "policy/v1", "Eviction") if body else {}
    wanted = eviction.get("deleteOptions") or {}
    options = DeleteOptions(
        dry_run=bool(wanted.get("dryRun")), grace_seconds=wanted.get("gracePeriodSeconds")
    )
    call.writes()
    if not options.dry_run:
        store = server.cacher(resource).store
        await store.update(call.info.namespace, call.info.name, _disrupted)
    await delete(server, resource, call.info.namespace, call.info.name, options)
    await send_other(server, call, CREATED, form, 201)


def _disrupted(pod: dict[str, Any]) -> dict[str, Any]:
    """The pod with the condition that tells why it goes."""
    status = pod.setdefault("status", {})
    others = [c for c in status.get("conditions") or [] if c.get("type") != "DisruptionTarget"]
    target = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastTransitionTime": timestamp(),
    }
    status["conditions"] = [*others, target]
    return pod


def _already_assigned(name: str, node: str) -> StatusError:
    message = (
        f'Operation cannot be fulfilled on pods/binding "{name}": '
        f'pod {name} is already assigned to node "{node}"'
    )
    return StatusError(409, "Conflict", message, {"name": name, "kind": "pods/binding"})
