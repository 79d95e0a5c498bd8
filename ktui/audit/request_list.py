"""`ktui audit --requests`: every request of the logs as one line of JSON, whatever the kind of its log.

A request that is in several logs is one line: an audit Event tells the account, an OTLP trace the route.
They are matched by their Audit-ID, among as many requests as are kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from ktui.audit.formats.log_record import LoggedRequest, Skips, SlowRequest
from ktui.audit.log_reader import FileCount, LogReader
from ktui.audit.periods import iso_time
from ktui.audit.tally import TallyOptions
from ktui.kube.requestinfo import api_verb, parse_path, request_verb, split_url
from ktui.traces.spans import SPANS, TRACE_LINES, TracedRequest

MOST = 200_000
"""Most requests that are kept to be joined."""
_AGENT = 200  # characters of a user agent that are compared: klog's traces cut it
EVENT, HTTPLOG = "audit", "httplog"
INCOMPLETE = f"{SPANS} (incomplete)"
_ORDER = {EVENT: 0, HTTPLOG: 1, SPANS: 2, INCOMPLETE: 2, TRACE_LINES: 3}


class ListedRequest(msgspec.Struct, gc=False):
    """One line. A number is null, a text empty, where no log tells it.

    `ms` of a WATCH is how long it was open. `route` is `cache`, `etcd`, `none` (no object was read), or
    empty. `path` has the query, if a log has it.
    """

    audit_id: str
    time: str
    verb: str
    path: str
    user: str = ""
    user_agent: str = ""
    status: int | None = None
    route: str = ""
    fallback: bool | None = None
    scanned: int | None = None
    returned: int | None = None
    bytes: int | None = None
    ms: float | None = None
    stages: dict[str, float] = {}
    source: str = ""


class RequestList(LogReader):
    """Collects requests from blocks of records, as a Tally does, and gives each of them to `emit` once."""

    def __init__(self, options: TallyOptions, emit: Callable[[ListedRequest], None]) -> None:
        super().__init__(options.now, writes=True)
        self._since, self._until = options.since, options.until
        self._emit = emit
        self._kept: OrderedDict[str, dict[str, ListedRequest]] = OrderedDict()  # by Audit-ID and source
        self._numbers = 0
        self.overflowed = False
        self.queryless = False  # a log leaves out query strings

    def finish(self) -> None:
        """Give all requests that are kept, in the order of time."""
        self._take_traced(self.traces.finish(), self.files[-1], [])
        rest = map(_joined, self._kept.values())
        for listed in sorted(rest, key=lambda listed: listed.time):
            self._give(listed)
        self._kept.clear()

    def _give(self, listed: ListedRequest) -> None:
        """Emit a request, unless all that is known of it is an Audit-ID and a route."""
        if listed.path:
            self._emit(listed)

    def _take_requests(self, requests: list[LoggedRequest], file: FileCount) -> None:
        for request in requests:
            self.queryless = self.queryless or not request.query
            self._take(_of_log(request), request.at, file)

    def _take_traced(self, traced: list[TracedRequest], file: FileCount, found: list[LoggedRequest]) -> None:
        for request in traced:
            self._take(of_trace(request), request.at + max(0, request.took), file)

    def _take_slow(self, slow: SlowRequest, file: FileCount) -> None:
        """A request of etcd's log is in no line: it is none of a client."""

    def _take(self, listed: ListedRequest, at: int, file: FileCount) -> None:
        """Add a request that ended at `at`, if it is from `since` to `until`."""
        if self._since <= at <= self._until:
            file.read += 1
            self._add(listed)
        else:
            file.skipped[Skips.OUTSIDE.what] += 1

    def _add(self, listed: ListedRequest) -> None:
        key = listed.audit_id
        while not key or not _fits(listed, self._kept.get(key, {})):  # a client may send one ID many times
            self._numbers += 1
            key = f"{listed.audit_id}#{self._numbers}"
        sources = self._kept.setdefault(key, {})
        before = sources.get(listed.source)
        if before is None or before.status is None or listed.status is not None:
            sources[listed.source] = listed
        if len(self._kept) > MOST:
            self.overflowed = True
            for _ in range(MOST // 2):
                self._give(_joined(self._kept.popitem(last=False)[1]))


def _fits(listed: ListedRequest, sources: dict[str, ListedRequest]) -> bool:
    """True if a record can be of the request with its Audit-ID, which clients may choose."""
    for other in sources.values():
        if listed.source == other.source and listed.time != other.time and listed.verb != "watch":
            return False
        paths = listed.path.partition("?")[0], other.path.partition("?")[0]
        agents = listed.user_agent[:_AGENT], other.user_agent[:_AGENT]
        if any(all(pair) and pair[0] != pair[1] for pair in (paths, agents)):
            return False
    return True


def _of_log(request: LoggedRequest) -> ListedRequest:
    event, verb, spent = request.verb.islower(), request.verb.lower(), request.spent
    path, query = split_url(request.uri)
    info = parse_path(path)
    if not event and info.is_resource:
        verb = api_verb(request_verb(request.verb, info, query)) or verb
    stages = {}
    if spent is not None:  # what the apiserver annotated, under the names that traces have for it
        stages = {"flow control": spent.queue, "etcd": spent.etcd, "encode": spent.encode,
                  "send": spent.write, "other": spent.other}  # fmt: skip
    return ListedRequest(
        audit_id=request.id, time=_iso(request.at - max(0, request.took)), verb=verb, path=request.uri,
        user=request.user, user_agent=request.agent, status=_known(request.code),
        ms=round(request.took / 1000, 3) if request.took >= 0 and request.done else None,
        stages={name: micros / 1000 for name, micros in stages.items() if micros > 0},
        source=EVENT if event else HTTPLOG,
    )  # fmt: skip


def of_trace(request: TracedRequest) -> ListedRequest:
    same = ("audit_id", "verb", "path", "user_agent", "route", "fallback", "stages")
    return ListedRequest(
        time=_iso(request.at), status=_known(request.status), scanned=_known(request.scanned),
        returned=_known(request.returned), bytes=_known(request.body),
        ms=round(request.took / 1000, 3) if request.took >= 0 else None,
        source=INCOMPLETE if request.source == SPANS and not request.complete else request.source,
        **{name: getattr(request, name) for name in same},
    )  # fmt: skip


def _known(number: int) -> int | None:
    return number if number >= 0 else None


def _iso(micros: int) -> str:
    return iso_time(micros, "microseconds").replace("+00:00", "Z")


def _joined(sources: dict[str, ListedRequest]) -> ListedRequest:
    """Return one request of what several logs say of it. Complete spans say most, klog's traces least."""
    if INCOMPLETE in sources and SPANS in sources:
        partial = sources.pop(INCOMPLETE)  # a WATCH, reported while it was open
        whole = sources[SPANS]
        whole.route, whole.fallback = whole.route or partial.route, whole.fallback or partial.fallback
        whole.stages = {**partial.stages, **whole.stages}
    logs = [sources[name] for name in sorted(sources, key=_ORDER.__getitem__)]
    if len(logs) == 1:
        return logs[0]
    told = sorted(logs, key=lambda listed: _ORDER[listed.source] in (0, 1))  # traces first
    routed = next((listed for listed in told if listed.route), None)
    found = {name: _first(logs, name) for name in ("verb", "user", "user_agent", "status")}
    found |= {name: _first(told, name) for name in ("scanned", "returned", "bytes", "ms", "stages")}
    return ListedRequest(
        audit_id=logs[0].audit_id, time=min(listed.time for listed in logs),
        path=next((listed.path for listed in logs if "?" in listed.path), "") or _first(logs, "path"),
        route=routed.route if routed else "", fallback=routed.fallback if routed else None,
        source="+".join(listed.source for listed in logs), **found,
    )  # fmt: skip


def _first(logs: list[ListedRequest], name: str) -> Any:
    """Return the first value that a log tells; without any the last one, which says that none does."""
    values = [getattr(listed, name) for listed in logs]
    return next((value for value in values if value not in ("", None, {})), values[-1])
