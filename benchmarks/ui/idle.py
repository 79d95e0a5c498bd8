"""Measure the CPU time of the dashboard and its server while no key is pressed."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.ui.processes import children, load, reading, resident
from benchmarks.ui.program import dashboard
from benchmarks.ui.terminal import Terminal

SHARE = 8.0  # percent of a core
SETTLE_SECONDS = 40.0  # until the demo cluster is complete, also on a busy machine
SEEDING_SECONDS = 8.0
CONNECTED = "kube 1."  # in the header once the server is known


def at_rest(
    environment: dict[str, str],
    seconds: float,
    settle: float = SETTLE_SECONDS,
    seeding: float = SEEDING_SECONDS,
) -> Iterator[Figure]:
    """Measure the demo, first while it is created, then with its traffic only."""
    with dashboard(environment) as terminal:
        terminal.wait_for(CONNECTED)
        yield from _shares(terminal, seeding, "while seeding")
        terminal.idle(settle)
        yield from _shares(terminal, seconds, "idle", SHARE)
        yield Figure("memory of the dashboard, then", resident(terminal.pid), "MB")


def _shares(terminal: Terminal, seconds: float, when: str, target: float | None = None) -> Iterator[Figure]:
    server = children(terminal.pid)[0]
    ours, theirs, painted = reading(terminal.pid), reading(server), terminal.received
    terminal.idle(seconds)
    ours_then, theirs_then = reading(terminal.pid), reading(server)
    note = f"{(terminal.received - painted) / seconds / 1000:.0f} kB/s painted, load {load():.1f}"
    yield Figure(f"CPU of the dashboard, {when}", ours.share_until(ours_then), "% of a core", note, target)
    yield Figure(f"CPU of its server, {when}", theirs.share_until(theirs_then), "% of a core")
