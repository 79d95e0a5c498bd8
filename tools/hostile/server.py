"""`ktui serve` with a heartbeat on its event loop: `python -m tools.hostile.server WORDS`.

For each line of standard input, and on SIGTERM, it prints one JSON line: the longest times between two beats
since the last, and where the loop was then: the most frequent of its places, sampled.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
import time
import traceback
from collections import Counter

from ktui.cli import main
from ktui.cli.server import composition

BEAT_SECONDS = 0.001
BUSY_SECONDS = 0.005
KEPT = 25
FRAMES = 5  # stack frames of a sample, innermost last
PLACES = 3  # kept of a late beat


class Heartbeat:
    """Measures the time between two beats of the loop: wall time, and CPU time of the loop's thread."""

    def __init__(self) -> None:
        self._wall_ms: list[float] = []
        self._busy: list[tuple[float, str]] = []  # milliseconds of CPU time, and a stack meanwhile
        self._last = time.perf_counter()
        self._began = 0.0  # a collection, in CPU time
        self._places = Counter[str]()
        self._loop_thread = threading.get_ident()

    async def beat(self) -> None:
        threading.Thread(target=self._watch, daemon=True).start()
        gc.callbacks.append(self._collected)
        cpu = time.thread_time()
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            now, spent = time.perf_counter(), time.thread_time()
            self._wall_ms.append((now - self._last - BEAT_SECONDS) * 1000)
            if spent - cpu > BUSY_SECONDS:
                places = "; ".join(f"{n} × {place}" for place, n in self._places.most_common(PLACES))
                self._busy.append(((spent - cpu) * 1000, places))
            self._last, cpu, self._places = now, spent, Counter()
            if len(self._wall_ms) > 100_000:
                self._keep_longest()

    def report(self) -> str:
        """Return the longest ones since the last report, as JSON."""
        self._keep_longest()
        wall, self._wall_ms = self._wall_ms, []
        busy, self._busy = [(round(ms, 1), place) for ms, place in self._busy], []
        return json.dumps({"wall_ms": [round(ms, 1) for ms in wall], "busy": busy})

    def answer(self) -> None:
        """Report for each line of standard input. (A thread: `report` swaps whole lists.)"""
        for _ in sys.stdin:
            print(self.report(), flush=True)

    def _keep_longest(self) -> None:
        self._wall_ms = sorted(self._wall_ms, reverse=True)[:10]
        self._busy = sorted(self._busy, reverse=True)[:KEPT]

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        """Count a collection of garbage in the loop's thread: no sample sees where it is."""
        if threading.get_ident() != self._loop_thread:
            return
        now = time.thread_time()
        if phase == "start":
            self._began = now
        elif now - self._began > BUSY_SECONDS:
            ms = (now - self._began) * 1000
            self._places[f"garbage of generation {info['generation']}: {ms:.0f} ms"] += 1

    def _watch(self) -> None:
        """Sample the stack of the loop's thread while a beat is late."""
        while True:
            time.sleep(BUSY_SECONDS / 2)
            if time.perf_counter() - self._last > BUSY_SECONDS:
                frame = sys._current_frames().get(self._loop_thread)
                stack = traceback.extract_stack(frame)[-FRAMES:]
                self._places[" > ".join(f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in stack)] += 1


class WatchedComposition(composition.Composition):
    """A server with a heartbeat."""

    async def start(self) -> None:
        await super().start()
        self._heartbeat = Heartbeat()
        self._beating = asyncio.create_task(self._heartbeat.beat())
        threading.Thread(target=self._heartbeat.answer, daemon=True).start()

    async def stop(self) -> None:
        self._beating.cancel()
        print(self._heartbeat.report(), flush=True)
        await super().stop()


if __name__ == "__main__":
    composition.Composition = WatchedComposition  # type: ignore[misc]
    sys.exit(main.main(["serve", *sys.argv[1:]]))
