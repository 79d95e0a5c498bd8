"""Processor time and memory of a running process, as the kernel counts them (Linux)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Reading:
    """`cpu`: seconds of processor time spent so far, by all threads; `at`: when (seconds)."""

    cpu: float
    at: float

    def share_until(self, later: Reading) -> float:
        """Share of one core that was used between the two readings, in percent."""
        return 100.0 * (later.cpu - self.cpu) / (later.at - self.at)


def reading(pid: int) -> Reading:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return Reading((int(fields[11]) + int(fields[12])) / _TICK, time.perf_counter())


def on_cpu(pid: int) -> float:
    """Milliseconds that its living threads have spent on a processor, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


def resident(pid: int) -> float:
    """Resident megabytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    raise RuntimeError("this system does not tell a process' memory")


def children(pid: int) -> list[int]:
    """The processes that it has started, of all its threads."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


def load() -> float:
    """Load average of the last minute."""
    return os.getloadavg()[0]
