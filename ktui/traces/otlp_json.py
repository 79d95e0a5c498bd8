"""Decode spans from JSON: OTLP, Tempo's and Jaeger's exports.

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
from collections.abc import Iterator

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
    span_of,
    usable,
)

_KINDS = {
    "SPAN_KIND_SERVER": SERVER, "SPAN_KIND_CLIENT": CLIENT, "SPAN_KIND_INTERNAL": INTERNAL,
    "server": SERVER, "client": CLIENT, "internal": INTERNAL,
}  # fmt: skip
_Number = int | str | float


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


class _Status(msgspec.Struct, gc=False):
    code: int | str = 0


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
    status: _Status | None = None


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
    attributes = _attributes(part.resource.attributes) if part.resource else {}
    service = str(attributes.get(names.SERVICE_KEY, ""))
    for scope in (*part.scope_spans, *part.instrumentation_library_spans):
        yield from _of_scope(scope, service)


def _of_scope(scope: _ScopeSpans, service: str) -> Iterator[TraceSpan]:
    for found in scope.spans:
        kind = _KINDS.get(found.kind, 0) if isinstance(found.kind, str) else found.kind
        ids = _id(found.trace_id, 16), _id(found.span_id, 8), _id(found.parent_span_id, 8)
        failed = found.status is not None and found.status.code in (2, "STATUS_CODE_ERROR")
        yield span_of(found, ids, kind, _attributes, service, failed=failed)


def _attributes(found: list[_Attribute]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for attribute in found[:MOST_ATTRIBUTES]:
        value = attribute.value.get() if attribute.value is not None else None
        if isinstance(value, str):
            value = bounded(attribute.key, value)
        if value is not None:
            values[attribute.key[:MOST_TEXT]] = value
    return values


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
            process.service_name if process else "", str(tags.get("otel.status_code", "")) == "ERROR",
        )  # fmt: skip


def _jaeger_event(log: _Log) -> SpanEvent:
    attributes = _tags(log.fields)
    name = attributes.pop("event", "") or attributes.pop("message", "")
    return SpanEvent(str(name), log.timestamp * 1000, attributes)


def _tags(found: list[_Tag]) -> dict[str, Value]:
    return {
        tag.key[:MOST_TEXT]: bounded(tag.key, tag.value) if isinstance(tag.value, str) else tag.value
        for tag in found[:MOST_ATTRIBUTES]
        if tag.value is not None
    }


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
