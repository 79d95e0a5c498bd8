"""Requests in traces: OTLP documents and klog's `Trace[…]` lines, which must be assembled first."""

from __future__ import annotations

from msgspec.structs import replace

from ktui.audit.formats.log_record import SPANS, TRACE_LINES, LoggedRequest, Malformed, Skip
from ktui.core.format import integer
from ktui.traces.assembly import TraceAssembler
from ktui.traces.klog import MARK, BrokenTrace, TraceLines
from ktui.traces.otlp_json import decode_json, has_spans
from ktui.traces.otlp_protobuf import decode_protobuf
from ktui.traces.spans import NotSpans, TracedRequest, TraceSpan

__all__ = ["MARK", "PROTOBUF", "TraceReader", "Traced", "has_spans"]

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

    def document(self, data: bytes) -> Traced:
        """Read a JSON document of spans. Raises Malformed."""
        try:
            return self._spans(decode_json(data, self.assembler.counts))
        except NotSpans as why:
            raise Malformed(str(why)) from None

    def message(self, data: bytes) -> Traced:
        """Read an OTLP protobuf message. Raises Malformed."""
        try:
            return self._spans(decode_protobuf(data, self.assembler.counts))
        except NotSpans as why:
            raise Malformed(str(why)) from None

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

    def _spans(self, spans: list[TraceSpan]) -> Traced:
        if not spans:
            return Traced(SPANS, [])
        latest = max(span.end for span in spans)
        if self._latest:
            self._now += min(max(0.0, (latest - self._latest) / 1e9), _STEP)
        self._latest = max(self._latest, latest) if latest - self._latest < _STEP * 1e9 else latest
        return Traced(SPANS, self.assembler.add(spans, self._now))


def logged(request: TracedRequest) -> LoggedRequest | None:
    """Return a traced GET, LIST or WATCH as a request of a log; None for another request."""
    if request.verb not in ("get", "list", "watch") or not request.path:
        return None
    watch = request.verb == "watch"
    initial = request.stages.get("initial events", -1.0)
    return LoggedRequest(
        verb=request.verb,
        uri=request.path if request.query or not watch else f"{request.path}?watch=true",
        agent=request.user_agent,
        user="",
        at=request.at + max(0, request.took),
        took=request.took if request.complete or not watch else -1,
        code=request.status if request.status <= 999 else -1,
        done=not watch or request.complete,
        init=round(initial * 1000) if initial >= 0 else -1,
        id=request.audit_id,
        query=request.query,
        traced=request,
    )
