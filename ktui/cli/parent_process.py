"""A child that must not outlive its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process (SIGTERM) when `parent` is gone, even by `kill -9`.

    Linux only; elsewhere the parent's orderly end is all there is. Exits at once
    when the parent died before the kernel could be asked.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(0)
