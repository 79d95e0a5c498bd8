"""Measure what the table costs by its number of rows, compared with 1,000 rows and with a frame.

Headless, 120 × 40, eight columns. Each line has the time until the painted frame (ms,
median), and its ratio to 1,000 rows; `stall` is the longest CPU time (ms) for which the
loop was blocked: a key would have to wait for it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from ktui.core.table.columns import Column
from ktui.tui.looks import themes
from ktui.tui.table.vtable import VTable

SIZES = (1_000, 10_000, 100_000, 1_000_000)
FRAME = 30.0  # ms, the longest that a key may wait
CHANGED = 200  # rows added, and rows changed, in a live step: 2,000 events/s at 10 Hz


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    id: int
    client: str
    request: str
    scanned: int
    bytes: int
    ms: float


def _row(number: int, chance: random.Random) -> Row:
    return Row(
        number,
        f"client-{number % 37}",
        f"LIST pods -n team-{number % 120:03}",
        chance.randrange(100_000),
        chance.randrange(10_000_000),
        chance.expovariate(0.2),
    )


COLUMNS: tuple[Column[Row], ...] = (
    Column("id", "#", lambda row: str(row.id), lambda row: row.id, 8, align="right"),
    Column("client", "client", lambda row: row.client, width=12, flex=1),
    Column(
        "request", "request", lambda row: (row.request, "$ink-muted"), lambda row: row.request, 24, flex=4
    ),
    Column("scanned", "scan", lambda row: f"{row.scanned:,}", lambda row: row.scanned, 8, align="right"),
    Column("bytes", "bytes", lambda row: f"{row.bytes:,}", lambda row: row.bytes, 10, align="right"),
    Column("ms", "ms", lambda row: (f"{row.ms:.1f}", "bold $warning"), lambda row: row.ms, 8, align="right"),
)


class TableApp(App[None]):
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.default_variables()

    def compose(self) -> ComposeResult:
        yield VTable(COLUMNS, key=lambda row: row.id, follow=False)


class Stopwatch:
    """Measures the time until the frame, and how long the loop was blocked meanwhile."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self._pilot = pilot
        self._table = pilot.app.query_one(VTable)

    async def measure(self, act: Callable[[], object], repeat: int = 1) -> tuple[float, float]:
        """Return the medians of the ms until all is painted, and of the longest stall."""
        times, stalls = [], []
        for _ in range(repeat):
            watching = asyncio.create_task(_longest_gap())
            await asyncio.sleep(0.002)
            begun = time.perf_counter()
            result = act()
            if isinstance(result, Awaitable):
                await result
            await self._settled()
            times.append((time.perf_counter() - begun) * 1000)
            watching.cancel()
            stalls.append(await watching)
        return statistics.median(times), statistics.median(stalls)

    async def _settled(self) -> None:
        painted = asyncio.Event()
        while self._table.arranging:  # noqa: ASYNC110  # the table has nothing to wait for
            await asyncio.sleep(0.001)
        self._table.call_after_refresh(painted.set)
        await painted.wait()


async def _longest_gap() -> float:
    """Run until cancelled; return the longest CPU time (ms) between two turns of the loop."""
    longest, last = 0.0, time.thread_time()
    try:
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest, last = max(longest, now - last), now
    except asyncio.CancelledError:
        return max(longest, time.thread_time() - last) * 1000


async def measure(size: int) -> dict[str, tuple[float, float]]:
    """Return (ms, stall in ms) of each action at `size` rows."""
    chance = random.Random(7)
    rows = [_row(number, chance) for number in range(size)]
    gc.collect()
    gc.freeze()  # exclude the rows from collections
    app = TableApp()
    async with app.run_test(size=(120, 40)) as pilot:
        table = app.query_one(VTable)
        table.focus()
        await pilot.pause()
        watch = Stopwatch(pilot)

        def later() -> list[Row]:
            """Return the rows a tenth of a second later."""
            nonlocal rows
            begin = rows[-1].id + 1
            rows = [*rows[CHANGED:], *(_row(begin + number, chance) for number in range(CHANGED))]
            for place in chance.sample(range(len(rows)), CHANGED):
                rows[place] = _row(rows[place].id, chance)
            return rows

        async def live() -> tuple[float, float]:
            found = [await watch.measure(partial(table.set_rows, later())) for _ in range(5)]
            return statistics.median(ms for ms, _ in found), statistics.median(stall for _, stall in found)

        found = {"set rows": await watch.measure(lambda: table.set_rows(list(rows)), 3)}
        found["cursor down"] = await watch.measure(lambda: table.action_cursor(1), 9)
        found["page down"] = await watch.measure(lambda: table.action_page(1), 9)
        found["filter by a word"] = await watch.measure(lambda: table.set_filter("team-007"))
        found["one more letter"] = await watch.measure(lambda: table.set_filter("team-007 c"))
        table.set_filter("")
        found["filter by a number"] = await watch.measure(lambda: table.set_filter("ms>3"))
        found["live, filtered"] = await live()
        found["sort by it"] = await watch.measure(lambda: table.sort("ms", True))
        found["live, sorted too"] = await live()
        found["sort by two"] = await watch.measure(lambda: table.sort("client"))
        table.set_filter("")
        await watch.measure(lambda: None)
        found["live, by two, all"] = await live()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="the most rows (default 100,000)")
    most = parser.parse_args().rows
    sizes = [size for size in SIZES if size <= most]
    measured = {size: asyncio.run(measure(size)) for size in sizes}
    print(f"{'ms (× that of 1,000 rows)':22}" + "".join(f"{size:>22,}" for size in sizes) + "    stall")
    slow = 0
    for act, (base, _) in measured[sizes[0]].items():
        cells = "".join(f"{ms:13.1f} {f'×{ms / base:.1f}':>8}" for ms, _ in (measured[s][act] for s in sizes))
        stall = max(measured[size][act][1] for size in sizes if size <= 100_000)
        slow += stall > FRAME
        print(f"{act:22}{cells}   {stall:6.1f}{'  over 30' if stall > FRAME else ''}")
    return min(slow, 1)


if __name__ == "__main__":
    sys.exit(main())
