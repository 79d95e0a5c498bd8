"""Read one record of a log in any known format; spans and klog's `Trace[…]` lines are assembled first."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from ktui.audit.formats import auditlog, clouds, etcdlog, httplog, wrappers
from ktui.audit.formats.log_record import (
    BLANK,
    CONTROL,
    FALCO,
    JSON,
    KLOG,
    OTLP,
    SPANS,
    TRACE_LINES,
    LoggedRequest,
    Malformed,
    Skip,
    SlowRequest,
    decoded,
)
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


class Traced:
    """A record of traces, and the requests that it completes."""

    __slots__ = ("requests", "skip")

    def __init__(self, skip: Skip, requests: list[TracedRequest]) -> None:
        self.skip, self.requests = skip, requests


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
            return Traced(SPANS, [])
        latest = max(span.end for span in spans)
        if self._latest:
            self._now += min(max(0.0, (latest - self._latest) / 1e9), _STEP)
        self._latest = max(self._latest, latest) if latest - self._latest < _STEP * 1e9 else latest
        return Traced(SPANS, self.assembler.add(spans, self._now))

    def line(self, line: bytes) -> Traced:
        """Read a line of a klog trace. Raises Malformed."""
        try:
            request = self.lines.add(line.decode("utf-8", "replace").rstrip("\r\n"))
        except BrokenTrace as why:
            raise Malformed(str(why)) from None
        return Traced(TRACE_LINES, [request] if request is not None else [])

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
    if request.verb not in ("get", "list", "watch") or not request.path:
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
        if line.startswith(wrappers.GZIPPED):
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
        if first and first in b'["' and wrappers.may_contain_record(line):
            return _unwrap(decoded(wrappers.fields_of, b'{"":' + line + b"}", "valid JSON"), line)
        return _other(line)

    return read


def _read_json(line: bytes, traces: TraceReader, writes: bool) -> Record | Wrapped:
    if line.startswith(b'{"level"') and (etcdlog.APPLY in line or etcdlog.STATS in line):
        return etcdlog.read(line)
    try:
        fields = decoded(wrappers.fields_of, line, "valid JSON")
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
    if wrappers.is_record(fields):
        http = bytes(fields["msg"]) == b'"HTTP"'
        return httplog.read_json(line, writes=writes) if http else etcdlog.read(line)
    if clouds.is_aks_row(fields):
        return auditlog.read(clouds.aks_event(fields), writes=writes)
    return _unwrap(fields, line)


def _read_subscription(line: bytes) -> Wrapped:
    """Read a bare line of base64, as a Lambda or Kinesis consumer logs it."""
    try:
        records = list(wrappers.records_in_subscription(line.strip()))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        records = []
    if not records:
        raise Malformed("base64 of gzip that is cut off, or no message of a CloudWatch Logs subscription")
    return Wrapped("CloudWatch Logs subscription", records)


def _unwrap(fields: wrappers.Fields, line: bytes) -> Record | Wrapped:
    if b"CONTROL_MESSAGE" in line[:512]:
        return CONTROL
    if "output_fields" in fields and b'"ka.' in line:
        return FALCO
    none = OTLP if wrappers.OTLP_LOGS in fields else JSON
    if not wrappers.may_contain_record(line):
        return none
    try:
        records = list(wrappers.records_in(fields))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Malformed("not valid JSON: an object inside it is damaged or nests too deeply") from None
    return Wrapped(wrappers.carrier(fields), records) if records else none


def _after_prefix(line: bytes) -> bytes:
    """Return the JSON after a short prefix; b"" if there is none."""
    at = line.find(b'{"', 0, _PREFIX)
    if at <= 0 or line[:1] in b" \t>" or _KLOG.match(line) or line.rstrip()[-1:] != b"}":
        return b""
    return line[at:]


def _other(line: bytes) -> Skip:
    """Classify klog lines, blank lines, and further lines of a klog text (stack traces). Raises Malformed."""
    if not line.strip() or line[:1] in (b"\t", b" ", b">"):
        return BLANK
    if _KLOG.match(line) is not None or line.startswith((b"[+]", b"[-]")):
        return KLOG
    what = "neither an audit Event, a klog line nor a JSON line of etcd"
    raise Malformed(what if line.strip(b"\0") else "NUL bytes")
