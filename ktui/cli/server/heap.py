"""Memory that a storm took, returned to the system once it is over."""

from __future__ import annotations

import asyncio
import ctypes
import os
import time
from collections.abc import Awaitable, Callable
from functools import cache, partial

from ktui.telemetry.memory import resident_bytes

# The server is quiet when it has taken less than this share of a processor for so long.
QUIET_SECONDS = 5.0
QUIET_SHARE = 0.2
# Growth since the last time from which on it is worth it.
GROWN_BYTES = 32 << 20


async def trim_when_quiet(
    resident: Callable[[], int | None] = resident_bytes,
    cpu: Callable[[], float] = time.process_time,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    trim: Callable[[], None] | None = None,
) -> None:
    """Return free pages inside the heap to the system whenever the process has grown and is quiet again.

    Memory that is freed between objects that stay is not returned otherwise. A thread that allocates
    meanwhile has to wait for some tens of milliseconds, so it is not done while the server is busy.
    """
    trim = trim or _malloc_trim()
    if trim is None or resident() is None:
        return
    trimmed, spent = 0, cpu()
    while True:
        await pause(QUIET_SECONDS)
        before, spent = spent, cpu()
        quiet = spent - before < QUIET_SECONDS * QUIET_SHARE
        if quiet and (resident() or 0) >= trimmed + GROWN_BYTES:
            await asyncio.to_thread(trim)
            trimmed = resident() or 0


def _malloc_trim() -> Callable[[], None] | None:
    libc = _glibc()
    return None if libc is None else partial(libc.malloc_trim, 0)


@cache
def _glibc() -> ctypes.CDLL | None:
    try:
        glibc = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError):  # another C library, another system
        return None
    return ctypes.CDLL(None) if glibc else None
