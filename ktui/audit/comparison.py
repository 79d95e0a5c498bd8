"""Compare two reports, and the rates of logs that are followed: who sends fewer, cheaper or more requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from ktui.audit import phrases
from ktui.audit.report import GroupReport, Report
from ktui.core.format import frequency

_SAME = 0.1  # rates that differ by less than this share count as equal
REPORT_BYTES = 256 << 20


class ReportError(ValueError):
    """A file is not a report; the message says what it should be."""


@dataclass(frozen=True, slots=True)
class Side:
    """A group in one report, or several that differ only in the client's version.

    Rates are per second; `busy` is apiserver time in ms per second.
    """

    per_second: float
    p99: float
    busy: float
    route: str
    bytes_per_second: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """Requests of one client and shape before and after; None if there were none.

    `kind`: `new`, `gone`, `more`, `fewer`, `moved` (another route), or `same`.
    """

    client: str
    user: str
    request: str
    kind: str
    before: Side | None
    after: Side | None

    @property
    def busy(self) -> float:
        """By how much the apiserver's time for them changed, ms per second."""
        return (self.after.busy if self.after else 0.0) - (self.before.busy if self.before else 0.0)


@dataclass(frozen=True, slots=True)
class Totals:
    """LISTs per second of a report, and their share from etcd (0 to 1, None without LISTs)."""

    kube_version: str
    lists_per_second: float | None
    etcd_share: float | None
    busy: float


@dataclass(frozen=True, slots=True)
class ReportChanges:
    """`changes` are sorted by apiserver time: what saves most first, what costs most last."""

    before: Totals
    after: Totals
    changes: tuple[Change, ...]


def parse_report(data: bytes) -> Report:
    """Parse a report of `ktui audit --json`. Raises ReportError."""
    try:
        return msgspec.json.decode(data, type=Report)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ReportError(f"is not a report of `ktui audit --json` ({error})") from None


def compare(before: Report, after: Report) -> ReportChanges:
    """Compare the groups by client, without its version: an upgraded client is the same client."""
    old, new = _sides(before), _sides(after)
    changes = [_change(key, old.get(key), new.get(key)) for key in {**old, **new}]
    changes.sort(key=lambda change: (change.busy, change.client, change.request))
    return ReportChanges(_totals(before), _totals(after), tuple(changes))


_Key = tuple[str, str, str]


def _sides(report: Report) -> dict[_Key, Side]:
    seconds = report.span.seconds if report.span and report.span.seconds else 1.0
    found: dict[_Key, list[GroupReport]] = {}
    for group in report.groups:
        request = f"{phrases.what(group)} {phrases.how(group)}"
        found.setdefault((group.client.partition("/")[0], group.user, request), []).append(group)
    return {key: _side(groups, seconds) for key, groups in found.items()}


def _side(groups: list[GroupReport], seconds: float) -> Side:
    latencies = [group.init_latency if group.verb == "watch" else group.latency for group in groups]
    took = [latency for latency in latencies if latency is not None]
    known = [group.estimated.processed_bytes for group in groups if group.estimated is not None]
    return Side(
        per_second=sum(group.count for group in groups) / seconds,
        p99=max((each.p99 for each in took), default=0.0),
        busy=sum(each.total for each in took) / seconds,
        route=", ".join(sorted({group.route for group in groups})),
        bytes_per_second=sum(known) / seconds if known else None,
    )


def _change(key: _Key, before: Side | None, after: Side | None) -> Change:
    if before is None:
        kind = "new"
    elif after is None:
        kind = "gone"
    elif before.route != after.route:
        kind = "moved"
    elif abs(after.per_second - before.per_second) <= _SAME * before.per_second:
        kind = "same"
    else:
        kind = "more" if after.per_second > before.per_second else "fewer"
    return Change(*key, kind, before, after)


def _totals(report: Report) -> Totals:
    chosen = report.versions[0] if report.versions else None
    lists = chosen.cache + chosen.etcd + chosen.refused if chosen else 0
    seconds = report.span.seconds if report.span else 0.0
    return Totals(
        kube_version=report.kube_version,
        lists_per_second=report.requests.list / seconds if seconds else None,
        etcd_share=chosen.etcd / lists if chosen and lists else None,
        busy=sum(side.busy for side in _sides(report).values()),
    )


FIRST = 120.0  # seconds at the start with which later rates are compared
RECENT = 60.0
_SHOWN = 4
_TIMES = 2.0  # factor from which a rate counts as increased
_TrendKey = tuple[str, str, str, str]


class Trends:
    """Compares the reports that it is given from time to time; times are seconds of any clock."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._start: dict[_TrendKey, int] = {}
        self._first: dict[_TrendKey, float] | None = None  # rates
        self._past: deque[tuple[float, dict[_TrendKey, int]]] = deque()

    def lines(self, report: Report, now: float) -> list[str]:
        """Return lines about current rates, new groups, and groups that send more than at first."""
        counts = {_key(group): group.count for group in report.groups}
        if self._began is None:
            self._began, self._start = now, counts
            self._past.append((now, counts))
            return ["following: rates come with the next lines"]
        self._past.append((now, counts))
        while len(self._past) > 2 and self._past[1][0] <= now - RECENT:
            self._past.popleft()
        if self._first is None and now - self._began >= FIRST:
            self._first = _rates(self._start, counts, now - self._began)
        then, before = self._past[0]
        recent = _rates(before, counts, max(now - then, 1e-9))
        lines = [f"the last {now - then:.0f} s: {_lists(report.groups, recent)}"]
        if self._first is not None:
            lines[0] += f"; the first {FIRST / 60:.0f} minutes: {_lists(report.groups, self._first)}"
            lines += _increased(report.groups, recent, self._first)
        return lines


def _increased(
    groups: Iterable[GroupReport], recent: dict[_TrendKey, float], first: dict[_TrendKey, float]
) -> list[str]:
    found = []
    for group in groups:
        rate, before = recent.get(_key(group), 0.0), first.get(_key(group), 0.0)
        if rate and rate > _TIMES * before:
            what = f"{frequency(before)} at first" if before else "new"
            found.append((rate, f"{phrases.who(group)} {phrases.what(group)}: {frequency(rate)} ({what})"))
    return [text for _, text in sorted(found, reverse=True)[:_SHOWN]]


def _key(group: GroupReport) -> _TrendKey:
    return group.client, group.user, phrases.what(group), phrases.how(group)


def _rates(
    before: dict[_TrendKey, int], counts: dict[_TrendKey, int], seconds: float
) -> dict[_TrendKey, float]:
    return {key: (count - before.get(key, 0)) / seconds for key, count in counts.items()}


def _lists(groups: Iterable[GroupReport], rates: dict[_TrendKey, float]) -> str:
    lists = sum(rates.get(_key(group), 0.0) for group in groups if group.verb == "list")
    return f"{frequency(lists)} LISTs" if lists else "no LISTs"
