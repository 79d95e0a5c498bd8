"""Find the moments of a recording to mark: restarts, errors, caches that list again, user markers."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    Dropped,
    EtcdHealth,
    EtcdProgress,
    Marker,
    RequestFinished,
    ServerInfo,
)
from ktui.core.format import integer, many

MOST = 1_000  # markers found in one recording
BURST = 3  # responses with the same error status …
WITHIN = 10.0  # … within these seconds are a burst, which ends after the same time without one
_BURSTS = {
    410: "410 Expired: clients must list again",
    429: "429 Too Many Requests",
    504: "504: caches could not catch up in time",
}


class TimelineMarker(Struct, frozen=True):
    """A marked time (Unix seconds). `own`: set by a user, not found by ktui.

    `severity` and `cost` are those of a finding, 0 for other markers.
    """

    at: float
    text: str
    own: bool = False
    severity: int = 0
    cost: float = 0.0


def worst_finding(markers: Iterable[TimelineMarker]) -> TimelineMarker | None:
    """Return the marker of the most severe finding, of these the most expensive, of these the first one."""
    found = [marker for marker in markers if marker.severity]
    return max(found, key=lambda marker: (marker.severity, marker.cost, -marker.at), default=None)


class MarkerFinder:
    """Finds markers in events, which have to be passed oldest first."""

    def __init__(self) -> None:
        self._server: ServerInfo | None = None
        self._caches: dict[str, str] = {}  # state by resource
        self._healthy = True
        self._alarm = ""
        self._histories = self._head = 0
        self._answers: defaultdict[int, deque[float]] = defaultdict(deque)
        self._bursting: set[int] = set()
        self._found = 0
        self._began = 0.0

    def marker_for(self, event: AnyEvent, at: float) -> TimelineMarker | None:
        """Return the marker for `event`, whose time is `at` (Unix seconds); None if it needs none."""
        self._began = self._began or at
        if isinstance(event, Marker):
            # It was written after its text was typed: `event.at` is the time of the key press.
            meant = event.at if self._began <= event.at <= at else at
            own = not event.severity
            return TimelineMarker(meant, event.text, own, event.severity, event.cost)
        describe = _DESCRIBE.get(type(event))
        text = describe(self, event, at) if describe is not None and self._found < MOST else ""
        if not text:
            return None
        self._found += 1
        return TimelineMarker(at, text)

    def _describe_server(self, event: ServerInfo, at: float) -> str:
        before, self._server = self._server, event
        if before is None:
            return ""
        if is_restart(before, event):
            self._caches.clear()
            return "server restarted"
        if (before.kube_version, before.feature_gates) != (event.kube_version, event.feature_gates):
            gates = " with other gates" if before.feature_gates != event.feature_gates else ""
            return f"rules of Kubernetes {event.kube_version}{gates}"
        return ""

    def _describe_cache(self, event: CacheStatus, at: float) -> str:
        before = self._caches.get(event.resource, "")
        self._caches[event.resource] = event.state
        if event.state == before or before not in ("ready", "reinitializing"):
            return ""
        if event.state == "reinitializing":
            why = f": {event.error}" if event.error else ""
            return f"cache of {event.resource} re-initialising{why}"
        if event.state == "initializing" and before == "ready":
            return f"cache of {event.resource} lists again"
        return ""

    def _describe_health(self, event: EtcdHealth, at: float) -> str:
        before, self._healthy = self._healthy, event.ok
        alarm, self._alarm = self._alarm, event.alarm
        if event.ok != before:
            return "etcd answers again" if event.ok else "etcd does not answer"
        if event.alarm == alarm:
            return ""
        return "etcd rejects writes" if event.alarm else "etcd accepts writes again"

    def _describe_progress(self, event: EtcdProgress, at: float) -> str:
        before, self._histories = self._histories, event.histories
        head, self._head = self._head, event.head
        if event.histories <= before:
            return ""
        if event.head >= head:
            return f"another etcd cluster answers, at revision {integer(event.head)}"
        return f"etcd's revision went back to {integer(event.head)}"

    def _describe_answer(self, event: RequestFinished, at: float) -> str:
        status = event.status
        if status not in _BURSTS:
            return ""
        times = self._answers[status]
        if times and at - times[-1] > WITHIN:
            self._bursting.discard(status)
        times.append(at)
        while at - times[0] > WITHIN:
            times.popleft()
        if len(times) < BURST or status in self._bursting:
            return ""
        self._bursting.add(status)
        return _BURSTS[status]

    def _describe_dropped(self, event: Dropped, at: float) -> str:
        return f"{many(event.count, 'event')} missing"


_DESCRIBE: dict[type[Any], Callable[[MarkerFinder, Any, float], str]] = {
    ServerInfo: MarkerFinder._describe_server,
    CacheStatus: MarkerFinder._describe_cache,
    EtcdHealth: MarkerFinder._describe_health,
    EtcdProgress: MarkerFinder._describe_progress,
    RequestFinished: MarkerFinder._describe_answer,
    Dropped: MarkerFinder._describe_dropped,
}


def is_restart(before: ServerInfo | None, after: ServerInfo) -> bool:
    """True if `after` is another process than `before`: its requests are numbered from 1 again."""
    return before is not None and before.pid != after.pid and 0 not in (before.pid, after.pid)
