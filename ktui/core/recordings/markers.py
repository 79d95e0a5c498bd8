"""Find the moments of a recording to mark: restarts, errors, caches that list again, user markers."""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ktui.config.places import state_home
from ktui.contract import events
from ktui.contract.events import AnyEvent, ServerInfo
from ktui.contract.events.base import UnixTime
from ktui.core.format import integer, many
from ktui.documents.limits import DocumentError, decode_json, read_bytes

MOST = 1_000  # markers found in one recording
BURST = 3  # responses with the same error status …
WITHIN = 10.0  # … within these seconds are a burst, which ends after the same time without one
_BURSTS = {
    410: "410 Expired: clients must list again",
    429: "429 Too Many Requests",
    504: "504: caches could not catch up in time",
}


class TimelineMarker(Struct, frozen=True):
    """A marked time (Unix seconds). `own`: set by a user. `severity` and `cost` are of a finding, else 0."""

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
        if isinstance(event, events.Marker):
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

    def _describe_cache(self, event: events.CacheStatus, at: float) -> str:
        before = self._caches.get(event.resource, "")
        self._caches[event.resource] = event.state
        if event.state == "reinitializing" and before == "ready":
            why = f": {event.error}" if event.error else ""
            return f"cache of {event.resource} re-initialising{why}"
        again = event.state == "initializing" and before == "ready"
        return f"cache of {event.resource} lists again" if again else ""

    def _describe_health(self, event: events.EtcdHealth, at: float) -> str:
        before, self._healthy = self._healthy, event.ok
        alarm, self._alarm = self._alarm, event.alarm
        if event.ok != before:
            return "etcd answers again" if event.ok else "etcd does not answer"
        if event.alarm == alarm:
            return ""
        return "etcd rejects writes" if event.alarm else "etcd accepts writes again"

    def _describe_progress(self, event: events.EtcdProgress, at: float) -> str:
        before, self._histories = self._histories, event.histories
        head, self._head = self._head, event.head
        if event.histories <= before:
            return ""
        if event.head >= head:
            return f"another etcd cluster answers, at revision {integer(event.head)}"
        return f"etcd's revision went back to {integer(event.head)}"

    def _describe_answer(self, event: events.RequestFinished, at: float) -> str:
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


_DESCRIBE: dict[type[Any], Callable[[MarkerFinder, Any, float], str]] = {
    ServerInfo: MarkerFinder._describe_server,
    events.CacheStatus: MarkerFinder._describe_cache,
    events.EtcdHealth: MarkerFinder._describe_health,
    events.EtcdProgress: MarkerFinder._describe_progress,
    events.RequestFinished: MarkerFinder._describe_answer,
    events.Dropped: lambda finder, event, at: f"{many(event.count, 'event')} missing",
}


def is_restart(before: ServerInfo | None, after: ServerInfo) -> bool:
    """True if `after` is another process than `before`: its requests are numbered from 1 again."""
    return before is not None and before.pid != after.pid and 0 not in (before.pid, after.pid)


# Events at the start of a stream that describe older facts.
_OLDER = (events.RequestStarted, events.WatcherOpened)


class Timeline:
    """The recording's clock: advances with the events, never back; some events are late or have no time.

    Times are Unix seconds; 0.0 before the first event that has one.
    """

    def __init__(self, now: float = 0.0) -> None:
        self.began = self.now = now

    def advance(self, event: AnyEvent) -> float:
        """Advance to `event`, and return its time in the recording."""
        if event.at > self.now and (self.began or not isinstance(event, _OLDER)):
            self.began = self.began or event.at
            self.now = event.at
        return self.now


MOST_BYTES = 4 << 20
_ENDING = ".markers.json"


class _Marker(msgspec.Struct):
    at: UnixTime
    text: str = ""


class _Markers(msgspec.Struct):
    markers: list[_Marker]


class MarkerFile:
    """`FILE.markers.json` next to the recording, else in ktui's state directory. `problem`: one sentence."""

    def __init__(self, recording: Path) -> None:
        self.problem = ""
        self.markers: list[TimelineMarker] = []
        recording = recording.absolute()  # "." has no name
        digest = hashlib.sha256(str(recording.resolve()).encode()).hexdigest()[:16]
        elsewhere = state_home(os.environ) / "markers" / f"{recording.name}-{digest}{_ENDING}"
        self._places = [recording.with_name(recording.name + _ENDING), elsewhere]
        self._damaged = False
        path = next((place for place in self._places if place.is_file()), None)
        if path is None:
            return
        try:
            found = decode_json(read_bytes(path, MOST_BYTES), _Markers)
        except (OSError, DocumentError) as error:
            self.problem, self._damaged = f"cannot read the markers in {path}: {error}", True
            return
        self.markers = [TimelineMarker(item.at, item.text, own=True) for item in found.markers]

    def add(self, marker: TimelineMarker) -> None:
        """Add a marker and save the file, unless the existing file could not be read."""
        self.markers.append(marker)
        if self._damaged:
            return
        text = msgspec.json.encode(_Markers([_Marker(item.at, item.text) for item in self.markers]))
        for place in self._places:
            self.problem = _write(place, text)
            if not self.problem:
                return


def _write(path: Path, text: bytes) -> str:
    """Write a file atomically; return the error as a sentence, "" on success."""
    new = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(text)
        new.replace(path)
    except OSError as error:
        return f"cannot save the marker in {path}: {error.strerror}"
    return ""
