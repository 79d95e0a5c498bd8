"""Counters, gauges and histograms in the Prometheus text format (0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ktui.kube.resources import Resource
from ktui.kube.versions import Behaviour

Labels = tuple[tuple[str, str], ...]
Sample = tuple[str, Labels, float]
Observed = tuple[list[int], list[float]]
"""Of a histogram: observations by bucket, the last without a bound, and their sum in a list of one."""
Values = dict[Labels, Observed]


# kube-apiserver's, of requests, of LISTs at etcd, and of RPCs to etcd (seconds).
DURATION_BOUNDS = (
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
)  # fmt: skip


class Counter:
    """A value that only increases."""

    kind = "counter"

    def __init__(self, name: str, help_text: str) -> None:
        self.name = name
        self.help = help_text
        self._values: dict[Labels, float] = {}

    def renamed(self, name: str) -> CallbackMetric:
        """Return the same values under another version's name."""
        return CallbackMetric(name, self.help, lambda: self._values.items(), self.kind)

    def add(self, amount: float = 1, labels: Labels = ()) -> None:
        self._values[labels] = self._values.get(labels, 0) + amount

    def samples(self) -> Iterator[Sample]:
        for key, value in [*self._values.items()]:
            yield "", key, value


class Gauge(Counter):
    """A value that increases and decreases."""

    kind = "gauge"


@dataclass(slots=True, eq=False)
class CallbackMetric:
    """A gauge or counter whose values are read at each scrape."""

    name: str
    help: str
    read: Callable[[], Iterable[tuple[Labels, float]]]
    kind: str = "gauge"

    def samples(self) -> Iterator[Sample]:
        for key, value in self.read():
            yield "", key, value


class Histogram:
    """Observations counted by upper bound."""

    kind = "histogram"

    def __init__(self, name: str, help_text: str, bounds: Sequence[float]) -> None:
        self.name = name
        self.help = help_text
        self._bounds = tuple(bounds)
        self._values: Values = {}

    def renamed(self, name: str) -> Histogram:
        """Return the same observations under another version's name."""
        other = Histogram(name, self.help, self._bounds)
        other._values = self._values
        return other

    def coarser(self, bounds: Sequence[float]) -> Histogram:
        """Return the same observations with fewer bounds, as in another version."""
        other = Histogram(self.name, self.help, bounds)
        for key, (counts, total) in self._values.items():
            fewer = [0] * (len(bounds) + 1)
            for bound, count in zip((*self._bounds, float("inf")), counts, strict=True):
                fewer[bisect_left(other._bounds, bound)] += count
            other._values[key] = (fewer, total)
        return other

    def observe(self, value: float, labels: Labels = ()) -> None:
        counts, total = self.series(labels)
        counts[bisect_left(self._bounds, value)] += 1
        total[0] += value

    def series(self, labels: Labels) -> Observed:
        """Return the observations with these labels, to add others there without looking them up again."""
        found = self._values.get(labels)
        if found is None:
            found = self._values[labels] = ([0] * (len(self._bounds) + 1), [0.0])
        return found

    def samples(self) -> Iterator[Sample]:
        yield from self.samples_of(self._values)

    def samples_of(self, values: Values) -> Iterator[Sample]:
        for key, (counts, total) in [*values.items()]:
            seen = 0
            for bound, count in zip((*self._bounds, float("inf")), counts, strict=True):
                seen += count
                yield "_bucket", (*key, ("le", _number(bound))), seen
            yield "_sum", key, total[0]
            yield "_count", key, seen


Metric = Counter | CallbackMetric | Histogram


def render(metrics: Iterable[Metric]) -> Iterator[bytes]:
    """The text that Prometheus scrapes, sorted by name; a piece has all samples of one set of labels."""
    for metric in sorted(metrics, key=lambda m: m.name):
        lines = [
            f"# HELP {metric.name} {_escape(metric.help, quotes=False)}\n",
            f"# TYPE {metric.name} {metric.kind}\n",
        ]
        for suffix, pairs, value in metric.samples():
            text = ",".join(f'{name}="{_escape(content)}"' for name, content in pairs)
            lines.append(f"{metric.name}{suffix}{'{' + text + '}' if text else ''} {_number(value)}\n")
            if suffix in _LAST:
                yield "".join(lines).encode()
                lines = []
        yield "".join(lines).encode()


# Suffixes of the last sample of a set of labels.
_LAST = ("", "_count")


def _escape(text: str, *, quotes: bool = True) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quotes else text


def _number(value: float) -> str:
    if value == float("inf"):
        return "+Inf"
    return str(int(value)) if value == int(value) else repr(value)


def resource_labels(resource: Resource, behaviour: Behaviour, before: str = "resource") -> Labels:
    """Return `group` and `resource`; up to 1.33 one label named `before`."""
    if behaviour.minor >= 34:
        return (("group", resource.group), ("resource", resource.resource))
    if before == "resource_prefix":
        return ((before, f"/{resource.prefix.rstrip('/')}"),)
    return ((before, resource.id),)
