"""Timing histograms: how long a number was at which fraction of its limit.

Upstream: component-base/metrics/prometheusextension/timing_histogram.go and util/flowcontrol/metrics. An
observation is made at the end of each nanosecond, so counts are nanoseconds and sums are weighted by them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ktui.apiserver.metrics.metric_types import Histogram, Labels, Sample, Values

# The half-life of a past demand is 5 minutes at one adjustment every 10 seconds.
SMOOTHING = 0.977


class Demand(NamedTuple):
    """The demand of one period, weighted by time."""

    average: float
    deviation: float
    highest: int


class DemandIntegrator:
    """Integrates a number of seats over time. `highest` is kept by the owner."""

    __slots__ = ("_since", "_squares", "_sum", "highest")

    def __init__(self, now: float) -> None:
        self._since = now
        self._sum = self._squares = 0.0
        self.highest = 0

    def passed(self, value: int, seconds: float) -> None:
        """Add `seconds` during which the number was `value`."""
        area = value * seconds
        self._sum += area
        self._squares += area * value

    def take(self, value: int, now: float) -> Demand:
        """Return the demand since the last call; `value` is the present number."""
        seconds = now - self._since
        average = self._sum / seconds if seconds > 0 else float(value)
        variance = self._squares / seconds - average * average if seconds > 0 else 0.0
        found = Demand(average, math.sqrt(max(0.0, variance)), self.highest)
        self._since, self._sum, self._squares, self.highest = now, 0.0, 0.0, value
        return found


def smoothed(before: float, demand: Demand) -> float:
    """Return the smoothed demand, which rises at once and falls slowly."""
    envelope = demand.average + demand.deviation
    return max(envelope, SMOOTHING * before + (1.0 - SMOOTHING) * envelope)


NANOSECONDS = 1e9
MOST_STATES = 1000  # that are kept between two scrapes; to settle them takes about 1 ms
SEATS_IN_USE = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)
REQUESTS = (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1)
SEATS_DEMANDED = (0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6)
READS_AND_WRITES = (0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1)

State = tuple[int, ...]


class TimedRatio:
    """The nanoseconds that a ratio has spent in each bucket of `bounds`."""

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = [0.0]

    def observe(self, ratio: float, seconds: float) -> None:
        nanoseconds = round(seconds * NANOSECONDS)
        self.counts[bisect_left(self._bounds, ratio)] += nanoseconds
        self.total[0] += ratio * nanoseconds


class StateTimes:
    """The seconds of each state, a tuple of numbers. They become ratios when limits change, when
    ratios are read, or when there are many.
    """

    __slots__ = ("_limits", "_ratios", "seconds")

    def __init__(self, *bounds: tuple[float, ...]) -> None:
        self._ratios = [TimedRatio(each) for each in bounds]
        self._limits: tuple[float, ...] = (1.0,) * len(bounds)
        self.seconds: dict[State, float] = {}

    def passed(self, state: State, seconds: float) -> None:
        """Add `seconds` to a state; called at each change, so it is mostly only an addition."""
        known = self.seconds
        if state in known:
            known[state] += seconds
        else:
            known[state] = seconds
            if len(known) > MOST_STATES:
                self._settle()

    def limit(self, *limits: float) -> None:
        """Compute ratios to these limits from now on."""
        self._settle()
        self._limits = limits

    def ratios(self) -> list[TimedRatio]:
        """Return the ratio of each of the state's numbers, up to the last change."""
        self._settle()
        return self._ratios

    def _settle(self) -> None:
        for state, seconds in self.seconds.items():
            for ratio, number, limit in zip(self._ratios, state, self._limits, strict=True):
                ratio.observe(number / limit, seconds)
        self.seconds.clear()


class TimingHistogram(Histogram):
    """A histogram whose values are read at each scrape."""

    def __init__(
        self,
        name: str,
        help_text: str,
        bounds: tuple[float, ...],
        read: Callable[[], Iterable[tuple[Labels, TimedRatio]]],
    ) -> None:
        super().__init__(name, help_text, bounds)
        self._read = read

    def samples(self) -> Iterator[Sample]:
        values: Values = {labels: (ratio.counts, ratio.total) for labels, ratio in self._read()}
        yield from self.samples_of(values)
