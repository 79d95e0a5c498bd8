"""Report the progress of creating the demo cluster on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from ktui.cli.output import tell
from ktui.core.format import duration, integer, many

if TYPE_CHECKING:
    from ktui.workloads.seeding import SeedProgress

EVERY_SECONDS = 3.0  # on a terminal
FOR_SERVER_SECONDS = 0.5
LEAST_SHARE = 0.05  # done before the time left is estimated
FILLING = "filling:"  # begins a line of standard error for the server
STEPS = 10  # lines in total if it is no terminal, so that a log does not fill up


class SeedReporter:
    """Prints the progress for users; called for each object that exists now.

    `total` is the final number of objects. Objects of a previous run count as done.
    """

    def __init__(
        self, total: int, out: TextIO = sys.stderr, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self._out = out
        self._clock = clock
        self._terminal = out.isatty()
        self._began = self._reported = clock()
        self._step = 0

    def __call__(self, progress: SeedProgress) -> None:
        done = progress.created + progress.existed
        if done >= self.total or not self._due(done):
            return
        share = done * 100 // self.total
        self._print(
            f"demo cluster: {share} %, {integer(done)} of {many(self.total, 'object')} ({progress.stage})"
        )

    def finish(self, progress: SeedProgress) -> None:
        """Print the last line: the number of objects, and how long it took."""
        done = progress.created + progress.existed
        self._print(
            f"demo cluster: complete, {many(done, 'object')} in {duration(self._clock() - self._began)}"
        )

    def _due(self, done: int) -> bool:
        if not self._terminal:
            step, before = done * STEPS // self.total, self._step
            self._step = step
            return step > before
        now = self._clock()
        if now - self._reported < EVERY_SECONDS:
            return False
        self._reported = now
        return True

    def _print(self, line: str) -> None:
        tell(line, self._out)


class ServerSeedReporter:
    """Prints the progress for the server that started this process; the last line is empty."""

    def __init__(
        self, total: int, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self._out = out
        self._clock = clock
        self._began = clock()
        self._reported = self._began - FOR_SERVER_SECONDS

    def __call__(self, progress: SeedProgress) -> None:
        now = self._clock()
        if now - self._reported < FOR_SERVER_SECONDS:
            return
        self._reported = now
        done = progress.created + progress.existed
        share = f"{done * 100 // self.total} %, {integer(done)} of {integer(self.total)} objects"
        tell(f"{FILLING} {share}, now {progress.stage}{self._left(done, now)}", self._out)

    def _left(self, done: int, now: float) -> str:
        """Return `, 12s left` at the average pace so far; "" at the beginning."""
        if done < LEAST_SHARE * self.total or done >= self.total:
            return ""
        left = (now - self._began) * (self.total - done) / done
        return f", {duration(max(1.0, left))} left"

    def finish(self, _progress: SeedProgress) -> None:
        """Print the end: the demo cluster is complete, or its creation has failed."""
        tell(FILLING, self._out)
