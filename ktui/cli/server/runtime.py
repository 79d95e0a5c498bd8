"""The interpreter set up for a server: short thread turns and no long garbage collection."""

from __future__ import annotations

import gc
import sys

# Python's own is 5 ms: so long would the HTTP server's threads wait for each turn while a LIST
# is being transcoded, and a request takes several. A GET beside one takes 2.5 ms instead of 6.
SWITCH_SECONDS = 0.0003


def share_turns() -> None:
    """Let a thread that waits for the interpreter have it soon."""
    sys.setswitchinterval(SWITCH_SECONDS)


def spare_the_collector() -> None:
    """Take all that lives now, modules and classes above all, out of every later collection.

    Call it once the program is set up: a full collection then no longer stops the server for
    tens of milliseconds to find that nothing of it is garbage.
    """
    gc.collect()
    gc.freeze()
