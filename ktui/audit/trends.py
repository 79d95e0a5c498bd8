"""Trends while logs are followed: rates of the last minute compared with the first minutes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ktui.audit import phrases
from ktui.audit.report import GroupReport, Report
from ktui.core.format import frequency

FIRST = 120.0  # seconds at the start with which later rates are compared
RECENT = 60.0
_SHOWN = 4
_TIMES = 2.0  # factor from which a rate counts as increased
_Key = tuple[str, str, str, str]


class Trends:
    """Compares the reports that it is given from time to time; times are seconds of any clock."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._start: dict[_Key, int] = {}
        self._first: dict[_Key, float] | None = None  # rates
        self._past: deque[tuple[float, dict[_Key, int]]] = deque()

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
        lines = [f"the last {now - then:.0f} s: {_rate(_lists(report.groups, recent))}"]
        if self._first is not None:
            first = _lists(report.groups, self._first)
            lines[0] += f"; the first {FIRST / 60:.0f} minutes: {_rate(first)}"
            lines += self._increased(report.groups, recent, self._first)
        return lines

    def _increased(
        self, groups: Iterable[GroupReport], recent: dict[_Key, float], first: dict[_Key, float]
    ) -> list[str]:
        found = []
        for group in groups:
            key = _key(group)
            rate, before = recent.get(key, 0.0), first.get(key, 0.0)
            if rate and rate > _TIMES * before:
                what = "new" if not before else f"{frequency(before)} at first"
                found.append(
                    (rate, f"{phrases.who(group)} {phrases.what(group)}: {frequency(rate)} ({what})")
                )
        return [text for _, text in sorted(found, reverse=True)[:_SHOWN]]


def _rate(lists: float) -> str:
    return f"{frequency(lists)} LISTs" if lists else "no LISTs"


def _key(group: GroupReport) -> _Key:
    return group.client, group.user, phrases.what(group), phrases.how(group)


def _rates(before: dict[_Key, int], counts: dict[_Key, int], seconds: float) -> dict[_Key, float]:
    return {key: (count - before.get(key, 0)) / seconds for key, count in counts.items()}


def _lists(groups: Iterable[GroupReport], rates: dict[_Key, float]) -> float:
    return sum(rates.get(_key(group), 0.0) for group in groups if group.verb == "list")
