"""Measure keys with a real server over an etcd of 100,000 pods, of which 2,000 are written per second."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.pods import name_of
from benchmarks.server import TOKEN, Serving, serving
from benchmarks.ui import keys
from benchmarks.ui.processes import reading
from benchmarks.ui.program import dashboard
from benchmarks.writes import RATE, steady_writes

_SETTLE_SECONDS = 4.0


def keys_beside(
    environment: dict[str, str],
    pods: int,
    presses: int,
    settle: float = _SETTLE_SECONDS,
    rate: int = RATE,
) -> Iterator[Figure]:
    """Move the cursor through the pods of the cache while they change."""
    yield from asyncio.run(_served(environment, pods, presses, settle, rate))


async def _served(
    environment: dict[str, str], pods: int, presses: int, settle: float, rate: int
) -> list[Figure]:
    async with serving(pods) as server:
        return await asyncio.to_thread(_pressed, environment, server, pods, presses, settle, rate)


def _pressed(
    environment: dict[str, str], server: Serving, pods: int, presses: int, settle: float, rate: int
) -> list[Figure]:
    words = ("--attach", f"https://127.0.0.1:{server.port}", "--token", TOKEN, "--theme", keys.THEME)
    with steady_writes(server.etcd, pods, rate=rate), dashboard(environment, *words) as terminal:
        terminal.wait_for("● pods")  # its cache is ready
        terminal.type("3")
        terminal.wait_for("› Cache")
        terminal.idle(settle)
        terminal.type("\r")
        terminal.wait_for(name_of(0))
        terminal.idle(settle)
        before = reading(terminal.pid)
        answers = keys.moves(terminal, presses)
        share = before.share_until(reading(terminal.pid))
        figures = keys.figures("cached pods", answers, f"{rate:,} writes/s, {pods:,} pods")
    return [*figures, Figure("CPU of the dashboard, meanwhile", share, "% of a core")]
