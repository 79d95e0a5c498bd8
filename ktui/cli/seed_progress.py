"""Progress of the demo cluster of `ktui serve --demo`: a line now and then on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from ktui.cli.output import tell
from ktui.core.format import duration, integer

if TYPE_CHECKING:
    from ktui.workloads.seeding import SeedProgress

EVERY_SECONDS = 3.0  # on a terminal
STEPS = 10  # lines in total elsewhere: a log must not fill up


class SeedTeller:
    """Called for each existing object. `total` is the final number.

    In a second run everything exists: existing objects count as done.
    """

    def __init__(
        self, total: int, out: TextIO = sys.stderr, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._out = out
        self._clock = clock
        self._terminal = out.isatty()
        self._began = self._reported = clock()
        self._step = 0

    def __call__(self, progress: SeedProgress) -> None:
        done = progress.created + progress.existed
        if done >= self._total or not self._due(done):
            return
        share = done * 100 // self._total
        self._say(
            f"demo cluster: {share} %, {integer(done)} of {integer(self._total)} objects ({progress.stage})"
        )

    def finish(self, progress: SeedProgress) -> None:
        """Print the last line: the number of objects, and how long it took."""
        done = progress.created + progress.existed
        self._say(
            f"demo cluster: complete, {integer(done)} objects in {duration(self._clock() - self._began)}"
        )

    def _due(self, done: int) -> bool:
        if not self._terminal:
            step, before = done * STEPS // self._total, self._step
            self._step = step
            return step > before
        now = self._clock()
        if now - self._reported < EVERY_SECONDS:
            return False
        self._reported = now
        return True

    def _say(self, line: str) -> None:
        tell(line, self._out)
