"""requestObject and responseObject of audit Events (levels Request and RequestResponse).

Upstream: audit/request.go, LogRequestObject and LogResponseObject.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ktui.apiserver.call import Call
from ktui.apiserver.chain import LoggedObjects
from ktui.kube.json_trees import copied
from ktui.requestlogs.audit_events import AuditEvent

TRUNCATED = "audit.k8s.io/truncated"
WITH_REQUEST, WITH_RESPONSE = ("Request", "RequestResponse"), "RequestResponse"


def keep_objects(call: Call, level: str) -> None:
    """Let the server keep what an Event of this level has."""
    if level in WITH_REQUEST:
        call.objects = LoggedObjects(responds=level == WITH_RESPONSE)


def with_objects(event: AuditEvent, call: Call, *, unmanaged: bool) -> AuditEvent:
    """Add the objects that were kept, `unmanaged` without their managedFields.

    An error is answered with its Status. Called by the thread that writes the log.
    """
    objects = call.objects
    if objects is None or event.stage == "RequestReceived":
        return event
    event.request_object = _without(copied(objects.request), unmanaged=unmanaged)
    if objects.responds and event.stage != "ResponseStarted":
        sent = objects.response
        tree = call.status if sent is None else msgspec.json.decode(sent)
        event.response_object = _without(tree, unmanaged=unmanaged)
    if objects.truncated:
        event.annotations = {**event.annotations, TRUNCATED: "true"}
    return event


def _without(tree: Any, *, unmanaged: bool) -> Any:
    """The object, the items of a list, or the objects of a Table's rows without managedFields."""
    if not unmanaged or not isinstance(tree, dict):
        return tree
    rows = [row.get("object") for row in tree.get("rows") or [] if isinstance(row, dict)]
    items = tree.get("items")
    for obj in (tree, *rows, *(items if isinstance(items, list) else ())):
        metadata = obj.get("metadata") if isinstance(obj, dict) else None
        if isinstance(metadata, dict):
            metadata.pop("managedFields", None)
    return tree
