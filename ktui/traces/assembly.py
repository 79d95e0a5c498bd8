"""Assemble spans, which arrive one by one and in any order, into the requests of an apiserver.

A request is complete once its server span came: that ends after all spans below it. One whose server span
is missing is reported after HOLD seconds from its handler's span, as incomplete; so is a WATCH that is open.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ktui.traces import span_names as names
from ktui.traces.reading import is_handler, is_server, read_request
from ktui.traces.span_names import Role, role_of
from ktui.traces.spans import SpanCounts, TracedRequest, TraceSpan

HOLD = 30.0
"""Seconds after which a trace without its server span counts as incomplete."""
MOST_SPANS = 200_000


@dataclass(slots=True)
class _Trace:
    """The spans of one trace that are not reported yet."""

    since: float
    due: float | None = None  # when its server spans are reported; None: none came
    spans: dict[str, TraceSpan] = field(default_factory=dict)
    reported: bool = False


class TraceAssembler:
    """Takes spans and gives requests. `now` is any clock of seconds that does not go back.

    `settle`: seconds for which a trace waits after its server span, for spans that come out of order.
    """

    def __init__(self, *, settle: float = 0.0, most_spans: int = MOST_SPANS) -> None:
        self.counts = SpanCounts()
        self._settle, self._most = settle, most_spans
        self._traces: OrderedDict[str, _Trace] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, spans: Iterable[TraceSpan], now: float) -> list[TracedRequest]:
        """Take spans; return the requests that are complete."""
        for span in spans:
            if span.service not in ("", names.SERVICE):
                self.counts.others += 1
                continue
            trace = self._traces.get(span.trace)
            if trace is None:
                trace = self._traces[span.trace] = _Trace(now)
            if span.id not in trace.spans:
                self._size += 1
            trace.spans[span.id] = span
            if is_server(span):
                trace.due = trace.due if trace.due is not None else now + self._settle
        found = list(self._due(now))
        while self._size > self._most and self._traces:
            _, oldest = self._traces.popitem(last=False)
            self._size -= len(oldest.spans)
            ready = list(_requests(oldest, self.counts))
            self.counts.dropped += 0 if ready or oldest.reported else len(oldest.spans)
            found += ready
        return found

    def tick(self, now: float) -> list[TracedRequest]:
        """Return the requests that are complete, or overdue."""
        return list(self._due(now))

    def finish(self) -> list[TracedRequest]:
        """Return all requests that are left: no more spans will come."""
        found = [request for trace in self._traces.values() for request in _requests(trace, self.counts)]
        self._traces.clear()
        self._size = 0
        return found

    def _due(self, now: float) -> Iterator[TracedRequest]:
        ended = []
        for key, trace in self._traces.items():
            if trace.due is not None:
                if now >= trace.due:
                    ended.append(key)
                    yield from _requests(trace, self.counts)
            elif now - trace.since >= HOLD and not trace.reported:
                yield from _requests(trace, self.counts)
                trace.reported = True
                # These spans of a WATCH end long before the WATCH does.
                if not any(
                    span.name == "WatchList" or role_of(span.name) is Role.CACHE_WATCH
                    for span in trace.spans.values()
                ):
                    ended.append(key)
        for key in ended:
            self._size -= len(self._traces.pop(key).spans)


def _requests(trace: _Trace, counts: SpanCounts) -> Iterator[TracedRequest]:
    """Yield the requests of a trace: one for each server span, or for each handler without one."""
    spans = trace.spans
    children: dict[str, list[TraceSpan]] = {}
    lost: list[TraceSpan] = []  # below spans that did not come
    for span in spans.values():
        children.setdefault(span.parent, []).append(span)
        if span.parent and span.parent not in spans and not is_server(span):
            lost.append(span)
    servers = [span for span in spans.values() if is_server(span)]
    if not servers and trace.reported:
        return
    for siblings in children.values():
        siblings.sort(key=lambda span: span.start)
    if servers:
        for span in lost:
            top = _around(span, servers)
            if top is not None:
                children.setdefault(top.id, []).append(span)
        for server in servers:
            above = spans.get(server.parent)
            torn = any(_around(span, servers) is server for span in lost)
            request = read_request(server, children, counts, above, torn=torn)
            request.continues = trace.reported
            yield request
        return
    handlers = [span for span in spans.values() if is_handler(span)]
    # Neither server nor handler is known of a WATCH up to 1.35, or without initial events, while it is open.
    for span in handlers or [span for span in lost if span.text(names.AUDIT_ID)][:1]:
        yield read_request(span, children, counts)


def _around(span: TraceSpan, servers: list[TraceSpan]) -> TraceSpan | None:
    """Return the server span during which a span without its parent ran, the shortest one."""
    around = [top for top in servers if top.start <= span.start and span.end <= top.end]
    return min(around, key=lambda top: top.took, default=None)
