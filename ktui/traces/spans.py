"""Spans, decoded and bounded: what OTLP, Jaeger and Tempo exports have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from ktui.core.format import integer, many

Value = str | int | float | bool
MOST_TEXT = 1024  # characters of an attribute
MOST_TARGET = 16 << 10  # of a path with its query
MOST_ATTRIBUTES, MOST_EVENTS = 64, 64
MOST_NAMED = 8  # unknown names in a sentence
SERVER, INTERNAL, CLIENT = 2, 1, 3
"""Kinds of spans (OTLP's numbers)."""


class SpanEvent(NamedTuple):
    """An event of a span: its time in nanoseconds since 1970."""

    name: str
    at: int
    attributes: dict[str, Value]


class TraceSpan(msgspec.Struct, gc=False):
    """One span. Ids are hexadecimal, times in nanoseconds since 1970."""

    trace: str
    id: str
    parent: str
    name: str
    kind: int
    start: int
    end: int
    attributes: dict[str, Value]
    events: list[SpanEvent]
    service: str = ""

    @property
    def took(self) -> int:
        """Nanoseconds; 0 if the clock went back."""
        return max(0, self.end - self.start)

    def event(self, name: str) -> SpanEvent | None:
        return next((event for event in self.events if event.name == name), None)

    def text(self, *names: str) -> str:
        """Return the first of these attributes as text; "" without any."""
        for name in names:
            if (value := self.attributes.get(name)) is not None:
                return value if isinstance(value, str) else str(value)
        return ""

    def number(self, *names: str) -> int:
        """Return the first of these attributes as a whole number; -1 without any."""
        for name in names:
            if (value := self.attributes.get(name)) is not None:
                return whole(value)
        return -1


class SpanCounts(msgspec.Struct):
    """What was received: `bad` by reason, `unknown` spans of an apiserver's requests by name."""

    spans: int = 0
    others: int = 0  # of services other than an apiserver
    dropped: int = 0  # no room
    bad: Counter[str] = msgspec.field(default_factory=Counter)
    unknown: Counter[str] = msgspec.field(default_factory=Counter)

    MOST_NAMES = 64

    def add_unknown(self, name: str) -> None:
        name = name[:80]
        self.unknown[name if name in self.unknown or len(self.unknown) < self.MOST_NAMES else "others"] += 1

    def problems(self) -> list[str]:
        """Return what was dropped, left out or not understood, as sentences."""
        found = []
        if self.dropped:
            found.append(f"{many(self.dropped, 'span')} dropped: their requests were not complete")
        found += [f"{many(number, 'span')} cannot be used: {why}" for why, number in self.bad.items()]
        if self.others:
            found.append(f"{many(self.others, 'span')} of other services left out")
        if self.unknown:
            most = self.unknown.most_common(MOST_NAMED)
            named = ", ".join(f"{name!r} ({integer(number)})" for name, number in most)
            found.append(f"spans with names that ktui does not know: {named}")
        return found


class NotSpans(ValueError):
    """The bytes hold no spans; the message says why."""


def whole(value: Value) -> int:
    """Return a whole number in the range of int64; -1 for another value."""
    try:
        number = int(value)
    except (ValueError, OverflowError):
        return -1
    return number if 0 <= number < 1 << 63 else -1


def bounded(name: str, text: str) -> str:
    """Return the text of an attribute, cut where it is longer than any real one."""
    most = MOST_TARGET if name in ("http.target", "url.path", "url", "url.query") else MOST_TEXT
    return text if len(text) <= most else text[:most] + "…"


_TIME_MOST = 253_402_300_799_000_000_000  # the year 9999
_HEX = frozenset("0123456789abcdef")


def usable(spans: Iterable[TraceSpan], counts: SpanCounts) -> list[TraceSpan]:
    """Return the spans that can be used; all are counted, and the others by what is wrong with them."""
    found = []
    for span in spans:
        counts.spans += 1
        if len(span.trace) != 32 or not _HEX.issuperset(span.trace) or span.trace.count("0") == 32:
            counts.bad["a trace id that is not 16 bytes"] += 1
        elif len(span.id) != 16 or not _HEX.issuperset(span.id) or span.id.count("0") == 16:
            counts.bad["a span id that is not 8 bytes"] += 1
        elif not 0 < span.start <= _TIME_MOST or not 0 < span.end <= _TIME_MOST:
            counts.bad["no time"] += 1
        else:
            found.append(span)
    return found


SPANS, TRACE_LINES = "otlp", "klog trace"
"""Sources of records."""


class TracedRequest(msgspec.Struct, gc=False):
    """A request as its spans (or its klog trace) tell it. Numbers that they do not tell are -1.

    `at` is when it arrived, microseconds since 1970, `took` microseconds until its end. `verb` is the API's
    (`list`), for a path without a resource the HTTP method in lower case. `path` has the query where `query`
    is True. `route`: `cache`, `etcd`, `none` (no object was read), or "" where it is not told; `why` says by
    which span or event it is known. `fallback`: the cache was asked and etcd served it; None where not told.
    `scanned` and `returned` are objects; `body` is the bytes of the response as sent. `stages`: milliseconds
    by name, in order. `complete` is False if its server span did not come: it still runs, or spans were lost.
    """

    verb: str
    path: str
    at: int
    took: int
    audit_id: str = ""
    user_agent: str = ""
    client: str = ""
    peer: str = ""
    status: int = -1
    route: str = ""
    why: str = ""
    fallback: bool | None = None
    scanned: int = -1
    returned: int = -1
    body: int = -1
    stages: dict[str, float] = msgspec.field(default_factory=dict)
    complete: bool = True
    query: bool = True
    source: str = SPANS
    trace_id: str = ""
    name: str = ""
    accept: str = ""
    probes: int = 0  # revision probes
    rpcs: int = 0  # RPCs to etcd, probes included
    continues: bool = False  # a WATCH that was reported before, when its initial events were sent


STAGES = (
    "authentication", "audit", "impersonation", "flow control", "authorization", "admission", "ready",
    "probe", "wait", "list", "get", "etcd", "transform", "initial events", "encode", "send", "other",
)  # fmt: skip
"""The stages in the order in which a request passes them."""
