"""Markers for a recording at each new finding about a live cluster."""

from __future__ import annotations

import msgspec

from ktui.contract.events import Marker
from ktui.core.format import elapsed, shorten
from ktui.core.live.finding_kinds import Finding, Severity
from ktui.core.live.findings import SHARED_CAUSE, findings
from ktui.core.live.live_state import LiveState

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
            if known is not None and not _is_new(known, item, now):
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
        for marker in found:
            if self.worst is None or _rank(marker) > _rank(self.worst):
                self.worst = marker
        return found


def _is_new(known: _Known, item: Finding, now: float) -> bool:
    return item.severity > known.severity or now - known.seen > ABSENT or now - known.marked > REPEATED


def _marker(item: Finding, now: float) -> Marker:
    text = f"{item.severity.name.lower()}: {item.subject}: {item.text}"
    return Marker(at=now, text=text, severity=int(item.severity), cost=max(0.0, item.cost))


def _rank(marker: Marker) -> tuple[int, float]:
    return marker.severity, marker.cost
