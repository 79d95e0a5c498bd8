"""A bound on work that would never end, where C code does it in one call and no step can be counted."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SECONDS = 60  # no measure of speed: the work takes milliseconds, with the mistake hours


@contextlib.contextmanager
def ends() -> Iterator[None]:
    """Fails if the block does not end. The engine of regular expressions looks for signals in between."""

    def give_up(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it went on after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
