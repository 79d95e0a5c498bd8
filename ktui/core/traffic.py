"""The last ten minutes of answered reads, by second: the data of the charts."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable
from functools import cached_property
from itertools import takewhile

from msgspec import Struct, field

from ktui.contract.events import RequestFinished

WINDOW = 10.0  # seconds that a rate looks back
BETWEEN = 2.0  # seconds after which the next reading is overdue, and the rate falls


class Rate:
    """Per-second rate of a growing counter over a sliding window of event time."""

    __slots__ = ("_points",)

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def add(self, at: float, value: int) -> None:
        """Add a reading; a counter that decreased (a restart) starts over."""
        points = self._points
        if points and value < points[-1][1]:
            points.clear()
        if points and at <= points[-1][0]:
            points[-1] = (points[-1][0], value)
            return
        points.append((at, value))
        while len(points) > 2 and points[1][0] <= at - WINDOW:
            points.popleft()

    def per_second(self, now: float) -> float:
        """The mean over the window up to `now`, 0.0 before two readings; it falls once one is overdue."""
        if len(self._points) < 2:
            return 0.0
        last = self._points[-1]
        if now - last[0] > WINDOW:
            return 0.0
        end = now if now - last[0] > BETWEEN else last[0]
        began, value = self._value_at(end - WINDOW)
        return (last[1] - value) / (end - began) if end > began else 0.0

    def _value_at(self, at: float) -> tuple[float, float]:
        """Return time and value at the window's begin: `at`, or the first reading if that is later."""
        before = self._points[0]
        for reading in self._points:
            if reading[0] > at and before[0] < at:  # interpolate: the window begins between two readings
                share = (at - before[0]) / (reading[0] - before[0])
                return at, before[1] + (reading[1] - before[1]) * share
            if reading[0] >= at:
                return reading
            before = reading
        return before


KEPT = 600  # seconds
ANSWERED_READS = ("GET", "LIST")
STORAGE_LETTERS = frozenset("CSE!")  # badges of reads that reached cache or etcd, and of errors
_STEP = math.log(1.1)  # width of a duration class: 10 %


class Second(Struct):
    """The reads answered within one second, or within several seconds."""

    routes: Counter[str] = field(default_factory=Counter)  # answers by letter: C S E !
    sent_bytes: int = 0  # to clients
    etcd_bytes: int = 0  # read from etcd for them
    most_ms: float = 0.0
    durations: Counter[int] = field(default_factory=Counter)  # answers by class of duration
    marked: bool = False  # a marker was set, or a fault began or ended

    def add(self, letter: str, event: RequestFinished) -> None:
        self.routes[letter] += 1
        self.sent_bytes += event.sent_bytes
        self.etcd_bytes += event.etcd_bytes
        self.most_ms = max(self.most_ms, event.ms)
        self.durations[math.floor(math.log(max(event.ms, 0.001)) / _STEP)] += 1

    def merge(self, other: Second) -> None:
        self.routes.update(other.routes)
        self.sent_bytes += other.sent_bytes
        self.etcd_bytes += other.etcd_bytes
        self.most_ms = max(self.most_ms, other.most_ms)
        self.durations.update(other.durations)
        self.marked |= other.marked

    @property
    def answers(self) -> int:
        return self.durations.total()

    def quantile(self, share: float) -> float:
        """Return the duration (ms) that `share` of the answers did not exceed, within 5 %; 0.0 if none."""
        wanted, seen = share * self.answers, 0
        for place in sorted(self.durations):
            seen += self.durations[place]
            if seen >= wanted:
                return min(math.exp((place + 0.5) * _STEP), self.most_ms)
        return 0.0


class TrafficWindow(Struct, frozen=True, dict=True):
    """A stretch of the history in equal parts, oldest first, up to the last complete part."""

    end: int  # Unix seconds
    step: int  # seconds per part
    parts: tuple[Second, ...]

    @property
    def seconds(self) -> int:
        return self.step * len(self.parts)

    @cached_property
    def whole(self) -> Second:
        """The sum of all parts."""
        total = Second()
        for part in self.parts:
            total.merge(part)
        return total

    def rates(self, value: Callable[[Second], float]) -> list[float]:
        """Return a counted value of each part, per second."""
        return [value(part) / self.step for part in self.parts]

    def values(self, value: Callable[[Second], float]) -> list[float]:
        """Return a measured value of each part."""
        return [value(part) for part in self.parts]


class History:
    """The last `KEPT` seconds, by the events' times; seconds without answers have no entry."""

    def __init__(self) -> None:
        self._seconds: dict[int, Second] = {}
        self._newest = 0
        self._parts: dict[tuple[int, int], Second] = {}  # complete parts, by step and first second
        self._read_until = 0  # end of the newest window that was read
        self.late = 0  # increases when a part that was read has changed

    def __getstate__(self) -> dict[str, object]:
        """Return the state for keyframes, without what can be computed again."""
        return {**self.__dict__, "_parts": {}, "_read_until": 0}

    def add(self, letter: str, event: RequestFinished) -> None:
        """Add an answer with badge `letter`; one that did not reach storage is not counted."""
        if letter in STORAGE_LETTERS and (second := self._second(event.at)) is not None:
            second.add(letter, event)

    def mark(self, at: float) -> None:
        """Mark the second at `at` (Unix seconds): a marker, or the begin or end of a fault."""
        if (second := self._second(at)) is not None:
            second.marked = True

    def _second(self, moment: float) -> Second | None:
        """Return the Second at `moment` to be changed; None if it is too long ago."""
        at = int(moment)
        if at <= self._newest - KEPT:
            return None
        if at > self._newest:
            self._newest = at
            # Seconds are oldest first, except for a few late ones, which are dropped later.
            for old in list(takewhile(lambda second: second <= at - KEPT, self._seconds)):
                del self._seconds[old]
        if at < self._read_until:
            self.late += 1
            self._parts.clear()
        return self._seconds.setdefault(at, Second())

    def span(self, now: float, parts: int, step: int) -> TrafficWindow:
        """Return the last `parts` × `step` seconds before `now`.

        Parts begin at multiples of `step`, so an answer stays in the same part over time.
        The current, incomplete part is left out: it would always look like a drop.
        """
        end = int(now) // step * step
        begin = end - parts * step
        self._read_until = max(self._read_until, end)
        return TrafficWindow(end, step, tuple(self._part(step, first) for first in range(begin, end, step)))

    def _part(self, step: int, first: int) -> Second:
        made = self._parts.get((step, first))
        if made is None:
            made = Second()
            for at in range(first, first + step):
                if (second := self._seconds.get(at)) is not None:
                    made.merge(second)
            if len(self._parts) >= 4 * KEPT:
                self._parts.clear()
            self._parts[step, first] = made
        return made
