"""Match the events that a run's watchers received with its changes, as input of the fan-out rules."""

from __future__ import annotations

import copy
import time
import timeit
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from ktui.kube.fanout import ChangeRecipients, EventWork, fan_out_by_version
from ktui.workloads.behaviours.watch_events import EVENT

_TRIALS = 5  # number of timings, of which the shortest counts
PLAIN, SELECTING, TABLE = "plain", "selecting", "table"


@dataclass(frozen=True, slots=True)
class Written:
    """A change that the run made. `step` is its name ("": not counted), `change` its type in etcd.

    `watching` is the number of open watchers at the time. `version` is "" for a DELETE, whose answer has
    none.
    """

    step: str
    change: str
    name: str
    version: str
    watching: int


@dataclass(slots=True)
class _Delivery:
    """Receivers of one revision's event: (group, type) → number of watchers; labels and sizes of lines."""

    at: float
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    labels: dict[tuple[str, str], str] = field(default_factory=dict)
    lines: dict[tuple[str, str], bytes] = field(default_factory=dict)


@dataclass(slots=True)
class StepFigures:
    """The events of one step; `last`: revision, and by (group, type) the watchers and the label."""

    change: str
    events: int = 0
    audiences: Counter[ChangeRecipients] = field(default_factory=Counter)
    sizes: dict[str, int] = field(default_factory=dict)  # bytes of one encoding, by its kind
    line: bytes = b""  # an event with the object itself
    last: tuple[str, dict[tuple[str, str], tuple[int, str]]] = ("", {})

    @property
    def delivered(self) -> int:
        return sum(audience.delivered * times for audience, times in self.audiences.items())


class EventAudiences:
    """Matches events and changes by revision: `received` adds an event, `written` a change, `fold` matches.

    `strays` are events that belong to no change although their resourceVersion is not newer than the last
    change's (a newer one belongs to a write whose answer has not arrived). `late` events came after their
    change was counted.
    """

    def __init__(self, label: str) -> None:
        self.steps: dict[str, StepFigures] = {}
        self.delivered = self.strays = self.late = 0
        self._label = label
        self._last = 0
        self._writes: dict[str, Written] = {}
        self._deletes: dict[str, Written] = {}
        self._deliveries: dict[str, _Delivery] = {}
        self._folded: deque[str] = deque(maxlen=1_000)  # versions of the last counted changes

    def deleting(self, write: Written) -> None:
        """Record a DELETE before it is sent: its events may precede its answer, which has no version."""
        self._deletes[write.name] = write

    def written(self, write: Written) -> None:
        """Record a create or a change once it is answered."""
        self._writes[write.version] = write
        self._last = max(self._last, int(write.version))

    def received(self, group: str, line: bytes, prefix: str) -> None:
        """Record an event at a watcher of `group`, if the object's name begins with `prefix`."""
        event = EVENT.decode(line)
        seen = event.object.rows[0].object.metadata if event.object.rows else event.object.metadata
        if event.type == "BOOKMARK" or not seen.name.startswith(prefix):
            return
        self.delivered += 1
        version = seen.resource_version
        if version not in self._deliveries:
            self._deliveries[version] = _Delivery(time.monotonic())
        found, key = self._deliveries[version], (group, event.type)
        found.counts[key] += 1
        if key not in found.labels:
            found.labels[key] = seen.labels.get(self._label, "")
            found.lines[key] = line
        if event.type == "DELETED" and group == PLAIN and (write := self._deletes.pop(seen.name, None)):
            self._writes[version] = write

    def fold(self, settled: float) -> None:
        """Count the events that arrived more than `settled` seconds ago: by then all watchers have them."""
        before = time.monotonic() - settled
        for version in [version for version, seen in self._deliveries.items() if seen.at <= before]:
            seen = self._deliveries.pop(version)
            if (write := self._writes.pop(version, None)) is not None:
                self._folded.append(version)
                if write.step:
                    self._fold(write, version, seen)
            elif version in self._folded:
                self.late += seen.counts.total()
            elif int(version) <= self._last:
                self.strays += seen.counts.total()

    def _fold(self, write: Written, version: str, seen: _Delivery) -> None:
        figures = self.steps.setdefault(write.step, StepFigures(write.change))
        figures.events += 1
        figures.audiences[recipients(write, seen.counts)] += 1
        for (group, type_), line in seen.lines.items():
            left = write.change == "MODIFIED" and type_ == "DELETED"
            figures.sizes["leaving" if left else "tables" if group == TABLE else "plain"] = len(line)
            if group == PLAIN:
                figures.line = line
        figures.last = version, {key: (count, seen.labels[key]) for key, count in seen.counts.items()}


def recipients(write: Written, counts: Counter[tuple[str, str]]) -> ChangeRecipients:
    """Return the audience of one change: all open watchers, as the dispatch index has no selectors."""
    leaving = sum(
        count for (_, type_), count in counts.items() if write.change == "MODIFIED" and type_ == "DELETED"
    )
    tables = sum(count for (group, _), count in counts.items() if group == TABLE)
    plain = sum(counts.values()) - leaving - tables
    return ChangeRecipients(write.change, write.watching, plain, tables, leaving)


@dataclass(slots=True)
class WorkByRule:
    """The work for all events by the rule of some releases, with bytes and CPU time of the real objects."""

    copies: int = 0
    encodings: int = 0
    links: int = 0
    copied_bytes: int = 0
    encoded_bytes: int = 0
    seconds: float = 0.0

    def add(self, work: EventWork, times: int, figures: StepFigures, costs: tuple[float, float]) -> None:
        sizes = figures.sizes
        plain = sizes.get("plain", 0)
        self.copies += work.copies * times
        self.encodings += work.encodings * times
        self.links += work.links * times
        self.copied_bytes += work.copies * times * plain
        self.encoded_bytes += times * (
            work.plain * plain
            + work.tables * sizes.get("tables", plain)
            + work.leaving * sizes.get("leaving", plain)
        )
        self.seconds += times * (work.copies * costs[0] + work.encodings * costs[1])


def work_by_version(steps: dict[str, StepFigures]) -> dict[str, WorkByRule]:
    found: dict[str, WorkByRule] = {}
    for figures in steps.values():
        costs = timed(figures.line)
        for audience, times in figures.audiences.items():
            for name, work in fan_out_by_version(audience):
                found.setdefault(name, WorkByRule()).add(work, times, figures, costs)
    return found


def timed(line: bytes) -> tuple[float, float]:
    """Return the seconds that a deep copy and a JSON encoding of this event's object take here."""
    if not line:
        return 0.0, 0.0
    obj: Any = msgspec.json.decode(line)["object"]
    copying, encoding = (
        min(timeit.repeat(partial(action, obj), "import gc; gc.enable()", number=1, repeat=_TRIALS))
        for action in (copy.deepcopy, msgspec.json.encode)
    )
    return copying, encoding
