"""`--audit-log-path`: an Event for each stage of the requests that the policy selects (filters/audit.go)."""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from ktui.apiserver.call import LONG_QUERY, UNKNOWN, Call
from ktui.apiserver.chain import LoggedObjects
from ktui.apiserver.http.request import Request
from ktui.apiserver.negotiation import whole_form
from ktui.kube.golang.times import format_duration
from ktui.kube.json_trees import copied
from ktui.kube.requestinfo import RequestAttributes
from ktui.requestlogs.audit_policy import AuditPolicy
from ktui.requestlogs.log_writer import LogWriter

SLOW_MS = 500.0
"""Requests that take longer are annotated with their latencies."""
MAX_USER_AGENT = 1024

# kube-apiserver 1.36, pkg/endpoints/request/webhook_duration.go: annotation, first minor that writes it,
# phases of the meter that it adds up. Serializing includes writing.
_LATENCIES = (
    ("apf-queue-wait", 31, ("flow control",)),
    ("authentication", 33, ("authentication",)),
    ("authorization", 33, ("authorization",)),
    ("decode-response-object", 30, ("decode",)),
    ("etcd", 0, ("etcd",)),
    ("impersonation", 36, ("impersonation",)),
    ("response-write", 0, ("send",)),
    ("serialize-response-object", 0, ("encode", "send")),
)


class Reference(msgspec.Struct, rename="camel", omit_defaults=True):
    resource: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_group: str = ""
    api_version: str = ""
    resource_version: str = ""
    subresource: str = ""


class AuditEvent(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """An audit Event. Its fields are in upstream's order, with which readers skip lines quickly."""

    kind: str
    api_version: str
    level: str
    audit_id: str = msgspec.field(name="auditID")
    stage: str
    request_uri: str = msgspec.field(name="requestURI")
    verb: str
    user: dict[str, Any]
    impersonated_user: dict[str, Any] | None = None
    authentication_metadata: dict[str, str] | None = None
    source_ips: list[str] = msgspec.field(name="sourceIPs", default_factory=list)
    user_agent: str = ""
    object_ref: Reference | None = None
    response_status: dict[str, Any] | None = None
    request_object: Any = None
    response_object: Any = None
    request_received_timestamp: str
    stage_timestamp: str
    annotations: dict[str, str] = {}


def event_of(
    call: Call, asked: RequestAttributes, level: str, stage: str, now: float, minor: int
) -> AuditEvent:
    """Return the Event of a stage at `now` (Unix seconds), annotated as by kube-apiserver 1.`minor`."""
    first = stage == "RequestReceived"
    received = micro_time(call.received)
    who = call.authenticated or UNKNOWN
    return AuditEvent(
        kind="Event",
        api_version="audit.k8s.io/v1",
        level=level,
        audit_id=call.audit_id,
        stage=stage,
        request_uri=call.request.uri,
        verb=asked.verb,
        user=who.document(),
        impersonated_user=None if call.who in (UNKNOWN, who) else call.who.document(),
        authentication_metadata={"impersonationConstraint": call.constraint} if call.constraint else None,
        source_ips=source_ips(call.request),
        user_agent=_cut(call.request.user_agent),
        object_ref=None if asked.path else _reference(call, asked),
        response_status=None if first else _status(call),
        request_received_timestamp=received,
        stage_timestamp=received if first else micro_time(now),
        annotations={} if first else _annotations(call, stage, now, minor),
    )


def micro_time(moment: float) -> str:
    """Return a time (Unix seconds) as metav1.MicroTime: `2026-11-22T10:04:05.123456Z`."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def source_ips(request: Request) -> list[str]:
    """Return forwarded addresses, then the client's own (upstream: utilnet.SourceIPs)."""
    found = [ip for part in request.headers.get("x-forwarded-for", "").split(",") if (ip := _ip(part))]
    real, own = _ip(request.headers.get("x-real-ip", "")), _ip(request.peer.rpartition(":")[0].strip("[]"))
    if real and real not in found:
        found.append(real)
    if own and found[-1:] != [own]:
        found.append(own)
    return found


def _ip(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError:
        return ""


def _cut(agent: str) -> str:
    return agent if len(agent) <= MAX_USER_AGENT else f"{agent[:MAX_USER_AGENT]}...TRUNCATED"


def _reference(call: Call, asked: RequestAttributes) -> Reference:
    """Return the object's reference, from the URL or else from the metadata that the client sent."""
    name, uid, rv = (str(call.sent.get(member) or "") for member in ("name", "uid", "resourceVersion"))
    what, version = (asked.resource, asked.namespace, asked.name or name), (asked.group, asked.version)
    return Reference(*what, uid, *version, rv, asked.subresource)


STATUS_MEMBERS = ("status", "message", "reason", "details")


def _status(call: Call) -> dict[str, Any]:
    if call.panicked:
        message = f"APIServer panic'd: {call.panicked}"
        panicked = {"status": "Failure", "message": message, "reason": "InternalError"}
        return {"metadata": {}, **panicked, "code": 500}
    sent: dict[str, Any] = _sent_status(call) or {}
    if not sent and call.authenticated is None and call.response.status == 401:
        sent = {"message": _attempted(call.request)}
    if not call.response.started:
        sent = {"status": "Success", "message": "Connection closed early"}
    kept: dict[str, Any] = {name: sent[name] for name in STATUS_MEMBERS if name in sent}
    return {"metadata": {}, **kept, "code": call.response.status or 200}


def _sent_status(call: Call) -> dict[str, Any] | None:
    """The Status in the response; upstream logs no error that was sent in a form which the client refuses."""
    refused = call.response.status >= 400 and whole_form(call.request.accept) is None
    return None if refused else call.status


def _attempted(request: Request) -> str:
    scheme, space, _ = request.headers.get("authorization", "").strip().partition(" ")
    known = space and scheme.lower() in ("basic", "bearer")
    return f"Authentication failed, {f'attempted: {scheme.lower()}' if known else 'no credentials provided'}"


def _annotations(call: Call, stage: str, now: float, minor: int) -> dict[str, str]:
    total_ms = (now - call.received) * 1000.0
    slow = stage == "ResponseComplete" and total_ms > SLOW_MS
    found = dict(_latencies(call, total_ms, minor)) if slow else {}
    if call.decision is not None:
        found["authorization.k8s.io/decision"] = "allow" if call.decision.allowed else "forbid"
        found["authorization.k8s.io/reason"] = call.decision.reason
    if call.issued and minor >= ISSUED_SINCE:
        found["authentication.kubernetes.io/issued-credential-id"] = call.issued
    return found


def _latencies(call: Call, total_ms: float, minor: int) -> Iterator[tuple[str, str]]:
    spent = call.meter.phases | {stage.stage: stage.ms for stage in call.stages}
    for name, since, phases in _LATENCIES:
        ms = sum(spent.get(phase, 0.0) for phase in phases)
        if minor >= since and ms > 0:
            yield f"apiserver.latency.k8s.io/{name}", format_duration(ms / 1000.0)
    yield "apiserver.latency.k8s.io/total", format_duration(total_ms / 1000.0)


ISSUED_SINCE = 30  # ServiceAccountTokenJTI
TRUNCATED = "audit.k8s.io/truncated"
WITH_REQUEST, WITH_RESPONSE = ("Request", "RequestResponse"), "RequestResponse"


def keep_objects(call: Call, level: str) -> None:
    """Let the server keep what an Event of this level has."""
    if level in WITH_REQUEST:
        call.objects = LoggedObjects(responds=level == WITH_RESPONSE)


def with_objects(event: AuditEvent, call: Call, *, unmanaged: bool) -> AuditEvent:
    """Add the objects that were kept as requestObject and responseObject, `unmanaged` without managedFields.

    The responseObject of an error is its Status. Called by the thread that writes the log. Upstream:
    audit/request.go, LogRequestObject and LogResponseObject.
    """
    objects = call.objects
    if objects is None or event.stage == "RequestReceived":
        return event
    event.request_object = _without(copied(objects.request), unmanaged=unmanaged)
    if objects.responds:
        sent = objects.response if event.stage != "ResponseStarted" else None
        tree = _sent_status(call) if sent is None else msgspec.json.decode(sent)
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
        keep_objects(call, self._policy.decide(call.authenticated, call.attributes).level)
        self._write(call, "RequestReceived")

    def response_started(self, call: Call) -> None:
        if call.authenticated is not None:
            call.logged_start = True
            self._write(call, "ResponseStarted")

    async def finished(self, call: Call) -> None:
        """Write the last Event, which is the only one of a request whose authentication failed."""
        if call.authenticated is None:
            keep_objects(call, self._policy.decide(None, call.attributes).level)
            self._write(call, "ResponseStarted")
        else:
            long_running = call.verb == "WATCH" or call.info.long_running
            if long_running and not call.logged_start and call.response.started:
                self._write(call, "ResponseStarted")
            self._write(call, "Panic" if call.panicked else "ResponseComplete")
        await self._writer.wait_for_room()

    def _write(self, call: Call, stage: str) -> None:
        audited = self._policy.decide(call.authenticated, call.attributes)
        if audited.level == "None" or stage in audited.omitted:
            return
        asked = call.named_attributes if len(call.request.query) < LONG_QUERY else call.attributes
        event = event_of(call, asked, audited.level, stage, time.time(), self._minor)
        size = call.objects.size if call.objects is not None else 0
        self._writer.put(lambda: _line(with_objects(event, call, unmanaged=audited.unmanaged)), size)


def _line(event: AuditEvent) -> bytes:
    """Return an Event as JSON without C1 controls and DEL, which a terminal might obey."""
    return _CONTROLS.sub(lambda found: b"\\u00%02x" % found[0][-1], _encode(event)) + b"\n"
