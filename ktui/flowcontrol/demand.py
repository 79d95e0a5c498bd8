"""The demand of a level over time: seats held and waited for (upstream: fairqueuing/integrator.go)."""

from __future__ import annotations

import math
from typing import NamedTuple

# The half-life of a past demand is 5 minutes at one adjustment every 10 seconds.
SMOOTHING = 0.977


class Demand(NamedTuple):
    """The demand of one period, weighted by time."""

    average: float
    deviation: float
    highest: int


class DemandIntegrator:
    """Integrates a number of seats over time."""

    __slots__ = ("_highest", "_since", "_squares", "_sum", "_value", "_when")

    def __init__(self, now: float) -> None:
        self._since = self._when = now
        self._value = self._highest = 0
        self._sum = self._squares = 0.0

    def set(self, value: int, now: float) -> None:
        passed = now - self._when
        if passed > 0:
            area = self._value * passed
            self._sum += area
            self._squares += area * self._value
            self._when = now
        self._value = value
        if value > self._highest:
            self._highest = value

    def take(self, now: float) -> Demand:
        """Return the demand since the last call."""
        self.set(self._value, now)
        seconds = now - self._since
        average = self._sum / seconds if seconds > 0 else float(self._value)
        variance = self._squares / seconds - average * average if seconds > 0 else 0.0
        found = Demand(average, math.sqrt(max(0.0, variance)), self._highest)
        self._since, self._sum, self._squares, self._highest = now, 0.0, 0.0, self._value
        return found


def smoothed(before: float, demand: Demand) -> float:
    """Return the smoothed demand, which rises at once and falls slowly."""
    envelope = demand.average + demand.deviation
    return max(envelope, SMOOTHING * before + (1.0 - SMOOTHING) * envelope)
