"""Read klog's `Trace[…]` lines of slow requests: several lines each, with one number.

    I1123 08:53:56.8 1 trace.go:236] Trace[20134]: "List" accept:…,audit-id:…,url:/api/v1/pods (…) (total …):
    Trace[20134]: ["cacher.GetList" audit-id:…,type:pods 689ms (08:53:56.164)
    Trace[20134]:  ---"Filtered items" count:3000 241ms (08:53:56.839)]
    Trace[20134]: [689.445196ms] [689.445196ms] END

A span or a step that took less than its threshold is left out: presence proves, absence does not. Values
are not quoted, so a line in which a field's name appears twice cannot be read.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import NamedTuple

from ktui.kube.golang.times import parse_duration
from ktui.traces import span_names as names
from ktui.traces.reading import read_request
from ktui.traces.spans import (
    INTERNAL,
    MOST_EVENTS,
    TRACE_LINES,
    SpanCounts,
    SpanEvent,
    TracedRequest,
    TraceSpan,
    bounded,
)

MARK = b"Trace["
LINE = re.compile(r"Trace\[(\d{1,19})\]: ( *)(.*)", re.DOTALL)
MOST_OPEN, MOST_ITEMS = 1024, 256
_HEAD = re.compile(
    r'"((?:[^"\\]|\\.)*)" (?:(.*) )?\((\d\d-\w{3}-\d{4} [\d:.]+)\) \(total time: (\d+)ms\):\s*'
)
# A span or, after dashes, a step.
_ITEM = re.compile(r'(\[|---)"((?:[^"\\]|\\.)*)" (?:(.*) )?(\d+)ms \((\d\d:\d\d:\d\d\.\d{3})\)(\]*)\s*')
_END = re.compile(r"\[([^\]]+)\] \[[^\]]+\] END\s*")
_KEYS = (
    "accept", "audit-id", "client", "api-group", "api-version", "name", "subresource", "namespace",
    "protocol", "resource", "scope", "url", "user-agent", "verb", "type", "key", "resourceVersion",
    "resourceVersionMatch", "limit", "continue", "resource-version", "group", "count", "size", "len", "err",
    "method", "mediaType", "encoder", "writer", "configuration", "webhook", "operation", "UID", "object",
    "resource-prefix",
)  # fmt: skip
_FIELD = re.compile(rf"(?:^|,)({'|'.join(sorted(_KEYS, key=len, reverse=True))}):")
_SLACK = 1_200_000
"""Nanoseconds by which two times may differ that were measured alike: the lines have whole milliseconds."""
_WRITTEN = ("Write to database call succeeded", "Object stored in database", "Object deleted from database")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400_000_000_000


class BrokenTrace(ValueError):
    """A line, or the lines of a trace, that cannot be read; the message says why."""


class _Open(NamedTuple):
    """A trace whose END did not come yet."""

    spans: list[TraceSpan]  # the first is the trace itself
    stack: list[TraceSpan]


class TraceLines:
    """Joins the lines of traces, which may lie between other lines; at most MOST_OPEN are kept."""

    def __init__(self) -> None:
        self.counts = SpanCounts()
        self.cut = 0  # traces without their END or their beginning
        self._open: OrderedDict[str, _Open] = OrderedDict()
        # By number: lines that came before the first one, because the newest entries come first (gcloud).
        self._backwards: OrderedDict[str, list[str]] = OrderedDict()
        self._numbers = count(1)

    def add(self, text: str) -> TracedRequest | None:
        """Take a line; return the request that it completes. Raises BrokenTrace."""
        found = LINE.search(text)
        if found is None:
            raise BrokenTrace("not a line of a klog trace")
        number, _, rest = found.groups()
        if (head := _HEAD.fullmatch(rest)) is not None:
            self._begin(number, head)
            request = None
            for line in reversed(self._backwards.pop(number, ())):
                request = self.add(line) or request
            return request
        trace = self._open.get(number)
        if trace is None:
            self._keep(number, text, last=_END.fullmatch(rest) is not None)
            return None
        try:
            return self._continue(number, trace, rest)
        except BrokenTrace:
            self._open.pop(number, None)
            self.cut += 1
            raise

    def finish(self) -> list[TracedRequest]:
        """Return the requests of traces whose END is missing."""
        left = list(self._open.values())
        self.cut += len(left) + len(self._backwards)
        self._open.clear()
        self._backwards.clear()
        return [request for trace in left if (request := self._request(trace)) is not None]

    def _keep(self, number: str, text: str, *, last: bool) -> None:
        """Keep a line of a trace whose first line did not come yet, if the last one did."""
        if last:
            self._backwards[number] = [text]
            if len(self._backwards) > MOST_OPEN:
                self._backwards.popitem(last=False)
                self.cut += 1
        elif (lines := self._backwards.get(number)) is not None and len(lines) < MOST_ITEMS:
            lines.append(text)

    def _begin(self, number: str, head: re.Match[str]) -> None:
        name, text, started, total = head.groups()
        start = _moment(started)
        span = self._span(name, text or "", start, int(total) * 1_000_000)
        self._open.pop(number, None)
        self._open[number] = _Open([span], [span])
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
            self.cut += 1

    def _continue(self, number: str, trace: _Open, rest: str) -> TracedRequest | None:
        if (end := _END.fullmatch(rest)) is not None:
            del self._open[number]
            if took := _nanoseconds(end[1]):
                trace.spans[0].end = trace.spans[0].start + took
            return self._request(trace)
        item = _ITEM.fullmatch(rest)
        if item is None:
            raise BrokenTrace("a line of a klog trace that breaks off, or with text in between")
        sign, name, text, duration, at, closing = item.groups()
        if len(trace.spans) < MOST_ITEMS and trace.stack:
            top = trace.stack[-1]
            moment = _near(trace.spans[0].start, at)
            if sign == "[":
                span = self._span(name, text or "", moment, int(duration) * 1_000_000, top)
                trace.spans.append(span)
                trace.stack.append(span)
            elif len(top.events) < MOST_EVENTS:
                top.events.append(SpanEvent(name, moment, dict(_fields(text or ""))))
        del trace.stack[max(1, len(trace.stack) - len(closing)) :]
        return None

    def _span(
        self, name: str, text: str, start: int, took: int, parent: TraceSpan | None = None
    ) -> TraceSpan:
        self.counts.spans += 1
        number, above = f"{next(self._numbers):016x}", parent.id if parent is not None else ""
        return TraceSpan("", number, above, name, INTERNAL, start, start + took, dict(_fields(text)), [])

    def _request(self, trace: _Open) -> TracedRequest | None:
        top = trace.spans[0]
        audit_id = top.text(names.AUDIT_ID)
        handled = top.name in names.HANDLERS and bool(top.text(names.HANDLER_URL))
        if not handled and not audit_id:  # that of a reflector or another component
            return None
        children: dict[str, list[TraceSpan]] = {}
        for span in trace.spans[1:]:
            children.setdefault(span.parent, []).append(span)
        request = read_request(top, children, self.counts)
        request.source = TRACE_LINES
        if not handled:  # a part of a request, logged alone: it has neither verb nor path
            request.verb = request.path = ""
        if not request.route:
            request.route, request.why = _route(top, trace.spans)
            request.fallback = False if request.route else None
        if top.name == "WatchList":
            request.took = -1
        return request


def _route(top: TraceSpan, spans: list[TraceSpan]) -> tuple[str, str]:
    """Return the route that follows from times and fields, where no span or step proves one."""
    for span in spans:
        role = names.role_of(span.name)
        if role is names.Role.CACHE_GET and span.attributes.get(names.GET_REVISION) == "":
            return "etcd", f"{span.name!r} without a resourceVersion"
        if role is names.Role.CACHE_LIST and span is not top and top.name == "List":
            if top.took - span.took < _SLACK and not span.event(names.FRESH):
                return "cache", f"{span.name!r} waited until the request ended"
            return "", f"{span.name!r} does not say whether it listed the objects"
    if any(event.name in _WRITTEN for event in top.events):
        return "etcd", "it wrote the object"
    return "", "its klog trace names no span that says where from"


def _fields(text: str) -> list[tuple[str, str]]:
    """Return the fields `name:value,name:value`, or none. Raises BrokenTrace if a name appears twice."""
    found = list(_FIELD.finditer(text))
    if not found:
        return []
    keys = [match[1] for match in found]
    if len(set(keys)) < len(keys):
        raise BrokenTrace("a klog trace with a field's name in a value")
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [
        (match[1], bounded(match[1], text[match.end() : end])) for match, end in zip(found, ends, strict=True)
    ]


def _moment(text: str) -> int:
    """Return nanoseconds since 1970 for `23-Nov-2026 08:53:56.164`. Raises BrokenTrace."""
    try:
        moment = datetime.strptime(text, "%d-%b-%Y %H:%M:%S.%f").replace(tzinfo=UTC)
    except ValueError:
        raise BrokenTrace(f"no time: {text[:40]!r}") from None
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def _near(start: int, clock: str) -> int:
    """Return the moment at which a clock shows `08:53:56.164`, at or after `start`, maybe the next day."""
    hour, minute, second = clock.split(":")
    at = ((int(hour) * 60 + int(minute)) * 60) * 1_000_000_000 + int(float(second) * 1000) * 1_000_000
    moment = start - start % _DAY + at
    return moment + _DAY if moment < start - _DAY // 2 else moment


def _nanoseconds(text: str) -> int:
    """Return a Go duration; 0 if it is none."""
    try:
        took = parse_duration(text)
    except ValueError:
        return 0
    return round(took * 1e9) if 0 <= took < 1 << 32 else 0
