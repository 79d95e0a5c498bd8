"""Measure the dashboard's memory after an hour of traffic, and its growth in real time."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.ui.processes import resident
from benchmarks.ui.program import dashboard
from benchmarks.ui.storm import storm
from benchmarks.ui.terminal import Terminal

MOST_MB = 150.0
DEMO_EVENTS_A_SECOND = 60.0  # rate of the demo with 2,000 pods on 60 nodes
FASTER = 100.0  # so that an hour passes in 36 seconds
HOUR = 3_600.0


def after_an_hour(environment: dict[str, str], seconds: float = HOUR / FASTER) -> Iterator[Figure]:
    """Measure after an hour of generated events at the demo's rate, sent a hundred times as fast."""
    pace = DEMO_EVENTS_A_SECOND * FASTER
    with storm(pace, FASTER) as server, dashboard(environment, "--attach", server) as terminal:
        sizes = _sizes(terminal, seconds, 6)
    note = " → ".join(f"{size:.0f}" for size in sizes)
    yield Figure("memory after an hour of traffic", sizes[-1], "MB", note, MOST_MB)


def in_real_time(environment: dict[str, str], minutes: float) -> Iterator[Figure]:
    """Measure the demo for `minutes`; the slope is that of the second half."""
    with dashboard(environment) as terminal:
        sizes = _sizes(terminal, minutes * 60, 10)
    half = len(sizes) // 2
    slope = (sizes[-1] - sizes[half]) / (minutes / len(sizes) * (len(sizes) - 1 - half)) * 60
    yield Figure(f"memory after {minutes:g} minutes of the demo", sizes[-1], "MB", "", MOST_MB)
    yield Figure("… grows, in the second half, by", slope, "MB/h", " → ".join(f"{x:.0f}" for x in sizes))


def _sizes(terminal: Terminal, seconds: float, steps: int) -> list[float]:
    """Return the resident megabytes at the end of each of `steps` equal steps."""
    began, sizes = time.perf_counter(), []
    for step in range(1, steps + 1):
        terminal.idle(began + seconds * step / steps - time.perf_counter())
        sizes.append(resident(terminal.pid))
    return sizes
