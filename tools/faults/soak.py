"""`python -m tools.faults --soak`: run one server for long; neither memory nor descriptors may grow.

Schedules follow each other on the same cluster and server, which is measured after each one, and once more
after a rest. The last quarter of the measurements is compared with the second one, and the memory after the
rest with that after the warm-up.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ktui.etcd.binary import Binary
from tools.faults.bench import Bench, HarnessError
from tools.faults.records import Violations, clock
from tools.faults.schedule import Outcome, keep, schedule

SCHEDULE_SECONDS = 20.0
GROWTH, ALLOWANCE_MB, ALLOWED_DESCRIPTORS = 1.15, 20.0, 20
SLOW_SECONDS = 15.0  # a recovery whose log is kept
FEWEST = 8  # schedules, for a comparison of quarters
WARM_UP_SECONDS, REST_SECONDS = 180.0, 300.0
MOST_AFTER_REST = 1.1  # of the memory after the warm-up
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A process at rest: resident megabytes, open descriptors."""

    megabytes: float
    descriptors: int

    @classmethod
    def of(cls, pid: int) -> Sample:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return cls(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, len(list(Path(f"/proc/{pid}/fd").iterdir())))


def growth(samples: list[Sample]) -> list[str]:
    """Return a sentence for each figure that has grown from the second quarter to the last."""
    if len(samples) < FEWEST:
        return []
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    before, after = (statistics.median(one.megabytes for one in part) for part in (early, late))
    found = []
    if after > before * GROWTH + ALLOWANCE_MB:
        found.append(f"memory grew from {before:.0f} to {after:.0f} MB")
    most, least = max(one.descriptors for one in early), min(one.descriptors for one in late)
    if least > most + ALLOWED_DESCRIPTORS:
        found.append(f"open descriptors grew from {most} to {least}")
    return found


class Memory:
    """The resident megabytes of a process, printed every minute. `warm`: after the warm-up, None before."""

    def __init__(self, pid: int) -> None:
        self.warm: float | None = None
        self._pid = pid
        self._began = clock()

    async def measure(self) -> None:
        """Print until cancelled."""
        while True:
            await asyncio.sleep(MINUTE)
            now = Sample.of(self._pid).megabytes
            if self.warm is None and clock() - self._began >= WARM_UP_SECONDS:
                self.warm = now
            print(f"    minute {(clock() - self._began) / MINUTE:.0f}: {now:.0f} MB", flush=True)

    async def rest(self) -> list[str]:
        """Wait; return a sentence if more memory is held than after the warm-up."""
        await asyncio.sleep(REST_SECONDS)
        now = Sample.of(self._pid).megabytes
        if self.warm is None:
            return []
        print(f"after {REST_SECONDS:.0f} s of rest {now:.0f} MB, after the warm-up {self.warm:.0f} MB")
        grown = now > self.warm * MOST_AFTER_REST
        return [f"{self.warm:.0f} MB after the warm-up, {now:.0f} MB after the rest"] if grown else []


async def soak(etcd: Binary, seconds: float, seed: int, out: Path) -> int:
    """Run schedules for `seconds`; return the exit status: 1 for a violation or growth."""
    violations = Violations(out / "violations.ndjson", seed=seed, members=3)
    verified, samples, end = Counter[str](), list[Sample](), clock() + seconds
    with tempfile.TemporaryDirectory(prefix="ktui-soak-") as directory:
        bench = Bench(3, "1.36", etcd.path, Path(directory), violations, seed)
        try:
            await bench.start()
            memory = Memory(bench.server.pid)
            measuring = asyncio.create_task(memory.measure())
            while clock() < end:
                outcome = Outcome(violations)
                number, known = len(samples), len(violations.all)
                await schedule(bench, seed + number, SCHEDULE_SECONDS, outcome, restarts=False)
                verified += outcome.verified
                samples.append(Sample.of(bench.server.pid))
                slow = outcome.recovered is None or outcome.recovered > SLOW_SECONDS
                print(
                    f"{number}: {samples[-1].megabytes:.0f} MB, {samples[-1].descriptors} descriptors, "
                    f"{outcome.verified['events']} events, recovered {outcome.recovered or -1:.1f} s, "
                    f"{len(violations.all)} violations"
                    + (f"; waited for {outcome.waited_for}" if slow else ""),
                    flush=True,
                )
                if slow or len(violations.all) > known:
                    keep(Path(directory), out / f"seed-{seed + number}", outcome)
            for sentence in await memory.rest():
                violations.add(sentence)
            measuring.cancel()
        except HarnessError as error:
            print(f"broken off: {error}")
            violations.add("broken off", why=str(error))
        finally:
            await bench.close()
    for sentence in growth(samples):
        violations.add(sentence)
    print("\nverified: " + ", ".join(f"{count:,} {what}" for what, count in verified.items()))
    kinds = "".join(f"\n  {count} × {kind}" for kind, count in violations.kinds.items())
    print(f"violations: {len(violations.all)}{kinds}")
    return 1 if violations.all else 0
