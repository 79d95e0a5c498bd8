"""apiserver_flowcontrol_*: kube-apiserver's metrics of API Priority and Fairness."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterator

from ktui.apiserver.chain import Ticket
from ktui.apiserver.metrics.metric_types import CallbackMetric, Counter, Histogram, Labels, Metric
from ktui.flowcontrol.levels import Level, Levels
from ktui.flowcontrol.utilization import (
    READS_AND_WRITES,
    REQUESTS,
    SEATS_DEMANDED,
    SEATS_IN_USE,
    StateTimes,
    TimedRatio,
    TimingHistogram,
)
from ktui.kube.flow_schemas import FlowSchema

SECONDS = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30)
LENGTHS = (0, 10, 25, 50, 100, 250, 500, 1000)
OLD_SECONDS = (0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SEATS = (1, 2, 4, 8, 10, 16, 32, 64, 100)
OLD_SEATS, NEW_SEATS = (1, 2, 4, 10), (1, 2, 4, 8, 16, 32, 64, 100)
WATCHERS = (0, 1, 10, 100, 1000, 10000)


class SchemaLabels:
    """The labels of one flow schema in its level, cached because each request needs them several times."""

    __slots__ = ("bare", "executed", "regular", "rejected", "watching")

    def __init__(self, level: str, schema: str) -> None:
        self.bare: Labels = (("priority_level", level), ("flow_schema", schema))
        self.executed: Labels = (*self.bare, ("execute", "true"))
        self.rejected: Labels = (*self.bare, ("execute", "false"))
        self.regular: Labels = (*self.bare, ("type", "regular"))
        self.watching: Labels = (*self.bare, ("type", "watch"))


_PHASES_AND_KINDS = [(phase, kind) for phase in ("waiting", "executing") for kind in ("mutating", "readOnly")]


class ReadsAndWrites:
    """Number of waiting and executing reads and writes over time. A limit is that of all levels together."""

    def __init__(self) -> None:
        self._times = StateTimes(*[READS_AND_WRITES] * 4)
        self._numbers = [0, 0, 0, 0]
        self._since: float | None = None

    def change(self, now: float, number: int, *, mutating: bool, executing: bool) -> None:
        if self._since is not None:  # as `_sync`, of which each request would make four calls
            self._times.passed(tuple(self._numbers), now - self._since)
        self._since = now
        self._numbers[2 * executing + (not mutating)] += number

    def limit(self, now: float, waiting: int, executing: int) -> None:
        self._sync(now)
        self._times.limit(*[max(1, waiting)] * 2, *[max(1, executing)] * 2)

    def read(self, now: float) -> Iterator[tuple[Labels, TimedRatio]]:
        self._sync(now)
        for (phase, kind), ratio in zip(_PHASES_AND_KINDS, self._times.ratios(), strict=True):
            yield (("phase", phase), ("request_kind", kind)), ratio

    def _sync(self, now: float) -> None:
        if self._since is not None:
            self._times.passed(tuple(self._numbers), now - self._since)
        self._since = now


class FlowMetrics:
    """Counters and histograms of requests; gauges are read from the levels at each scrape."""

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self.reads_and_writes = ReadsAndWrites()
        self._labels: dict[tuple[str, str], SchemaLabels] = {}
        self.rejected = Counter(_name("rejected_requests_total"), "Requests rejected, by reason.")
        self.dispatched = Counter(_name("dispatched_requests_total"), "Requests that got their seats.")
        self.waits = Histogram(_name("request_wait_duration_seconds"), "Time in a queue.", SECONDS)
        self.executions = Histogram(
            _name("request_execution_seconds"), "Time of execution; of a WATCH until it is live.", SECONDS
        )
        self.lengths = Histogram(
            _name("request_queue_length_after_enqueue"),
            "Length of the queue, as a request joins it.",
            LENGTHS,
        )
        self.seats = Histogram(_name("work_estimated_seats"), "Estimated seats of requests.", SEATS)
        self.watchers = Histogram(_name("watch_count_samples"), "Watchers of written objects.", WATCHERS)

    def queued(self, level: Level, schema: FlowSchema, length: int) -> None:
        self.lengths.observe(length, self.labels(level.name, schema.name).bare)

    def watched(self, level: Level, schema: FlowSchema, watchers: int) -> None:
        self.watchers.observe(watchers, self.labels(level.name, schema.name).bare)

    def decided(self, level: Level, schema: FlowSchema, ticket: Ticket, waited: float, reason: str) -> None:
        """Record that a request executes (`reason` ""), or the reason of its rejection."""
        own = self.labels(level.name, schema.name)
        self.seats.observe(ticket.width, own.bare)
        if not level.queues.exempt:
            self.waits.observe(waited, own.rejected if reason else own.executed)
        if reason:
            self.rejected.add(1, (*own.bare, ("reason", reason)))
        else:
            self.dispatched.add(1, own.bare)

    def executed(self, level: Level, ticket: Ticket, seconds: float) -> None:
        own = self.labels(level.name, ticket.schema.name)
        self.executions.observe(seconds, own.watching if ticket.asked.verb == "watch" else own.regular)

    def labels(self, level: str, schema: str) -> SchemaLabels:
        found = self._labels.get((level, schema))
        if found is None:
            found = self._labels[(level, schema)] = SchemaLabels(level, schema)
        return found

    def metrics(self, minor: int, now: float) -> Iterator[Metric]:
        """Yield the metrics of kube-apiserver 1.`minor`."""
        seconds = SECONDS if minor >= 28 else OLD_SECONDS
        yield from (self.rejected, self.dispatched, self.lengths, self.watchers)
        yield from (self.waits.coarser(seconds), self.executions.coarser(seconds))
        yield self.seats.coarser(NEW_SEATS if minor >= 34 else OLD_SEATS)
        yield CallbackMetric(
            _name("request_dispatch_no_accommodation_total"),
            "Times that the next request was too wide.",
            self._crowded,
            Counter.kind,
        )
        yield self._by_schema("current_executing_requests", "Requests executing.", executing=True)
        yield self._by_schema("current_inqueue_requests", "Requests waiting.", executing=False)
        if minor >= 28:
            yield self._by_schema("current_executing_seats", "Seats in use.", executing=True, seats=True)
            yield self._by_schema("current_inqueue_seats", "Seats waited for.", executing=False, seats=True)
        if minor <= 29:
            yield self._by_level("request_concurrency_limit", "Nominal seats.", lambda lv: lv.nominal)
            yield self._by_schema("request_concurrency_in_use", "Seats in use.", executing=True, seats=True)
        if minor >= 25:
            yield from self._over_time(now)
        if minor >= 26:
            yield from self._of_borrowing()

    def _over_time(self, now: float) -> Iterator[Metric]:
        waiting, executing = ("phase", "waiting"), ("phase", "executing")
        yield TimingHistogram(
            _name("priority_level_seat_utilization"),
            "For how many nanoseconds which part of a level's seats was in use.",
            SEATS_IN_USE,
            lambda: self._ratios(2, executing),
        )
        yield TimingHistogram(
            _name("priority_level_request_utilization"),
            "For how many nanoseconds how many requests waited or executed, as a part of the limit.",
            REQUESTS,
            lambda: [*self._ratios(0, waiting), *self._ratios(1, executing)],
        )
        yield TimingHistogram(
            _name("read_vs_write_current_requests"),
            "For how many nanoseconds how many reads and writes waited or executed, as a part of the limit.",
            READS_AND_WRITES,
            lambda: self.reads_and_writes.read(now),
        )

    def _ratios(self, number: int, *labels: tuple[str, str]) -> Iterator[tuple[Labels, TimedRatio]]:
        for level in self._levels.by_name.values():
            yield (*labels, ("priority_level", level.name)), level.queues.ratios()[number]

    def _crowded(self) -> Iterator[tuple[Labels, float]]:
        for level in self._levels.by_name.values():
            for schema, times in level.queues.crowded.items():
                yield self.labels(level.name, schema).bare, times

    def _of_borrowing(self) -> Iterator[Metric]:
        by = self._by_level
        yield TimingHistogram(
            _name("demand_seats"),
            "For how many nanoseconds a level could have used which part of its seats.",
            SEATS_DEMANDED,
            lambda: self._ratios(3),
        )
        yield by("nominal_limit_seats", "Seats by a level's shares.", lambda level: level.nominal)
        yield by("lower_limit_seats", "Seats that a level never lends.", lambda level: level.lower)
        yield by("upper_limit_seats", "The most seats, with borrowed ones.", lambda level: level.upper)
        yield by("current_limit_seats", "Seats in force.", lambda level: level.current)
        yield by("demand_seats_high_watermark", "Highest demand.", lambda level: level.demand.highest)
        yield by("demand_seats_average", "Average demand.", lambda level: level.demand.average)
        yield by("demand_seats_stdev", "Its standard deviation.", lambda level: level.demand.deviation)
        yield by("demand_seats_smoothed", "Smoothed demand.", lambda level: level.smoothed)
        yield by("target_seats", "The target of the allocation.", lambda level: level.target)
        yield CallbackMetric(
            _name("seat_fair_frac"),
            "The fraction of its target that each level gets.",
            lambda: [((), self._levels.fraction)],
        )

    def _by_level(self, name: str, about: str, value: Callable[[Level], float]) -> CallbackMetric:
        def read() -> Iterator[tuple[Labels, float]]:
            for level in self._levels.by_name.values():
                yield (("priority_level", level.name),), value(level)

        return CallbackMetric(_name(name), about, read)

    def _by_schema(self, name: str, about: str, *, executing: bool, seats: bool = False) -> CallbackMetric:
        """Return a metric of every level and schema that ever had a request, 0 included."""

        def read() -> Iterator[tuple[Labels, float]]:
            found: Tally[tuple[str, str]] = Tally()
            for level in self._levels.by_name.values():
                for _, _, request in level.queues.requests():
                    if bool(request.started) == executing:
                        found[(level.name, request.schema.name)] += request.width if seats else 1
            for key, own in [*self._labels.items()]:
                yield own.bare, found[key]

        return CallbackMetric(_name(name), about, read)


def _name(rest: str) -> str:
    return f"apiserver_flowcontrol_{rest}"
