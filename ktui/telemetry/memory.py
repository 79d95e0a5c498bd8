"""The process' memory, and whether its growth can be attributed to one request."""

from __future__ import annotations

import contextlib
import os
from functools import cache

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_STATM = "/proc/self/statm"  # sizes in pages: total, then resident


def resident_bytes() -> int | None:
    """Return the resident memory of this process in bytes; None without /proc (not Linux)."""
    descriptor = _descriptor(os.getpid())
    return None if descriptor is None else int(os.pread(descriptor, 64, 0).split(None, 2)[1]) * PAGE_BYTES


@cache
def _descriptor(pid: int) -> int | None:
    """Open the file once per process: opening takes longer than reading."""
    with contextlib.suppress(OSError):
        return os.open(_STATM, os.O_RDONLY)
    return None


class ConcurrentRequests:
    """Counts concurrent requests: the memory growth cannot be attributed to one of several."""

    def __init__(self) -> None:
        self.present = 0
        self.came = 0

    def arrive(self, *, small: bool = False) -> Footprint:
        """`small`: the request takes no memory that tells, or looks itself before it does."""
        self.present += 1
        self.came += 1
        footprint = Footprint(self)
        if not small:
            footprint.look()
        return footprint


class Footprint:
    """The growth of the process since the first `look`, as sampled by later ones, and whether others ran."""

    __slots__ = ("_before", "_concurrent", "_highest", "_left", "_place", "_shared")

    def __init__(self, concurrent: ConcurrentRequests) -> None:
        self._concurrent = concurrent
        self._place = concurrent.came
        self._shared = concurrent.present > 1
        self._left = False
        self._before = self._highest = 0

    def look(self) -> None:
        now = resident_bytes() or 0
        self._before = self._before or now
        self._highest = max(self._highest, now)

    @property
    def growth(self) -> int | None:
        """Bytes; 0 if the process did not grow, None if unknown."""
        return self._highest - self._before if self._before else None

    @property
    def shared(self) -> bool:
        """True if other requests ran meanwhile; does not change after `leave`."""
        return self._shared or (not self._left and self._concurrent.came > self._place)

    def leave(self) -> None:
        """Mark the request as ended, or as a WATCH that only waits for events: it takes no more memory."""
        if not self._left:
            self._shared = self._shared or self._concurrent.came > self._place
            self._left = True
            self._concurrent.present -= 1
