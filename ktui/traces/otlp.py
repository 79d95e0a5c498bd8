"""Decode spans: OTLP in protobuf or JSON, Tempo's and Jaeger's exports.

Protobuf is one message, or a collector's file of messages behind their lengths. JSON:

| document | from |
|---|---|
| `{"resourceSpans": […]}` | OTLP/JSON: a collector's file exporter, Tempo's `/api/v2/traces`, an exporter |
| `{"batches": […]}` | Tempo's `/api/traces/ID`: ids in base64 |
| `{"trace": …}`, `{"result": …}` | Tempo's and Jaeger's API v2 and v3 |
| `{"data": [{"traceID", "spans", "processes"}]}` | Jaeger's UI and its API v1 |

A part of a document (`{"scopeSpans": …}`, one span, one Jaeger trace) is read as well: a document that is too
large to be kept whole is divided into them.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ktui.traces import span_names as names
from ktui.traces.spans import (
    CLIENT,
    INTERNAL,
    MOST_ATTRIBUTES,
    MOST_EVENTS,
    MOST_TEXT,
    SERVER,
    NotSpans,
    SpanCounts,
    SpanEvent,
    TraceSpan,
    Value,
    bounded,
    usable,
    whole,
)

_Number = int | str | float
Attributes = Iterable[tuple[str, Value | None]]  # a value of another kind is None


def _values(found: Attributes) -> dict[str, Value]:
    """Return attributes by name, their texts bounded; those without a value that is used are left out."""
    return {
        name[:MOST_TEXT]: bounded(name, value) if isinstance(value, str) else value
        for name, value in found
        if value is not None
    }


def _time(value: _Number) -> int:
    """Return nanoseconds since 1970, which JSON may write as a text; 0 for another value."""
    return max(0, whole(value))


def span_of(
    found: Any, ids: tuple[str, str, str], kind: int, attributes_of: Callable[[Any], Attributes], service: str
) -> TraceSpan:
    """Return a span of OTLP, decoded from JSON or protobuf; `ids` of trace, span and parent."""
    events = [
        SpanEvent(
            event.name[:MOST_TEXT], _time(event.time_unix_nano), _values(attributes_of(event.attributes))
        )
        for event in found.events[:MOST_EVENTS]
    ]
    start, end = _time(found.start_time_unix_nano), _time(found.end_time_unix_nano)
    attributes = _values(attributes_of(found.attributes))
    return TraceSpan(*ids, found.name[:MOST_TEXT], kind, start, end, attributes, events, service)


LARGEST = 64 << 20
_FIRST = 0x0A  # the tag of resource_spans
_USED = ("string_value", "int_value", "bool_value", "double_value")


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
        service = str(_values(_of_message(part.resource.attributes)).get(names.SERVICE_KEY, ""))
        for scope in part.scope_spans:
            for found in scope.spans:
                ids = found.trace_id.hex(), found.span_id.hex(), found.parent_span_id.hex()
                yield span_of(found, ids, found.kind, _of_message, service)


def _of_message(found: Sequence[Any]) -> Attributes:
    for attribute in found[:MOST_ATTRIBUTES]:
        which = attribute.value.WhichOneof("value")
        yield attribute.key, getattr(attribute.value, which) if which in _USED else None


_KINDS = {
    "SPAN_KIND_SERVER": SERVER, "SPAN_KIND_CLIENT": CLIENT, "SPAN_KIND_INTERNAL": INTERNAL,
    "server": SERVER, "client": CLIENT, "internal": INTERNAL,
}  # fmt: skip


class _AnyValue(msgspec.Struct, rename="camel", gc=False):
    string_value: str | None = None
    int_value: _Number | None = None
    bool_value: bool | None = None
    double_value: _Number | None = None

    def get(self) -> Value | None:
        if self.string_value is not None:
            return self.string_value
        if self.int_value is not None:
            return self.int_value
        return self.bool_value if self.bool_value is not None else self.double_value


class _Attribute(msgspec.Struct, gc=False):
    key: str
    value: _AnyValue | None = None


class _Event(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    time_unix_nano: _Number = 0
    attributes: list[_Attribute] = []


class _Span(msgspec.Struct, rename="camel", gc=False):
    trace_id: str
    span_id: str
    name: str = ""
    parent_span_id: str = ""
    kind: int | str = 0
    start_time_unix_nano: _Number = 0
    end_time_unix_nano: _Number = 0
    attributes: list[_Attribute] = []
    events: list[_Event] = []


class _ScopeSpans(msgspec.Struct, gc=False):
    spans: list[_Span] = []


class _Resource(msgspec.Struct, gc=False):
    attributes: list[_Attribute] = []


class _ResourceSpans(msgspec.Struct, rename="camel", gc=False):
    resource: _Resource | None = None
    scope_spans: list[_ScopeSpans] = []
    instrumentation_library_spans: list[_ScopeSpans] = []  # OTLP before 0.15


class _Document(msgspec.Struct, rename="camel", gc=False):
    resource_spans: list[_ResourceSpans] = []
    batches: list[_ResourceSpans] = []


class _Tag(msgspec.Struct, gc=False):
    key: str = ""
    value: str | int | float | bool | None = None


class _Log(msgspec.Struct, gc=False):
    timestamp: int = 0
    fields: list[_Tag] = []


class _Reference(msgspec.Struct, gc=False):
    type: str = msgspec.field(name="refType", default="CHILD_OF")
    id: str = msgspec.field(name="spanID", default="")


class _JaegerSpan(msgspec.Struct, rename="camel", gc=False):
    trace: str = msgspec.field(name="traceID")
    id: str = msgspec.field(name="spanID")
    operation_name: str = ""
    references: list[_Reference] = []
    start_time: int = 0
    duration: int = 0
    tags: list[_Tag] = []
    logs: list[_Log] | None = None
    process: str = msgspec.field(name="processID", default="")


class _Process(msgspec.Struct, rename="camel", gc=False):
    service_name: str = ""


class _JaegerTrace(msgspec.Struct, gc=False):
    spans: list[_JaegerSpan] = []
    processes: dict[str, _Process] = {}


_document = msgspec.json.Decoder(_Document).decode
_resource_spans = msgspec.json.Decoder(_ResourceSpans).decode
_scope_spans = msgspec.json.Decoder(_ScopeSpans).decode
_span = msgspec.json.Decoder(_Span).decode
_jaeger = msgspec.json.Decoder(_JaegerTrace).decode
_jaeger_span = msgspec.json.Decoder(_JaegerSpan).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


_OTLP = (b'"resourceSpans"', b'"batches"', b'"scopeSpans"')
_INSIDE = {"trace": _OTLP, "result": _OTLP, "data": (b'"traceID"',)}  # at the start of the wrapped value


def has_spans(fields: dict[str, msgspec.Raw]) -> bool:
    """True if an object with these fields is a document of spans, or a part of one."""
    if "resourceSpans" in fields or "batches" in fields or "scopeSpans" in fields:
        return True
    if "spans" in fields:  # of a scope, or of a Jaeger trace
        return fields.keys() <= {"spans", "scope", "schemaUrl", "traceID", "processes", "warnings"}
    if "traceId" in fields or "traceID" in fields:
        return "spanId" in fields or "spanID" in fields
    return any(
        mark in memoryview(fields[name])[:200].tobytes()
        for name, marks in _INSIDE.items()
        if name in fields
        for mark in marks
    )


def decode_json(data: bytes, counts: SpanCounts) -> list[TraceSpan]:
    """Return the spans of a document. Raises NotSpans."""
    try:
        return usable(_of_object(data, _fields(data), 3), counts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = "it nests too deeply" if isinstance(error, RecursionError) else str(error)
        raise NotSpans(f"not a document of spans: {why}") from None


def _of_object(data: bytes, fields: dict[str, msgspec.Raw], depth: int) -> Iterator[TraceSpan]:
    if "traceID" in fields or "processes" in fields:
        found = _jaeger(data) if "spans" in fields else _JaegerTrace([_jaeger_span(data)])
        yield from _of_jaeger(found)
    elif "resourceSpans" in fields or "batches" in fields:
        document = _document(data)
        for part in (*document.resource_spans, *document.batches):
            yield from _of_resource(part)
    elif "scopeSpans" in fields or "instrumentationLibrarySpans" in fields:
        yield from _of_resource(_resource_spans(data))
    elif "spans" in fields:
        yield from _of_scope(_scope_spans(data), "")
    elif "traceId" in fields:
        yield from _of_scope(_ScopeSpans([_span(data)]), "")
    elif depth:
        for raw in (bytes(fields[name]) for name in _INSIDE if name in fields):
            for inner in map(bytes, _list(raw)) if raw.startswith(b"[") else (raw,):
                if inner.startswith(b"{"):
                    yield from _of_object(inner, _fields(inner), depth - 1)


def _of_resource(part: _ResourceSpans) -> Iterator[TraceSpan]:
    attributes = _values(_of_json(part.resource.attributes)) if part.resource else {}
    service = str(attributes.get(names.SERVICE_KEY, ""))
    for scope in (*part.scope_spans, *part.instrumentation_library_spans):
        yield from _of_scope(scope, service)


def _of_scope(scope: _ScopeSpans, service: str) -> Iterator[TraceSpan]:
    for found in scope.spans:
        kind = _KINDS.get(found.kind, 0) if isinstance(found.kind, str) else found.kind
        ids = _id(found.trace_id, 16), _id(found.span_id, 8), _id(found.parent_span_id, 8)
        yield span_of(found, ids, kind, _of_json, service)


def _of_json(found: list[_Attribute]) -> Attributes:
    return [
        (each.key, each.value.get() if each.value is not None else None) for each in found[:MOST_ATTRIBUTES]
    ]


def _of_jaeger(trace: _JaegerTrace) -> Iterator[TraceSpan]:
    for found in trace.spans:
        parent = next((each.id for each in found.references if each.type == "CHILD_OF"), "")
        start = found.start_time * 1000
        tags = _tags(found.tags)
        process = trace.processes.get(found.process)
        yield TraceSpan(
            found.trace.lower().zfill(32), found.id.lower().zfill(16),
            parent.lower().zfill(16) if parent else "", found.operation_name[:MOST_TEXT],
            _KINDS.get(str(tags.get("span.kind", "")), 0), start, start + found.duration * 1000, tags,
            [_jaeger_event(log) for log in (found.logs or [])[:MOST_EVENTS]],
            process.service_name if process else "",
        )  # fmt: skip


def _jaeger_event(log: _Log) -> SpanEvent:
    attributes = _tags(log.fields)
    name = attributes.pop("event", "") or attributes.pop("message", "")
    return SpanEvent(str(name), log.timestamp * 1000, attributes)


def _tags(found: list[_Tag]) -> dict[str, Value]:
    return _values((tag.key, tag.value) for tag in found[:MOST_ATTRIBUTES])


def _id(text: str, size: int) -> str:
    """Return an id in hexadecimal: OTLP/JSON writes it so, Tempo in base64."""
    if len(text) == 2 * size:
        return text if text.islower() or text.isdigit() else text.lower()
    if not text:
        return ""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return text[:64]
    return raw.hex() if len(raw) == size else text[:64]
