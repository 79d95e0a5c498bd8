"""Measure keys on the Workloads screen while each workload runs against the demo, a minute or more."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.ui import keys
from benchmarks.ui.processes import reading
from benchmarks.ui.program import dashboard
from benchmarks.ui.terminal import Terminal
from ktui.workloads.registry import WORKLOADS

P95_MS = 50.0
_FILL_SECONDS = 45.0  # until the demo cluster is complete
_STOP_SECONDS = 20.0
_TITLE = "knobs of"  # of the panel below the workloads


def keys_beside_each(
    environment: dict[str, str],
    presses: int,
    seconds: float,
    words: tuple[str, ...] = (),
    most: int | None = None,
    fill: float = _FILL_SECONDS,
    stop: float = _STOP_SECONDS,
) -> Iterator[Figure]:
    """Move the cursor through the knobs of each workload, or of the first `most`, while it runs."""
    with dashboard(environment, "--theme", keys.THEME, *words) as terminal:
        terminal.wait_for("● pods")
        terminal.idle(fill)
        terminal.type("7")
        terminal.wait_for(_TITLE)
        for name in list(WORKLOADS)[:most]:
            yield from _one(terminal, name, presses, seconds, stop)
            terminal.type("\x1b[Z")  # back to the workloads
            terminal.idle(0.5)
            terminal.type("j")


def _one(terminal: Terminal, name: str, presses: int, seconds: float, stop: float) -> Iterator[Figure]:
    terminal.forget()
    began = time.monotonic()
    terminal.type("\r\t")
    terminal.wait_for("●")
    before = reading(terminal.pid)
    answers = keys.moves(terminal, presses, steps=2)
    terminal.idle(max(0.0, seconds - (time.monotonic() - began)))
    share = before.share_until(reading(terminal.pid))
    for figure in keys.figures(f"knobs of {name}", answers, f"{seconds:g} s of {name}"):
        target = P95_MS if figure.target is not None else None
        yield Figure(figure.name, figure.value, figure.unit, figure.note, target)
    yield Figure("CPU of the dashboard, meanwhile", share, "% of a core")
    terminal.type("x")
    terminal.idle(stop)
