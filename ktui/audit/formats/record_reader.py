"""Read one record of a log in any known format; spans and klog's `Trace[…]` lines are assembled first.

CloudWatch, Azure, Fluent Bit, Docker, Loki and others put records into other records. One rule for all: a
record is an object or a text, at most three fields deep, in a known format.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ktui.audit.formats import auditlog, clouds, etcdlog, httplog
from ktui.audit.formats.log_record import READS, LoggedRequest, Malformed, Skip, Skips, SlowRequest, decoded
from ktui.core.format import integer
from ktui.traces.assembly import TraceAssembler
from ktui.traces.klog import MARK as TRACE
from ktui.traces.klog import BrokenTrace, TraceLines
from ktui.traces.otlp import decode_json, decode_protobuf, has_spans
from ktui.traces.spans import NotSpans, TracedRequest

PROTOBUF = b"\n"
"""The first byte of an OTLP message; no line begins with it."""
_SETTLE = 5.0  # seconds of the log that a trace is kept after its server span: batches may change places
_STEP = 5.0  # most seconds by which one batch moves the time: clocks may jump


class Traced(NamedTuple):
    """A record of traces, and the requests that it completes."""

    skip: Skip
    requests: list[TracedRequest]


class TraceReader:
    """Keeps the spans and lines of requests that are not complete yet, in bounded memory."""

    def __init__(self) -> None:
        self.lines = TraceLines()
        self.assembler = TraceAssembler(settle=_SETTLE)
        self._now = 0.0
        self._latest = 0

    def spans(self, data: bytes, *, is_json: bool) -> Traced:
        """Read a JSON document of spans, or an OTLP protobuf message. Raises Malformed."""
        try:
            spans = (decode_json if is_json else decode_protobuf)(data, self.assembler.counts)
        except NotSpans as why:
            raise Malformed(str(why)) from None
        if not spans:
            return Traced(Skips.SPANS, [])
        latest = max(span.end for span in spans)
        if self._latest:
            self._now += min(max(0.0, (latest - self._latest) / 1e9), _STEP)
        self._latest = max(self._latest, latest) if latest - self._latest < _STEP * 1e9 else latest
        return Traced(Skips.SPANS, self.assembler.add(spans, self._now))

    def line(self, line: bytes) -> Traced:
        """Read a line of a klog trace. Raises Malformed."""
        try:
            request = self.lines.add(line.decode("utf-8", "replace").rstrip("\r\n"))
        except BrokenTrace as why:
            raise Malformed(str(why)) from None
        return Traced(Skips.TRACE_LINES, [request] if request is not None else [])

    def finish(self) -> list[TracedRequest]:
        """Return the requests that are left once all logs are read."""
        return self.assembler.finish() + self.lines.finish()

    def problems(self) -> list[str]:
        """Return what could not be read or was left out, as sentences."""
        counts, lines = self.assembler.counts, self.lines
        found = replace(counts, unknown=counts.unknown + lines.counts.unknown).problems()
        if lines.cut:
            found.append(f"{integer(lines.cut)} klog traces are cut off, or their lines are damaged")
        return found


def logged(request: TracedRequest) -> LoggedRequest | None:
    """Return a traced GET, LIST or WATCH as a request of a log; None for another request."""
    if request.verb not in READS or not request.path:
        return None
    watch = request.verb == "watch"
    initial = request.stages.get("initial events", -1.0)
    return LoggedRequest(
        verb=request.verb, uri=request.path if request.query or not watch else f"{request.path}?watch=true",
        agent=request.user_agent, user="", at=request.at + max(0, request.took),
        took=request.took if request.complete or not watch else -1,
        code=request.status if request.status <= 999 else -1, done=not watch or request.complete,
        init=round(initial * 1000) if initial >= 0 else -1, id=request.audit_id, query=request.query,
        traced=request,
    )  # fmt: skip


class Wrapped(msgspec.Struct, gc=False):
    """The records inside a wrapper, and the kind of wrapper (`carrier`)."""

    carrier: str
    records: list[bytes]


Record = LoggedRequest | SlowRequest | Skip | Traced
Read = Callable[[bytes], Record | Wrapped]

_KLOG = re.compile(rb"[IWEF]\d{4} \d\d:\d\d:\d\d")
# `2026-08-23T08:55:54.33Z stderr F `: what a container runtime puts before each line.
_RUNTIME = re.compile(rb"\d{4}-\d\d-\d\dT\S+ std(?:out|err) [FP] ")
# Most bytes that a log shipper puts before JSON: a time, `[pod/kube-apiserver-1] `, a syslog header.
_PREFIX = 512


def line_reader(now: datetime, traces: TraceReader, *, writes: bool = False) -> Read:
    """Return a function that reads a record: its request, why it is not counted, or the records in it.

    The function raises Malformed for an unknown format. `now` bounds the year of klog lines; `traces` gets
    what traces say; with `writes` they are requests as reads are.
    """
    start_of = auditlog.START.match
    read_event = auditlog.read

    def read(line: bytes) -> Record | Wrapped:
        start = start_of(line)
        if start is not None:
            return read_event(line, start, writes=writes)
        first = line[:1]
        if first == b"{":
            return _read_json(line, traces, writes)
        if line.startswith(GZIPPED):
            return _read_subscription(line)
        if first == PROTOBUF:
            return traces.spans(line, is_json=False)
        if first.isdigit() and (runtime := _RUNTIME.match(line)):
            return read(line[runtime.end() :])
        if httplog.MARK in line:
            return httplog.read(line, now, writes=writes)
        if first == b"\0" and (rest := line.lstrip(b"\0")):  # its machine failed while writing
            return read(rest)
        if TRACE in line and b'"' not in line[: line.find(TRACE)]:
            return traces.line(line)
        if prefixed := _after_prefix(line):
            return _read_json(prefixed, traces, writes)
        if first and first in b'["' and may_contain_record(line):
            return _unwrap(decoded(fields_of, b'{"":' + line + b"}", "valid JSON"), line)
        return _other(line)

    return read


def _read_json(line: bytes, traces: TraceReader, writes: bool) -> Record | Wrapped:
    if line.startswith(b'{"level"') and (etcdlog.APPLY in line or etcdlog.STATS in line):
        return etcdlog.read(line)
    try:
        fields = decoded(fields_of, line, "valid JSON")
    except Malformed as why:
        if "truncated" in str(why) and b'"auditID"' in line[:4096]:
            raise Malformed(auditlog.CUT_OFF) from None
        raise
    if "auditID" in fields:
        return auditlog.read(line, writes=writes)
    if clouds.is_gke_entry(fields):
        return clouds.read_gke(line, writes=writes)
    if has_spans(fields):
        return traces.spans(line, is_json=True)
    if is_record(fields):
        http = bytes(fields["msg"]) == b'"HTTP"'
        return httplog.read_json(line, writes=writes) if http else etcdlog.read(line)
    if clouds.is_aks_row(fields):
        return auditlog.read(clouds.aks_event(fields), writes=writes)
    return _unwrap(fields, line)


def _read_subscription(line: bytes) -> Wrapped:
    """Read a bare line of base64, as a Lambda or Kinesis consumer logs it."""
    try:
        records = list(records_in_subscription(line.strip()))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        records = []
    if not records:
        raise Malformed("base64 of gzip that is cut off, or no message of a CloudWatch Logs subscription")
    return Wrapped("CloudWatch Logs subscription", records)


def _unwrap(fields: Fields, line: bytes) -> Record | Wrapped:
    if b"CONTROL_MESSAGE" in line[:512]:
        return Skips.CONTROL
    if "output_fields" in fields and b'"ka.' in line:
        return Skips.FALCO
    none = Skips.OTLP if OTLP_LOGS in fields else Skips.JSON
    if not may_contain_record(line):
        return none
    try:
        records = list(records_in(fields))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Malformed("not valid JSON: an object inside it is damaged or nests too deeply") from None
    return Wrapped(carrier(fields), records) if records else none


def _after_prefix(line: bytes) -> bytes:
    """Return the JSON after a short prefix; b"" if there is none."""
    at = line.find(b'{"', 0, _PREFIX)
    if at <= 0 or line[:1] in b" \t>" or _KLOG.match(line) or line.rstrip()[-1:] != b"}":
        return b""
    return line[at:]


def _other(line: bytes) -> Skip:
    """Classify klog lines, blank lines, and further lines of a klog text (stack traces). Raises Malformed."""
    if not line.strip() or line[:1] in (b"\t", b" ", b">"):
        return Skips.BLANK
    if _KLOG.match(line) is not None or line.startswith((b"[+]", b"[-]")):
        return Skips.KLOG
    what = "neither an audit Event, a klog line nor a JSON line of etcd"
    raise Malformed(what if line.strip(b"\0") else "NUL bytes")


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
    elif httplog.MARK in text or TRACE in text or b"{" in text[:512]:
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
