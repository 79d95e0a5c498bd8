"""Interpreter settings for a server: short thread turns and no long garbage collection."""

from __future__ import annotations

import gc
import sys

# Python's default is 5 ms: the HTTP server's threads would wait that long for each turn while a LIST
# is transcoded, and a request takes several turns. A GET during a LIST takes 2.5 ms instead of 6.
SWITCH_SECONDS = 0.0003


def share_turns() -> None:
    """Let a waiting thread have the interpreter soon."""
    sys.setswitchinterval(SWITCH_SECONDS)


def spare_the_collector() -> None:
    """Exclude all current objects, mainly modules and classes, from later collections.

    Call it once the program is set up: a full collection then no longer stops the server for
    tens of milliseconds.
    """
    gc.collect()
    gc.freeze()
