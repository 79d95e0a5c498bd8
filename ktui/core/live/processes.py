"""What replicas report of themselves over a window: admission by webhook and plugin, CPU, memory, TLS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ktui.contract.events.live import CallTime, ReplicaScrape
from ktui.core.live.live_state import LiveState
from ktui.core.live.window import ReplicaRow

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
    memory: int | None = None  # bytes now
    grown: int | None = None  # bytes more than at the beginning of the window
    tls_errors: float | None = None


def admission_rows(live: LiveState, seconds: float | None = None) -> list[AdmissionRow]:
    """Return webhooks and plugins that were called in the last `seconds` (None: all), slowest first."""
    sums: dict[tuple[str, str], list[float]] = {}
    for row in live.replicas.values():
        if not row.scrapes.points:
            continue
        first, last = row.scrapes.ends(seconds)
        for kind, before, after in (
            (WEBHOOK, first.webhooks, last.webhooks),
            (PLUGIN, first.plugins, last.plugins),
        ):
            for name, grown in _growth(before, after, first is last):
                summed = sums.setdefault((kind, name), [0.0, 0.0, 0.0])
                for at, more in enumerate(grown):
                    summed[at] += more
    rows = [
        AdmissionRow(name, kind, calls, ms / calls, rejected)
        for (kind, name), (calls, ms, rejected) in sums.items()
        if calls
    ]
    return sorted(rows, key=lambda row: (-row.ms, row.kind, row.name))


def slow_admission(rows: list[AdmissionRow], ms: float, calls: int) -> list[AdmissionRow]:
    """Return those of `calls` and more that take `ms` and more; not the plugins that only call webhooks."""
    return [
        row
        for row in rows
        if row.ms >= ms and row.calls >= calls and not (row.kind == PLUGIN and row.name in _OF_WEBHOOKS)
    ]


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
        memory=last.memory_bytes,
        grown=last.memory_bytes - first.memory_bytes
        if span and last.memory_bytes is not None and first.memory_bytes is not None
        else None,
        tls_errors=_less(last.tls_errors, first.tls_errors, 1.0 if span else 0.0),
    )


def _less(after: float | None, before: float | None, span: float) -> float | None:
    if after is None or before is None or not span:
        return None
    return (after - before if after >= before else after) / span


def _growth(
    before: Mapping[str, CallTime] | None, after: Mapping[str, CallTime] | None, one_scrape: bool
) -> Iterator[tuple[str, tuple[float, float, float]]]:
    if one_scrape or before is None:
        return
    for name, now in (after or {}).items():
        was = before.get(name, CallTime())
        if now.calls < was.calls:  # reset to 0
            was = CallTime()
        yield name, (now.calls - was.calls, max(0.0, now.ms - was.ms), max(0, now.rejected - was.rejected))
