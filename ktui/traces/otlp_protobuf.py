"""Decode spans from OTLP protobuf: one message, or a collector's file of messages behind their lengths."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

from ktui.traces import span_names as names
from ktui.traces.spans import (
    MOST_ATTRIBUTES,
    MOST_TEXT,
    NotSpans,
    SpanCounts,
    TraceSpan,
    Value,
    bounded,
    span_of,
    usable,
)

LARGEST = 64 << 20
_ERROR = 2
_FIRST = 0x0A  # the tag of resource_spans


def is_protobuf(head: bytes) -> bool:
    """True if a file that begins like this holds OTLP messages, with or without their lengths."""
    return _is_message(head) or (
        len(head) > 6 and 0 < struct.unpack(">I", head[:4])[0] <= LARGEST and _is_message(head[4:])
    )


def _is_message(head: bytes) -> bool:
    """True for a ResourceSpans (field 1, or the resource left out: 2) inside field 1; text never looks so."""
    if len(head) < 4 or head[0] != _FIRST:
        return False
    at = 1
    while at < min(len(head), 6) and head[at] & 0x80:
        at += 1
    return at + 1 < len(head) and head[at + 1] in (0x0A, 0x12) and not head[: at + 2].isspace()


def messages(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Divide a stream into messages. Raises NotSpans where it breaks off or is too large."""
    data = bytearray()
    framed: bool | None = None
    for chunk in chunks:
        data += chunk
        if framed is None and len(data) > 6:
            framed = not _is_message(bytes(data[:16]))
        while framed and len(data) >= 4:
            size = struct.unpack(">I", data[:4])[0]
            if size > LARGEST:
                raise NotSpans(f"a message of more than {LARGEST >> 20} MiB: the file is damaged")
            if len(data) < 4 + size:
                break
            yield bytes(data[4 : 4 + size])
            del data[: 4 + size]
        if len(data) > LARGEST + 4:
            raise NotSpans(f"a message of more than {LARGEST >> 20} MiB")
    if data and framed:
        raise NotSpans("the last message is cut off")
    if data:
        yield bytes(data)


def decode_protobuf(data: bytes, counts: SpanCounts) -> list[TraceSpan]:
    """Return the spans of an ExportTraceServiceRequest (or TracesData). Raises NotSpans."""
    from google.protobuf.message import DecodeError  # start-up time
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        message = ExportTraceServiceRequest.FromString(data)
    except DecodeError:
        raise NotSpans("not an OTLP message of spans") from None
    return usable(spans_of(message), counts)


def spans_of(message: Any) -> Iterator[TraceSpan]:
    for part in message.resource_spans:
        service = str(_attributes(part.resource.attributes).get(names.SERVICE_KEY, ""))
        for scope in part.scope_spans:
            for found in scope.spans:
                ids = found.trace_id.hex(), found.span_id.hex(), found.parent_span_id.hex()
                failed = found.status.code == _ERROR
                yield span_of(found, ids, found.kind, _attributes, service, failed=failed)


def _attributes(found: Iterable[Any]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for number, attribute in enumerate(found):
        if number == MOST_ATTRIBUTES:
            break
        which = attribute.value.WhichOneof("value")
        if which == "string_value":
            values[attribute.key[:MOST_TEXT]] = bounded(attribute.key, attribute.value.string_value)
        elif which in ("int_value", "bool_value", "double_value"):
            values[attribute.key[:MOST_TEXT]] = getattr(attribute.value, which)
    return values
