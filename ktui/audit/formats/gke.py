"""GKE's Cloud Audit Logs: a LogEntry made from an audit Event, without the query string of its URI.

So resourceVersion, limit, continue and selectors are unknown, and a LIST may have several possible routes.
Reads are in the `data_access` log, which is off by default; `activity` has only writes.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from ktui.audit.formats.go_formats import since_epoch
from ktui.audit.formats.record import EARLY, WRITES, LoggedRequest, Malformed, Skip, decoded
from ktui.kube.resources import BUILTIN

_HTTP = {
    0: 200, 1: 499, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 13: 500, 14: 503,
    16: 401,
}  # fmt: skip
_READS = frozenset(("get", "list", "watch"))
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


_decode = msgspec.json.Decoder(_Entry).decode


def is_entry(fields: dict[str, Any]) -> bool:
    """True if the fields of a JSON object are those of a LogEntry with an audit payload."""
    return "protoPayload" in fields or "protopayload_auditlog" in fields


def read(line: bytes, *, writes: bool = False) -> LoggedRequest | Skip:
    """Return the request of a LogEntry, without query string and duration. Raises Malformed."""
    entry = decoded(_decode, line, "a LogEntry of Cloud Audit Logs")
    payload = entry.proto_payload or entry.flattened
    if payload is None:
        raise Malformed("not a LogEntry of Cloud Audit Logs: protoPayload is empty")
    verb = payload.method_name.rpartition(".")[2]
    if payload.service_name not in (SERVICE, "") or (verb not in _READS and not writes):
        return WRITES
    operation = entry.operation or _Operation(entry.insert_id, first=True, last=True)
    started = operation.first and not operation.last
    if started and verb != "watch":
        return EARLY
    return LoggedRequest(
        verb=verb,
        uri=_uri(payload.resource_name) + ("?watch=true" if verb == "watch" else ""),
        agent=payload.request_metadata.caller_supplied_user_agent,
        user=payload.authentication_info.principal_email,
        at=since_epoch(entry.timestamp),
        took=-1,
        code=_HTTP.get(payload.status.code, -1),
        done=not started,
        id=operation.id or entry.insert_id,
        query=False,
    )


def _uri(name: str) -> str:
    """Return the path of a resourceName: `apps/v1/namespaces/shop/deployments/web` → `/apis/apps/v1/…`."""
    group, _, rest = name.partition("/")
    return f"/api/{rest}" if group in ("core", "") else f"/apis/{_GROUPS.get(group, group)}/{rest}"
