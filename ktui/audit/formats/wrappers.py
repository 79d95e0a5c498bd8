"""Unwrap records that CloudWatch, Azure, Fluent Bit, Docker, Loki and others put into other records.

One rule for all: a record is an object or a text, at most three fields deep, in a known format.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator

import msgspec

from ktui.audit.formats import clouds
from ktui.audit.formats.httplog import MARK
from ktui.traces.klog import MARK as TRACE

DEEPEST = 3
MOST_BYTES = 64 << 20  # of a gzipped subscription message
_PROMISING = re.compile(
    rb"AuditId|proto[pP]ayload|\bHTTP\b|apply request took too long|request stats|H4sI|Trace\[\d"
)
_EVENT = b'{"kind":"Event","apiVersion":"audit.k8s.io/'
OTLP_LOGS = "resourceLogs"
_DEEPEST_OTLP = 6  # resourceLogs, scopeLogs, logRecords, body, stringValue, and an object in that text
GZIPPED = b"H4sI"  # the first bytes of gzip in base64
_CARRIERS = (
    (OTLP_LOGS, "OTLP logs"),
    ("logEvents", "CloudWatch Logs subscription"),
    ("protoPayload", "GKE LogEntry"),
    ("protopayload_auditlog", "GKE LogEntry (BigQuery)"),
    ("AuditId", "AKSAudit row"),
    ("@message", "CloudWatch Logs Insights"),
    ("results", "CloudWatch Logs Insights"),
    ("records", "Azure Event Hub"),
    ("events", "CloudWatch Logs get-log-events or filter-log-events"),
    ("items", "EventList"),
    ("Records", "Kinesis"),
    ("awslogs", "CloudWatch Logs subscription"),
    ("properties", "Azure diagnostic log"),
    ("log_s", "AzureDiagnostics row"),
    ("eventId", "CloudWatch Logs event"),
)

Fields = dict[str, msgspec.Raw]
fields_of = msgspec.json.Decoder(Fields).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_text = msgspec.json.Decoder(str).decode


def may_contain_record(value: bytes) -> bool:
    """True if the value may contain a record; a quick check."""
    return b"auditID" in value or _PROMISING.search(value) is not None


def carrier(fields: Fields) -> str:
    """Return the kind of wrapper, recognised by its field names."""
    return next((name for field, name in _CARRIERS if field in fields), "wrapped in JSON")


def records_in(fields: Fields, depth: int | None = None) -> Iterator[bytes]:
    """Yield the records in an object that is not a record itself."""
    if depth is None:
        depth = _DEEPEST_OTLP if OTLP_LOGS in fields else DEEPEST
    if depth:
        for value in fields.values():
            yield from _in_value(bytes(value), depth - 1)


def _in_value(value: bytes, depth: int) -> Iterator[bytes]:
    first = value[:1]
    if first in b'{["' and may_contain_record(value):
        if first == b"{":
            yield from _in_object(value, depth)
        elif first == b"[":
            for element in _list(value):
                yield from _in_value(bytes(element), depth)
        else:
            yield from _in_text(_text(value).encode("utf-8", "replace"), depth)


def _in_object(value: bytes, depth: int) -> Iterator[bytes]:
    if value.startswith(_EVENT) or is_record(fields := fields_of(value)):
        yield value
    elif clouds.is_aks_row(fields):
        yield clouds.aks_event(fields)
    else:
        yield from records_in(fields, depth)


def is_record(fields: Fields) -> bool:
    """True if an object is a record of a known format, not a wrapper."""
    message = bytes(fields["msg"]) if "msg" in fields else b""
    is_event = "auditID" in fields and ("verb" in fields or "stage" in fields)
    return is_event or clouds.is_gke_entry(fields) or message in _MESSAGES


_MESSAGES = (b'"HTTP"', b'"apply request took too long"', b'"request stats"')


def _in_text(text: bytes, depth: int) -> Iterator[bytes]:
    text = text.strip()
    if text.startswith(_EVENT):
        yield text
    elif text.startswith(GZIPPED):
        yield from records_in_subscription(text)
    elif text.startswith((b"{", b"[")):
        try:
            yield from _in_value(text, depth)
        except (msgspec.DecodeError, RecursionError):
            if b'"auditID"' in text[:4096]:
                yield text  # truncated: counted as malformed
    elif MARK in text or TRACE in text or b"{" in text[:512]:
        yield from (line for line in text.split(b"\n") if line)


def records_in_subscription(text: bytes) -> Iterator[bytes]:
    """Yield the records in a gzipped base64 message of a CloudWatch Logs subscription, as sent to Lambda and
    Kinesis. Raises msgspec.DecodeError."""
    try:
        unpacker = zlib.decompressobj(wbits=31)
        packed = base64.b64decode(text, validate=True)
        message = unpacker.decompress(packed, MOST_BYTES)
    except (binascii.Error, zlib.error):
        return
    if not unpacker.unconsumed_tail:
        yield from _in_object(message, DEEPEST)
