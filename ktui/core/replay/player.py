"""Play a recording by its own times, and parse times and speeds as users write them.

Callers pass the elapsed time.
"""

from __future__ import annotations

import math
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import datetime

from ktui.contract.recording import RecordingError
from ktui.core import reducer
from ktui.core.replay.index import Index, ReplayPosition, ReplayStep, is_new_server
from ktui.core.state import State

_OFFSET = re.compile(r"([+-]?)(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)s?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2}):(\d{2})", re.ASCII)
FASTEST = math.inf  # a pace: as fast as possible
FORMS = "90, 1:30 or 1:02:30 from the start, -30 from the end, @14:05:30, or 2026-09-21T14:05:30Z"


def spot(text: str, began: float, ended: float) -> float:
    """Return the time within a recording that `text` names (Unix seconds).

    `90`, `1:30`, `1:02:30` count from its beginning, with `-` from its end; `@14:05:30` is
    the first such local time after the beginning; otherwise an RFC 3339 time.
    Raises RecordingError for any other text, or a time outside the recording.
    """
    at = _named(text.strip(), began, ended)
    if at is None:
        raise RecordingError(f"{text!r} is not a time of a recording: write {FORMS}")
    if not began - 1 <= at <= ended + 1:
        raise RecordingError(f"{text} lies outside the recording, which is {ended - began:,.0f} s long")
    return min(max(at, began), ended)


def _named(text: str, began: float, ended: float) -> float | None:
    if match := _OFFSET.fullmatch(text):
        sign, hours, minutes, seconds = match.groups()
        offset = int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds)
        return ended - offset if sign == "-" else began + offset
    if text.startswith("@") and (match := _CLOCK.fullmatch(text[1:])):
        hour, minute, second = map(int, match.groups())
        day = time.localtime(began)
        for date in (day.tm_mday, day.tm_mday + 1):
            at = time.mktime((day.tm_year, day.tm_mon, date, hour, minute, second, 0, 0, -1))
            if at >= int(began):
                return at
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def pace(text: str) -> float:
    """Parse a speed factor: `4`, `x4`, `0.25`, `max` (FASTEST). Raises RecordingError."""
    word = text.strip().lower().removeprefix("×").removeprefix("x")
    if word in ("max", "inf"):
        return FASTEST
    try:
        factor = float(word)
    except ValueError:
        factor = 0.0
    if not 0 < factor < FASTEST:
        raise RecordingError(f"{text!r} is not a replay speed: write a factor above 0, or max")
    return factor


SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, FASTEST)
SILENCE = 5.0  # seconds of the recording without an event …
LONGEST_PAUSE = 2.0  # … last at most this many real seconds
MOST_AT_ONCE = 5_000  # events folded in one go, so that keys are handled in between


class Player:
    """A position in a recording, and how it advances. Times are the recording's, in Unix seconds."""

    def __init__(self, index: Index, speed: float = 1.0) -> None:
        self.index = index
        self.speed = speed
        self.playing = True
        self.number = 0  # events that have been played
        self.at = index.began
        self.state = State()
        self.last: ReplayStep | None = None  # the newest event played, None right after a seek
        self._generation = 0
        self._last_at = index.began  # when the last event came
        self._silence = 0.0  # real seconds since then
        self._steps: Iterator[ReplayStep] = index.steps(0)
        self._next = next(self._steps, None)

    @property
    def ended(self) -> bool:
        return self._next is None

    def advance(self, elapsed: float) -> None:
        """Advance by `elapsed` real seconds."""
        if not self.playing or elapsed <= 0:
            return
        if self._next is None:
            self.playing = False
            return
        self._silence += elapsed
        until = self.at + elapsed * self.speed
        skips = self._silence >= LONGEST_PAUSE and self._next.at - self._last_at > SILENCE
        if skips or self.speed == FASTEST:
            until = max(until, self._next.at)
        for _ in range(MOST_AT_ONCE):
            if self._next is None or self._next.at > until:
                self.at = min(until, self.index.ended)
                break
            self.step_forward()

    def step_forward(self) -> None:
        """Apply one more event."""
        step = self._next
        if step is None:
            return
        if is_new_server(self.state, step.event):
            self._show(State())
        reducer.apply(self.state, (step.event,))
        self.number, self.at, self.last = step.number + 1, max(self.at, step.at), step
        self._last_at, self._silence = step.at, 0.0
        self._next = next(self._steps, None)

    def _show(self, state: State) -> None:
        """Replace the state; all counters of its `touched` increase, so that every panel repaints."""
        self._generation += 1
        for name in state.touched.__struct_fields__:
            setattr(state.touched, name, getattr(state.touched, name) + (self._generation << 40))
        self.state = state

    def put(self, place: ReplayPosition) -> None:
        """Go to a position from `index.place_at`, which callers may compute in a thread."""
        self._show(place.state)
        self.number, self.at, self.last = place.number, place.at, None
        self._last_at, self._silence = place.at, 0.0
        self._steps = self.index.steps(place.number)
        self._next = next(self._steps, None)

    def seek(self, at: float) -> None:
        self.put(self.index.place_at(at))

    def faster(self) -> None:
        self.speed = SPEEDS[min(bisect_right(SPEEDS, self.speed), len(SPEEDS) - 1)]

    def slower(self) -> None:
        self.speed = SPEEDS[max(bisect_left(SPEEDS, self.speed) - 1, 0)]
