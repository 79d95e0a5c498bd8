"""`python -m tools.faults --soak`: run one server for long; neither memory nor descriptors may grow.

Schedules follow each other on the same cluster and server, which is measured at rest after each one.
The last quarter of the measurements is compared with the second one.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ktui.etcd.binary import Binary
from tools.faults.bench import Bench, HarnessError
from tools.faults.records import Violations, clock
from tools.faults.schedule import Outcome, schedule

SCHEDULE_SECONDS = 20.0
GROWTH, ALLOWANCE_MB, ALLOWED_DESCRIPTORS = 1.15, 20.0, 20
FEWEST = 8  # schedules, for a comparison of quarters


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


async def soak(etcd: Binary, seconds: float, seed: int, out: Path) -> int:
    """Run schedules for `seconds`; return the exit status: 1 for a violation or growth."""
    violations = Violations(out / "violations.ndjson", seed=seed, members=3)
    verified, samples, end = Counter[str](), list[Sample](), clock() + seconds
    with tempfile.TemporaryDirectory(prefix="ktui-soak-") as directory:
        bench = Bench(3, "1.36", etcd.path, Path(directory), violations, seed)
        try:
            await bench.start()
            while clock() < end:
                outcome = Outcome(violations)
                number = len(samples)
                await schedule(bench, seed + number, SCHEDULE_SECONDS, outcome, restarts=False)
                verified += outcome.verified
                samples.append(Sample.of(bench.server.pid))
                print(
                    f"{number}: {samples[-1].megabytes:.0f} MB, {samples[-1].descriptors} descriptors, "
                    f"{outcome.verified['events']} events, recovered {outcome.recovered or -1:.1f} s, "
                    f"{len(violations.all)} violations",
                    flush=True,
                )
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
