"""The eviction subresource of pods: delete a pod as its disruption budgets allow."""

from __future__ import annotations

from typing import Any

from ktui.apiserver.answer import send_other
from ktui.apiserver.call import Call
from ktui.apiserver.server import Server
from ktui.kube.resources import Resource
from ktui.writes import request_body
from ktui.writes.bindings import CREATED
from ktui.writes.delete import delete
from ktui.writes.metadata.objectmeta import timestamp
from ktui.writes.options import DeleteOptions


async def evict(server: Server, call: Call, resource: Resource) -> None:
    """POST pods/NAME/eviction: a deletion (disruption budgets are not kept here)."""
    form, body = await request_body.begin(server, call, resource)
    eviction = request_body.sent_document(server, call, body, "policy/v1", "Eviction") if body else {}
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
