"""Rows of the Log Analytics table AKSAudit: audit Events whose fields are columns."""

from __future__ import annotations

import msgspec

_FIELDS = {
    "AuditId": "auditID",
    "Stage": "stage",
    "Verb": "verb",
    "RequestUri": "requestURI",
    "UserAgent": "userAgent",
    "RequestReceivedTime": "requestReceivedTimestamp",
    "StageReceivedTime": "stageTimestamp",
}
_OBJECTS = {"User": "user", "ResponseStatus": "responseStatus", "Annotations": "annotations"}
_decode = msgspec.json.decode
_encode = msgspec.json.encode


def is_row(fields: dict[str, msgspec.Raw]) -> bool:
    return "AuditId" in fields and "RequestUri" in fields


def event(fields: dict[str, msgspec.Raw]) -> bytes:
    """Return the audit Event of a row as JSON; dynamic columns are objects or, in CSV, JSON as text."""
    found: dict[str, object] = {name: fields[column] for column, name in _FIELDS.items() if column in fields}
    if "stageTimestamp" not in found and "TimeGenerated" in fields:
        found["stageTimestamp"] = fields["TimeGenerated"]
    for column, name in _OBJECTS.items():
        if column in fields and (value := _object(fields[column])) is not None:
            found[name] = value
    return _encode(found)


def _object(raw: msgspec.Raw) -> object:
    try:
        value = _decode(raw)
        value = _decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
