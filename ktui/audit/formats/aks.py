"""Rows of the Log Analytics table AKSAudit: audit Events whose fields are columns."""

from __future__ import annotations

import re

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
_COLUMNS = {name: column for column, name in _FIELDS.items()}
# The portal exports times in the browser's language: `11/22/2026, 3:04:05 PM`, `22.11.2026, 15:04:05,123`.
_LOCAL = re.compile(
    r"(\d{1,4})([./-])(\d{1,2})[./-](\d{1,4}),?\s+"
    r"(\d{1,2}):(\d\d):(\d\d)([.,]\d{1,9})?(?:\s*([AaPp])\.?[Mm]\.?)?"
)
_OBJECTS = {"User": "user", "ResponseStatus": "responseStatus", "Annotations": "annotations"}
_decode = msgspec.json.decode
_encode = msgspec.json.encode


def is_row(fields: dict[str, msgspec.Raw]) -> bool:
    return "AuditId" in fields and "RequestUri" in fields


def event(fields: dict[str, msgspec.Raw]) -> bytes:
    """Return the audit Event of a row as JSON; dynamic columns are objects or, in CSV, JSON as text."""
    found: dict[str, object] = {name: fields[column] for column, name in _FIELDS.items() if column in fields}
    for name in ("requestReceivedTimestamp", "stageTimestamp"):
        if name in found:
            found[name] = _moment(fields[_COLUMNS[name]])
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
