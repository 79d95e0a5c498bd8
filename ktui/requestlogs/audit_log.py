"""`--audit-log-path`: write an Event for each stage of each request that the policy selects.

Upstream: endpoints/filters/audit.go.
"""

from __future__ import annotations

import re
import time
from typing import Any

import msgspec

from ktui.apiserver.call import Call
from ktui.apiserver.chain import LoggedObjects
from ktui.kube.json_trees import copied
from ktui.kube.requestinfo import RequestAttributes, attributes_of, rules_verb
from ktui.requestlogs.audit_events import AuditEvent, event_of
from ktui.requestlogs.audit_policy import AuditPolicy
from ktui.requestlogs.log_writer import LogWriter

# requestObject and responseObject of audit Events (levels Request and RequestResponse).
#
# Upstream: audit/request.go, LogRequestObject and LogResponseObject.

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


_CONTROLS = re.compile(rb"\xc2[\x80-\x9f]|\x7f")
_encode = msgspec.json.Encoder().encode


class AuditLog:
    """A RequestLog of kube-apiserver 1.`minor`."""

    kind = "audit"

    def __init__(self, writer: LogWriter, policy: AuditPolicy, minor: int) -> None:
        self._writer = writer
        self._policy = policy
        self._minor = minor

    @property
    def lost(self) -> int:
        return self._writer.lost

    async def received(self, call: Call) -> None:
        await self._writer.wait_for_room()
        keep_objects(call, self._policy.decide(call.authenticated, _attributes_of(call)).level)
        self._write(call, "RequestReceived")

    def response_started(self, call: Call) -> None:
        if call.authenticated is not None:
            self._write(call, "ResponseStarted")

    async def finished(self, call: Call) -> None:
        """Write the last Event, which is the only one of a request whose authentication failed."""
        if call.authenticated is None:
            self._write(call, "ResponseStarted")
        else:
            self._write(call, "Panic" if call.panicked else "ResponseComplete")
        await self._writer.wait_for_room()

    def _write(self, call: Call, stage: str) -> None:
        attributes = _attributes_of(call)
        audited = self._policy.decide(call.authenticated, attributes)
        if audited.level == "None" or stage in audited.omitted:
            return
        event = event_of(call, attributes, audited.level, stage, time.time(), self._minor)
        self._writer.put(
            lambda: _line(with_objects(event, call, unmanaged=audited.unmanaged)),
            call.objects.size if call.objects is not None else 0,
        )


def _line(event: AuditEvent) -> bytes:
    """Return an Event as JSON without C1 controls and DEL, which a terminal might obey."""
    return _CONTROLS.sub(lambda found: b"\\u00%02x" % found[0][-1], _encode(event)) + b"\n"


def _attributes_of(call: Call) -> RequestAttributes:
    return attributes_of(call.info, rules_verb(call.info, call.verb))
