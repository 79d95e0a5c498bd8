"""Reads logs in a thread, once or as they grow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from ktui.audit.build import Wish
from ktui.audit.comparison import Trends
from ktui.audit.growing_logs import LiveTally, follow
from ktui.audit.reading.files import Log, Stopped, total_size
from ktui.audit.report import Report
from ktui.audit.tally import Tally
from ktui.audit.workers import read_all


@dataclass(frozen=True, slots=True)
class Progress:
    """How far reading is, in bytes on disk; `total` is 0 if unknown."""

    name: str = ""
    taken: int = 0
    total: int = 0
    seconds: float = 0.0
    lines: int = 0
    groups: int = 0
    malformed: int = 0

    @property
    def per_second(self) -> float:
        return self.taken / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds left; None if they cannot be estimated."""
        speed = self.per_second
        return max(0, self.total - self.taken) / speed if speed and self.total else None


class Reading:
    """Reads the logs of `opened()` into `tally`, in one thread; other threads watch it and may stop it."""

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[list[Log]]],
        tally: Tally,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opened = opened
        self.tally = tally
        self.live = False  # whether the logs may still grow
        self.stopped = False
        self._clock = clock
        self._began = clock()
        self._name = ""
        self._taken = self._total = 0

    def run(self) -> None:
        """Read to the end or until `stop`. Raises OSError for a file that cannot be opened."""
        self._began = self._clock()
        with self._opened() as logs:
            self._total = total_size(logs)
            try:
                read_all(logs, self.tally, self._progress)
            except Stopped:
                return

    def stop(self) -> None:
        """Stop reading; what was read stays."""
        self.stopped = True

    def _progress(self, name: str, taken: int) -> None:
        self._name, self._taken = name, taken
        if self.stopped:
            raise Stopped

    def report(self, wish: Wish) -> Report:
        """Return a report of what was read. Raises BehaviourError."""
        return wish.report(self.tally)

    def progress(self) -> Progress:
        tally = self.tally
        return Progress(
            name=self._name,
            taken=self._taken,
            total=self._total,
            seconds=self._clock() - self._began,
            lines=tally.lines,
            groups=len(tally.groups),
            malformed=tally.malformed,
        )


class LiveReading(Reading):
    """Follows files, or only receives what a webhook sends; a report can be made at any time."""

    def __init__(self, live: LiveTally, names: Sequence[str]) -> None:
        super().__init__(lambda: nullcontext([]), live.tally)
        self._live_tally, self._names = live, names
        self._trends = Trends()
        self.live = True

    def run(self) -> None:
        """Read until `stop`. Raises OSError for a file that cannot be opened."""
        self._began = self._clock()
        failed: list[OSError] = []

        def follow_one(name: str) -> None:
            try:
                follow(name, self._live_tally)
            except OSError as error:
                failed.append(error)
                self._live_tally.ended.set()

        threads = [threading.Thread(target=follow_one, args=(name,)) for name in self._names]
        for thread in threads:
            thread.start()
        self._live_tally.ended.wait()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    @property
    def ready(self) -> bool:
        """True once the lines that were there at the start have been read."""
        return self._live_tally.caught_up.is_set()

    def stop(self) -> None:
        super().stop()
        self._live_tally.ended.set()

    def report(self, wish: Wish) -> Report:
        with self._live_tally.lock:
            report = wish.report(self.tally)
        return replace(report, live=tuple(self._trends.lines(report, self._clock())))
