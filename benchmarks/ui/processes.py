"""CPU time and memory of a running process, from /proc (Linux)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading at the time `at` (seconds). `cpu`: seconds of CPU time so far, of all threads."""

    cpu: float
    at: float

    def share_until(self, later: Reading) -> float:
        """Return the share of one core used between the two readings, in percent."""
        return 100.0 * (later.cpu - self.cpu) / (later.at - self.at)


def reading(pid: int) -> Reading:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Reading((int(fields[11]) + int(fields[12])) / _TICK, time.perf_counter())


def on_cpu(pid: int) -> float:
    """Return the CPU milliseconds of the process' living threads, with nanosecond resolution."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


def resident(pid: int) -> float:
    """Return the resident megabytes of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise RuntimeError("this system does not report a process' memory")


def children(pid: int) -> list[int]:
    """Return the child processes of all threads of a process."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]
