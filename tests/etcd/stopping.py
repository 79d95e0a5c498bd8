"""SIGSTOP, and what it takes until a process of many threads really stands still."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def stand_still(pid: int) -> None:
    """Stop a process. `kill` returns before threads on other processors have: they may answer once more."""
    os.kill(pid, signal.SIGSTOP)
    while not all(_stands_still(task) for task in Path(f"/proc/{pid}/task").iterdir()):
        os.sched_yield()


def _stands_still(task: Path) -> bool:
    try:
        return (task / "stat").read_text().rpartition(") ")[2][0] in "Tt"
    except FileNotFoundError:
        return True  # that thread has ended
