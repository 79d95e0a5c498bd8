"""How the server's process runs: short thread switches, no long garbage collection, freed memory returned."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from itertools import count
from pathlib import Path

from ktui.telemetry.meter import resident_bytes
from ktui.wire import transcode_cache

# Python's default is 5 ms: while a LIST is transcoded, the HTTP server's threads would wait that long for
# each switch, and a request takes several. A GET during a LIST takes 2.5 ms instead of 6.
SWITCH_SECONDS = 0.0003


def shorten_thread_switches() -> None:
    sys.setswitchinterval(SWITCH_SECONDS)


def freeze_heap() -> None:
    """Exclude all current objects from collections, which would stop the server for tens of milliseconds."""
    gc.collect()
    gc.freeze()


# The server is quiet if it needed less than this share of a CPU for this time.
QUIET_SECONDS = 5.0
QUIET_SHARE = 0.2
# Least growth since the last trimming, and since the last collection.
GROWN_BYTES = 8 << 20
GARBAGE_BYTES = 128 << 20
MOST_GARBAGE_BYTES = 1 << 30  # while it is not quiet
SET_ASIDE = 100_000  # objects that pauses of the collector have left
UNUSED_SECONDS = 60.0  # pieces of objects that repeat, unused for this long or twice as long, are forgotten
_NEVER = 1 << 30
_SCHEDSTAT = Path("/proc/self/schedstat")  # of the main thread: ns on a CPU, ns of waiting for one, turns


def needed_cpu_seconds() -> float:
    """Return the CPU time of this process, and the time that its event loop waited for a CPU (on Linux).

    Without the latter, a busy server that other programs leave little of the CPU would look quiet.
    """
    try:
        waited = int(_SCHEDSTAT.read_text().split()[1])  # ns
    except (OSError, ValueError, IndexError):
        waited = 0
    return time.process_time() + waited / 1e9


async def tidy_when_quiet(
    resident: Callable[[], int | None] = resident_bytes,
    cpu: Callable[[], float] = needed_cpu_seconds,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    trim: Callable[[], None] | None = None,
    collect: Callable[[], object] = gc.collect,
    age: Callable[[], Iterable[int]] = transcode_cache.age,
) -> None:
    """Return free pages of the heap to the system whenever the process has grown and is quiet again.

    The allocator keeps freed memory between live objects. Trimming blocks threads that allocate for
    tens of milliseconds, so it is not done while the server is busy.

    A full collection of garbage stops the server for about 50 microseconds for each open WATCH, and finds
    next to nothing, as requests leave no cycles. So it is made after much growth only, once the server is
    quiet and no large tree is in use, not by Python's thresholds. It also looks through what pauses of the
    collector have set aside, if that is much.

    Transcoded pieces that nothing used for a while are forgotten, also while it is not quiet.
    """
    if trim is None and (libc := _glibc()) is not None:
        trim = partial(libc.malloc_trim, 0)
    if resident() is None:
        return
    before = gc.get_threshold()
    gc.set_threshold(before[0], before[1], _NEVER)
    try:
        trimmed, collected, spent, frozen = 0, resident() or 0, cpu(), gc.get_freeze_count()
        for number in count(1):
            await pause(QUIET_SECONDS)
            if number % (UNUSED_SECONDS // QUIET_SECONDS) == 0 and await _forget_unused(age) >= GROWN_BYTES:
                trimmed = 0
            was, spent = spent, cpu()
            quiet = spent - was < QUIET_SECONDS * QUIET_SHARE
            if trim is not None and quiet and (resident() or 0) >= trimmed + GROWN_BYTES:
                await asyncio.to_thread(trim)
                trimmed = resident() or 0
            least = GARBAGE_BYTES if quiet else MOST_GARBAGE_BYTES
            if gc.isenabled() and (resident() or 0) >= collected + least:
                if gc.get_freeze_count() >= frozen + SET_ASIDE:
                    gc.unfreeze()
                    collect()
                    gc.freeze()
                else:
                    collect()
                collected = resident() or 0
    finally:
        gc.set_threshold(*before)


async def _forget_unused(age: Callable[[], Iterable[int]]) -> int:
    forgotten = 0
    for size in age():
        forgotten += size
        await asyncio.sleep(0)
    return forgotten


def _glibc() -> ctypes.CDLL | None:
    try:
        glibc = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError):  # another C library or system
        return None
    return ctypes.CDLL(None) if glibc else None
