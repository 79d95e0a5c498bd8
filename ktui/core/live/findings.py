"""Advice from live figures, most expensive first. Each finding names its metric and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ktui.contract.events import Marker
from ktui.core.format import (
    duration,
    elapsed,
    frequency,
    integer,
    long_bytes,
    long_milliseconds,
    many,
    percent,
    shorten,
    times,
)
from ktui.core.live.live_state import LiveState, all_routes
from ktui.core.live.processes import (
    WEBHOOK,
    LevelRow,
    admission_rows,
    level_rows,
    process_growth,
    slow_admission,
)
from ktui.core.live.resource_findings import (
    LEAST_CALLS,
    LIST_MEMORY,
    SLOW_ADMISSION_MS,
    TLS_ERRORS,
    Finding,
    Severity,
    finding,
    holds_lists,
    rate,
    resource_findings,
)
from ktui.core.live.resource_routes import ResourceRoutes


def verdict(routes: Sequence[ResourceRoutes]) -> str:
    """Return a sentence about the first of `routes`: the one whose LISTs by clients read most objects."""
    listed = [row for row in routes if row.served or row.lists]
    if not routes:
        return "no scrape yet"
    if not any(row.seconds for row in routes):
        return "one scrape so far: rates need two"
    if not listed:
        return f"no LIST by clients in {duration(max(row.seconds for row in routes))}"
    worst = listed[0]
    if worst.served is None:
        return f"{worst.resource}: this server does not report where LISTs are served from"
    factor = worst.amplification
    amplified = f"; {times(factor)} more objects read than returned" if factor and factor >= 2 else ""
    return f"{worst.resource}: {_route(worst)}{amplified}"


def _route(row: ResourceRoutes) -> str:
    count, span = round(row.served or 0), duration(row.seconds)
    every = f"{many(count, 'LIST')} in {span}"
    whole = f"all {every}" if count > 1 else f"the only LIST in {span}"
    beside = 0.0 if row.succeeded is None else count - row.succeeded  # LISTs that no LIST request explains
    of_deletes = _of_deletes(count, round(min(row.collection_deletes or 0, beside)))
    of_etcd = row.etcd_share
    if not of_etcd:
        return f"{whole} from the watch cache{of_deletes}"
    if of_etcd == 1:
        return f"{whole} from etcd{of_deletes}"
    fetched = (row.etcd.fetched or 0) / row.fetched if row.fetched else 0.0
    return (
        f"{percent(1 - of_etcd)} of {every} from the cache; "
        f"the {percent(of_etcd)} from etcd fetched {percent(fetched)} of the objects{of_deletes}"
    )


def _of_deletes(lists: int, deletes: int) -> str:
    """Return how many LISTs read a collection that is being deleted: they are no requests to LIST."""
    if deletes <= 0:
        return ""
    if lists == 1:
        return ", for the DELETE of a collection"
    return f", {'all' if deletes == lists else integer(deletes)} of them for DELETEs of collections"


__all__ = ["SLOW_ADMISSION_MS", "Finding", "Severity", "findings", "worst"]

NAMED = 3  # resources of a merged finding, besides the first
# One cause outside the resource, as an etcd that stalls, gives these for many resources.
SHARED_CAUSE = frozenset((
    "consistent-read-fallback", "consistent-read-rejected", "slow-consistent-reads", "cache-refilled",
    "cache-check-error", "cache-cannot-fill", "requests-terminated",
))  # fmt: skip


def findings(live: LiveState, seconds: float | None = None) -> list[Finding]:
    """Return the findings of the last `seconds` (None: of everything kept), most urgent first."""
    found: list[Finding] = live.sums.listed(
        ("findings", seconds), live.touched, lambda: _findings(live, seconds), whole=True
    )
    return found


def _findings(live: LiveState, seconds: float | None) -> list[Finding]:
    minor = max((row.minor for row in live.replicas.values()), default=0)
    found: list[Finding] = []
    if live.covered(seconds):  # one scrape says nothing of rates
        routes = all_routes(live, seconds)
        for row in routes:
            found += resource_findings(row, minor)
        if holds_lists(minor):
            found += _memory_findings(live, routes)
        for level in level_rows(live, seconds):
            found += _level_findings(level)
        found += _process_findings(live, seconds)
        found = merged(found)
    found += _server_findings(live)
    return sorted(found, key=lambda item: (-item.severity, -item.cost, item.subject))


def merged(found: list[Finding]) -> list[Finding]:
    """Make one finding of those that the same cause gives for several resources."""
    by_id: dict[str, list[Finding]] = {}
    for item in found:
        by_id.setdefault(item.id, []).append(item)
    kept: list[Finding] = []
    if "consistent-read-fallback" in by_id or "consistent-read-rejected" in by_id:
        by_id.pop("slow-consistent-reads", None)  # the waits that ended in time
    for id_, items in by_id.items():
        first = max(items, key=lambda item: (item.severity, item.cost))
        if id_ not in SHARED_CAUSE or len(items) == 1:
            kept += items
            continue
        others = sorted(item.subject for item in items if item is not first)
        names = ", ".join(others[:NAMED]) + (
            f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        )
        text, cost = f"{first.text}; the same of {names}", sum(item.cost for item in items)
        kept.append(msgspec.structs.replace(first, text=text, cost=cost))
    return kept


def worst(found: list[Finding]) -> Severity | None:
    return max((item.severity for item in found), default=None)


def _memory_findings(live: LiveState, routes: list[ResourceRoutes]) -> Iterator[Finding]:
    """Estimate the memory that answers of LISTs hold: bytes per second × how long a LIST takes."""
    held = {
        row.resource: row.bytes / row.seconds * row.list_ms / 1000
        for row in routes
        if row.bytes and row.list_ms and row.seconds
    }
    memory = sum(row.scrape.memory_bytes or 0 for row in live.present)
    whole = sum(held.values())
    if not memory or whole / memory < LIST_MEMORY:
        return
    largest = max(held, key=held.__getitem__)
    text = f"answers of LISTs hold about {long_bytes(whole)} on average, {percent(whole / memory)} of "
    yield finding("list-memory", largest, f"{text}kube-apiserver's memory; most of it {largest}", whole)


def _level_findings(row: LevelRow) -> Iterator[Finding]:
    if row.rejected:
        counted = row.reasons.items()
        reasons = ", ".join(f"{name.replace('_', ' ')} {integer(round(count))}" for name, count in counted)
        text = f"{many(round(row.rejected), 'request')} of this level rejected with 429"
        text += f" ({reasons})" if reasons else ""
        if row.queue_never_empty:
            text += f"; some were queued in each of {many(row.queue_samples, 'sample')}"
        yield finding("rejected", row.level, text, rate(row, row.rejected))
    elif row.queue_never_empty:
        wait = f"; half of them waited over {long_milliseconds(row.wait_p50)}" if row.wait_p50 else ""
        text = f"requests were queued in each of {many(row.queue_samples, 'sample')}{wait}"
        yield finding("queue-never-empty", row.level, text, rate(row, row.dispatched))


def _process_findings(live: LiveState, seconds: float | None) -> Iterator[Finding]:
    """Yield what replicas report besides resources and levels: slow admission, failing TLS handshakes."""
    for call in slow_admission(admission_rows(live, seconds), SLOW_ADMISSION_MS, LEAST_CALLS):
        id_ = "slow-webhook" if call.kind == WEBHOOK else "slow-admission"
        took, calls = long_milliseconds(call.ms), many(round(call.calls), "call")
        text = f"this admission {call.kind} took {took} on average in {calls}"
        yield finding(id_, call.name, text, call.calls * call.ms / 1000)
    errors = [process_growth(row, seconds) for row in live.replicas.values()]
    failed = sum(growth.tls_errors or 0.0 for growth in errors)
    span = max((growth.seconds for growth in errors), default=0.0)
    if span and failed / span >= TLS_ERRORS:
        text = f"{many(round(failed), 'TLS handshake')} failed ({frequency(failed / span)})"
        yield finding("tls-handshake-errors", "kube-apiserver", text, failed / span)


def _server_findings(live: LiveState) -> Iterator[Finding]:
    server, subject = live.server, "kube-apiserver"
    if server is None:
        return
    for denied in server.denied:
        if denied.path == "/metrics":
            text = f"/metrics cannot be read ({denied.reason}): there are no figures"
            yield finding("metrics-denied", subject, text)
    down = [row for row in live.replicas.values() if row.down is not None]
    for row in down:
        text = f"replica {row.name} does not answer: {row.down.reason if row.down else ''}"
        yield finding("replica-down", subject, text)
    reached, expected = len(live.present), max(0, (server.expected or 0) - len(down))
    if expected > reached > 0:
        text = f"{reached} of {many(expected, 'replica')} reached: all figures are of these"
        yield finding("replicas-not-reached", subject, text)
    for check in server.not_ready:
        yield finding("not-ready", subject, f"the readiness check {check} fails")
    hidden = max((row.scrape.hidden_metrics or 0 for row in live.replicas.values()), default=0)
    if hidden:
        text = f"{many(hidden, 'metric')} hidden or disabled by the server"
        yield finding("hidden-metrics", subject, text)


WINDOW = 60.0  # seconds of the figures that are judged
ABSENT = 600.0  # seconds without a finding, after which it is new again
REPEATED = 6 * 3600.0  # seconds after which a finding that lasts is marked again: old segments are deleted
OUTAGE = 60.0  # seconds without figures, after which that is critical
LONGEST_PROBLEM = 200  # characters
MOST_KEPT = 10_000  # findings that are known; beyond that all are new again


class _Known(msgspec.Struct):
    severity: int
    marked: float
    seen: float


class NewFindings:
    """Remembers the findings, and makes a marker at each that is new or has become more severe."""

    def __init__(self) -> None:
        self.count = 0  # markers made
        self.worst: Marker | None = None  # the most severe one, of these the most expensive
        self._outage: tuple[float, int] | None = None  # since when there are no figures, severity marked
        self._known: dict[tuple[str, str], _Known] = {}  # by id and subject, "" for any

    def markers(self, live: LiveState, now: float) -> list[Marker]:
        """Return the markers of the findings that are new at `now` (Unix seconds), most urgent first."""
        found = []
        for item in findings(live, WINDOW):
            key = (item.id, "" if item.id in SHARED_CAUSE else item.subject)
            known = self._known.get(key)
            if known is not None and not (
                item.severity > known.severity or now - known.seen > ABSENT or now - known.marked > REPEATED
            ):
                known.seen = now
                continue
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            self._known[key] = _Known(item.severity, now, now)
            found.append(_marker(item, now))
        return self._noted(found)

    def outage(self, problem: str, now: float) -> list[Marker]:
        """Return a marker when a time without figures begins, and one when it has lasted OUTAGE seconds.

        `problem` is why there are none, "" if there are.
        """
        if not problem:
            self._outage = None
            return []
        since, marked = self._outage or (now, 0)
        severity = Severity.CRITICAL if now - since >= OUTAGE else Severity.WARNING
        if severity <= marked:
            return []
        self._outage = since, severity
        span = f" for {elapsed(now - since)}" if marked else ""
        text = f"no figures{span}: {shorten(problem, LONGEST_PROBLEM)}"
        return self._noted([_marker(Finding("no-figures", severity, "kube-apiserver", text, "", ""), now)])

    def _noted(self, found: list[Marker]) -> list[Marker]:
        self.count += len(found)
        known = [self.worst] if self.worst is not None else []
        self.worst = max([*known, *found], key=lambda marker: (marker.severity, marker.cost), default=None)
        return found


def _marker(item: Finding, now: float) -> Marker:
    text = f"{item.severity.name.lower()}: {item.subject}: {item.text}"
    return Marker(at=now, text=text, severity=int(item.severity), cost=max(0.0, item.cost))
