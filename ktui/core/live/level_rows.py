"""Seats, requests, rejections and waits of a priority level, summed over replicas."""

from __future__ import annotations

import msgspec

from ktui.core.live.live_state import LiveState
from ktui.core.live.window import buckets, growth, latest, quantile, summed_buckets, total

REASONS = ("queue_full", "concurrency_limit", "timed_out", "cancelled")


class LevelRow(msgspec.Struct, frozen=True):
    """Current gauges, and totals over `seconds`. None: no replica reports the figure."""

    level: str
    seconds: float
    nominal: float | None = None
    current: float | None = None
    executing_seats: float | None = None
    executing: float | None = None
    queued: float | None = None
    dispatched: float | None = None
    waits: float | None = None
    rejected: float | None = None
    reasons: dict[str, float] = msgspec.field(default_factory=dict)
    wait_p50: float | None = None  # ms
    wait_p99: float | None = None
    queue_samples: int = 0  # scrapes and dumps within the window
    queue_never_empty: bool = False


def level_row(live: LiveState, level: str, seconds: float | None = None) -> LevelRow:
    """Sum one level over the last `seconds` (None: everything kept)."""
    rows = [row for row in live.replicas.values() if level in row.levels]
    series = [row.levels[level] for row in rows]
    growths = [growth(part, seconds) for part in series]
    points = [part.last for part in series]
    waits = summed_buckets([buckets(part, seconds) for part in series])

    def of(figure: str) -> float | None:
        return total(part.grown[figure] for part in growths)

    def wait(share: float) -> float | None:
        found = quantile(waits, share)
        return found * 1000 if found is not None else None

    samples = _queue_samples(live, level, seconds)
    return LevelRow(
        level=level,
        seconds=max((part.seconds for part in growths), default=0.0),
        nominal=latest(points, "nominal"),
        current=latest(points, "current"),
        executing_seats=latest(points, "executing_seats"),
        executing=latest(points, "executing"),
        queued=latest(points, "queued"),
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
    return [level_row(live, level, seconds) for level in live.levels if level]


def _queue_samples(live: LiveState, level: str, seconds: float | None) -> list[bool]:
    """Return for each dump, or without dumps for each scrape, whether a request was queued."""
    since = 0.0 if seconds is None else live.now - seconds
    dumped = [
        any(request.queued and request.level == level for request in dump.requests)
        for dump in live.dumps
        if dump.at >= since
    ]
    scraped = [
        bool(point.gauges.queued)
        for row in live.replicas.values()
        if level in row.levels
        for point in row.levels[level].points
        if point.at >= since and point.gauges.queued is not None
    ]
    return dumped or scraped
