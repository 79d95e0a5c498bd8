"""Priority levels and processes over a window: seats, waits, rejections; admission, CPU, memory, TLS."""

from __future__ import annotations

from typing import Any

import msgspec

from ktui.contract.events.live import CallTime, LevelGauges, ReplicaScrape
from ktui.core.live.live_state import LiveState
from ktui.core.live.window import ReplicaRow, buckets, growth, latest, quantile, share, summed_buckets, total

REASONS = ("queue_full", "concurrency_limit", "timed_out", "cancelled")


class LevelRow(LevelGauges, frozen=True, kw_only=True, omit_defaults=False):
    """Current gauges, and totals over `seconds`. None: no replica reports the figure."""

    level: str
    seconds: float
    dispatched: float | None = None
    waits: float | None = None
    rejected: float | None = None
    reasons: dict[str, float] = msgspec.field(default_factory=dict)
    wait_p50: float | None = None  # ms
    wait_p99: float | None = None
    queue_samples: int = 0  # scrapes and dumps within the window
    queue_never_empty: bool = False

    @property
    def per_second(self) -> float | None:
        """Requests per second over the time seen, at least 1 s: the first requests come in a burst."""
        if self.dispatched is None or not self.seconds:
            return None
        return self.dispatched / max(1.0, self.seconds)


def _level_row(live: LiveState, level: str, seconds: float | None = None) -> LevelRow:
    """Sum one level over the last `seconds` (None: everything kept)."""
    rows = [row for row in live.replicas.values() if level in row.levels]
    series = [row.levels[level] for row in rows]
    growths = [growth(part, seconds) for part in series]
    points = [part.last for part in series]
    waits = summed_buckets([buckets(part, seconds) for part in series])

    def of(figure: str) -> float | None:
        return total(grown[figure] for grown, _ in growths)

    def wait(part: float) -> float | None:
        found, mean = quantile(waits, part), share(of("wait_ms"), of("waits"))
        if found is None:
            return None
        # Of waits of this mean at most 1 - `part` can take longer (Markov): most buckets are far wider.
        most = mean / (1 - part) if mean is not None else float("inf")
        return min(found * 1000, most)

    samples = _queue_samples(live, level, seconds)
    gauges: dict[str, Any] = {gauge: latest(points, gauge) for gauge in LevelGauges.__struct_fields__}
    return LevelRow(
        level=level,
        seconds=max((span for _, span in growths), default=0.0),
        **gauges,
        dispatched=of("dispatched"),
        waits=0.0 if of("waits") is None and of("dispatched") is not None else of("waits"),
        rejected=of("rejected"),
        reasons={reason: value for reason in REASONS if (value := of(reason))},
        wait_p50=wait(0.5),
        wait_p99=wait(0.99),
        queue_samples=len(samples),
        queue_never_empty=len(samples) >= 3 and all(samples),
    )


def level_rows(live: LiveState, seconds: float | None = None) -> list[LevelRow]:
    return [_level_row(live, level, seconds) for level in live.levels if level]


def _queue_samples(live: LiveState, level: str, seconds: float | None) -> list[bool]:
    """Return for each dump, or without dumps for each scrape, whether a request was queued."""
    since = 0.0 if seconds is None else live.now - seconds
    dumps = [dump.requests for dump in live.dumps if dump.at >= since]
    dumped = [any(each.queued and each.level == level for each in requests) for requests in dumps]
    scraped = [
        bool(point.gauges.queued)
        for row in live.replicas.values()
        if level in row.levels
        for point in row.levels[level].points
        if point.at >= since and point.gauges.queued is not None
    ]
    return dumped or scraped


WEBHOOK, PLUGIN = "webhook", "plugin"
_OF_WEBHOOKS = ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")  # plugins that call webhooks


class AdmissionRow(msgspec.Struct, frozen=True):
    """Calls of one webhook or plugin within the window, of all replicas together."""

    name: str
    kind: str  # WEBHOOK | PLUGIN
    calls: float
    ms: float  # mean
    rejected: float


class ProcessGrowth(msgspec.Struct, frozen=True):
    """One replica's use of the machine over `seconds`. None: not reported, or one scrape so far."""

    seconds: float
    cores: float | None = None  # mean of CPU time used per second
    grown: int | None = None  # bytes more than at the beginning of the window
    tls_errors: float | None = None


def admission_rows(live: LiveState, seconds: float | None = None) -> list[AdmissionRow]:
    """Return webhooks and plugins that were called in the last `seconds` (None: all), slowest first."""
    sums: dict[tuple[str, str], list[float]] = {}
    for row in live.replicas.values():
        if not row.scrapes.points:
            continue
        first, last = row.scrapes.ends(seconds)
        if first is last:
            continue
        called = ((WEBHOOK, first.webhooks, last.webhooks), (PLUGIN, first.plugins, last.plugins))
        for kind, before, after in called:
            for name, now in (after or {}).items() if before is not None else ():
                was = before.get(name, CallTime())
                if now.calls < was.calls:  # reset to 0
                    was = CallTime()
                summed = sums.setdefault((kind, name), [0.0, 0.0, 0.0])
                summed[0] += now.calls - was.calls
                summed[1] += max(0.0, now.ms - was.ms)
                summed[2] += max(0, now.rejected - was.rejected)
    rows = [
        AdmissionRow(name, kind, calls, ms / calls, rejected)
        for (kind, name), (calls, ms, rejected) in sums.items()
        if calls
    ]
    return sorted(rows, key=lambda row: (-row.ms, row.kind, row.name))


def slow_admission(rows: list[AdmissionRow], ms: float, calls: int) -> list[AdmissionRow]:
    """Return those of `calls` and more that take `ms` and more; not the plugins that only call webhooks."""
    slow = [row for row in rows if row.ms >= ms and row.calls >= calls]
    return [row for row in slow if row.kind != PLUGIN or row.name not in _OF_WEBHOOKS]


def process_growth(row: ReplicaRow, seconds: float | None = None) -> ProcessGrowth:
    """Return what a replica used in the last `seconds` (None: since the first scrape)."""
    if not row.scrapes.points:
        return ProcessGrowth(0.0)
    first: ReplicaScrape
    last: ReplicaScrape
    first, last = row.scrapes.ends(seconds)
    span = last.at - first.at
    return ProcessGrowth(
        seconds=span,
        cores=_less(last.cpu_seconds, first.cpu_seconds, span),
        grown=last.memory_bytes - first.memory_bytes
        if span and last.memory_bytes is not None and first.memory_bytes is not None
        else None,
        tls_errors=_less(last.tls_errors, first.tls_errors, 1.0 if span else 0.0),
    )


def _less(after: float | None, before: float | None, span: float) -> float | None:
    if after is None or before is None or not span:
        return None
    return (after - before if after >= before else after) / span
