"""How fast a counter moves, from the times that the events themselves bear."""

from __future__ import annotations

from collections import deque

WINDOW = 10.0  # seconds a rate looks back


class Rate:
    """Per-second rate of a growing counter over a sliding window of event time."""

    __slots__ = ("_points",)

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def add(self, at: float, value: int) -> None:
        """Take a reading; a counter that went back (a restart) begins anew."""
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
        """The mean over the window that ends at `now` (seconds); 0.0 before two readings."""
        if len(self._points) < 2:
            return 0.0
        first, last = self._points[0], self._points[-1]
        if now - last[0] > WINDOW:
            return 0.0
        span = max(now, last[0]) - first[0]
        return (last[1] - first[1]) / span if span > 0 else 0.0
