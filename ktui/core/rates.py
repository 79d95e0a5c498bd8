"""The rate of a counter, from the times of the events themselves."""

from __future__ import annotations

from collections import deque

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
        """The mean over the window that ends at `now` (seconds); 0.0 before two readings.

        It falls only once readings are overdue, not between two of them.
        """
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
