"""Logs of clouds whose records are not audit Events as kube-apiserver writes them: AKS and GKE.

AKS: rows of the Log Analytics table AKSAudit are audit Events whose fields are columns.

GKE: a LogEntry of Cloud Audit Logs is made from an audit Event, without the query string of its URI. So
resourceVersion, limit, continue and selectors are unknown, and a LIST may have several possible routes.
Reads are in the `data_access` log, which is off by default; `activity` has only writes.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import msgspec

from ktui.audit.formats.log_record import LoggedRequest, Malformed, Skip, Skips, decoded, since_epoch
from ktui.kube.resources import BUILTIN

_FIELDS = {
    "AuditId": "auditID", "Stage": "stage", "Verb": "verb", "RequestUri": "requestURI",
    "UserAgent": "userAgent", "RequestReceivedTime": "requestReceivedTimestamp",
    "StageReceivedTime": "stageTimestamp",
}  # fmt: skip
# The portal exports times in the browser's language: `11/22/2026, 3:04:05 PM`, `22.11.2026, 15:04:05,123`.
_LOCAL = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})[./-](\d{1,4}),?\s+"
    r"(\d{1,2}):(\d\d):(\d\d)([.,]\d{1,9})?(?:\s*([AaPp])\.?[Mm]\.?)?"
)
_OBJECTS = {"User": "user", "ResponseStatus": "responseStatus", "Annotations": "annotations"}
_decode = msgspec.json.decode
_encode = msgspec.json.encode


def is_aks_row(fields: dict[str, msgspec.Raw]) -> bool:
    return "AuditId" in fields and "RequestUri" in fields


def aks_event(fields: dict[str, msgspec.Raw]) -> bytes:
    """Return the audit Event of a row as JSON; dynamic columns are objects or, in CSV, JSON as text."""
    found: dict[str, object] = {}
    for column, name in _FIELDS.items():
        if column in fields:
            found[name] = _moment(fields[column]) if name.endswith("Timestamp") else fields[column]
    if "stageTimestamp" not in found and "TimeGenerated" in fields:
        found["stageTimestamp"] = _moment(fields["TimeGenerated"])
    for column, name in _OBJECTS.items():
        if column in fields and (value := _object(fields[column])) is not None:
            found[name] = value
    return _encode(found)


def _moment(raw: msgspec.Raw) -> object:
    """Return a time as RFC 3339 (UTC); other texts unchanged."""
    try:
        text = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return raw
    found = _LOCAL.fullmatch(text.strip().rstrip("Z")) if isinstance(text, str) else None
    if found is None:
        return text
    first, sign, second, third = int(found[1]), found[2], int(found[3]), int(found[4])
    half = (found[9] or "").lower()
    if first > 31:
        year, month, day = first, second, third
    elif sign == "/" and (second > 12 or (half and first <= 12)):  # a clock of twelve hours: the month first
        year, month, day = third, first, second
    else:
        year, month, day = third, second, first
    hour = int(found[5]) % 12 + 12 * (half == "p") if half else int(found[5])
    fraction = (found[8] or "").replace(",", ".")
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{found[6]}:{found[7]}{fraction}Z"


def _object(raw: msgspec.Raw) -> object:
    try:
        value = _decode(raw)
        value = _decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_HTTP = {
    0: 200, 1: 499, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 13: 500, 14: 503,
    16: 401,
}  # fmt: skip
_READS = ("get", "list", "watch")
_GROUPS = {group.removesuffix(".k8s.io"): group for group in {resource.group for resource in BUILTIN.all()}}
SERVICE = "k8s.io"


class _Caller(msgspec.Struct, gc=False, rename="camel"):
    principal_email: str = ""


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    caller_supplied_user_agent: str = ""


class _Status(msgspec.Struct, gc=False):
    code: int = 0


class _Payload(msgspec.Struct, gc=False, rename="camel"):
    method_name: str
    resource_name: str = ""
    service_name: str = SERVICE
    authentication_info: _Caller = msgspec.field(default_factory=_Caller)
    request_metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    status: _Status = msgspec.field(default_factory=_Status)


class _Operation(msgspec.Struct, gc=False):
    id: str = ""
    first: bool = False
    last: bool = False


class _Entry(msgspec.Struct, gc=False, rename="camel"):
    timestamp: datetime
    proto_payload: _Payload | None = None
    flattened: _Payload | None = msgspec.field(name="protopayload_auditlog", default=None)  # BigQuery
    operation: _Operation | None = None
    insert_id: str = ""


_decode_entry = msgspec.json.Decoder(_Entry).decode


def is_gke_entry(fields: dict[str, Any]) -> bool:
    """True if the fields of a JSON object are those of a LogEntry with an audit payload."""
    return "protoPayload" in fields or "protopayload_auditlog" in fields


def read_gke(line: bytes, *, writes: bool = False) -> LoggedRequest | Skip:
    """Return the request of a LogEntry, without query string and duration. Raises Malformed."""
    entry = decoded(_decode_entry, line, "a LogEntry of Cloud Audit Logs")
    payload = entry.proto_payload or entry.flattened
    if payload is None:
        raise Malformed("not a LogEntry of Cloud Audit Logs: protoPayload is empty")
    verb = payload.method_name.rpartition(".")[2]
    if payload.service_name not in (SERVICE, "") or (verb not in _READS and not writes):
        return Skips.WRITES
    operation = entry.operation or _Operation(entry.insert_id, first=True, last=True)
    started = operation.first and not operation.last
    if started and verb != "watch":
        return Skips.EARLY
    # `apps/v1/namespaces/shop/deployments/web` is `/apis/apps/v1/…`
    group, _, rest = payload.resource_name.partition("/")
    path = f"/api/{rest}" if group in ("core", "") else f"/apis/{_GROUPS.get(group, group)}/{rest}"
    return LoggedRequest(
        verb=verb, uri=path + ("?watch=true" if verb == "watch" else ""),
        agent=payload.request_metadata.caller_supplied_user_agent,
        user=payload.authentication_info.principal_email, at=since_epoch(entry.timestamp), took=-1,
        code=_HTTP.get(payload.status.code, -1), done=not started, id=operation.id or entry.insert_id,
        query=False,
    )  # fmt: skip
