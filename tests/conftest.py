"""What all tests share: marks of goldens, their order, untimed properties, workers, compiled files."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # Every worker and every program that a test starts would compile ktui and the tests for itself.
    sys.dont_write_bytecode = False

import pytest
from hypothesis import HealthCheck, settings

# What is imported and collected stays: to look for garbage meanwhile was a tenth of a worker's start.
gc.disable()
# An app of some screens makes 100,000 objects and leaves all of them as garbage: a collection amid its test
# walks through what is in use (5 and 13% of the CPU time of two pairs of files, at 10,000 objects).
gc.set_threshold(100_000, 10, 50)

# How fast examples come says something about the machine, not about the rule. (Hypothesis' own profile
# for CI says so too, and is what this one is made of there.)
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


TESTS = Path(__file__).parent

# These take longest, and mostly wait; the longest first. Begun last, they would keep one worker when the
# others are done.
FIRST = (
    "tests/kubectl/test_commands.py",
    "tests/etcd/cli/test_read_only.py",
    "tests/etcd/cli/test_faults_injected.py",
    "tests/etcd/cacher/test_fire.py",
    "tests/tui/test_live_failures.py",
    "tests/e2e/test_walk.py",
    "tests/etcd/test_fault_checker.py",
    "tests/tui/test_story.py",
    "tests/etcd/cli/test_ci.py",
    "tests/etcd/cli/test_connecting.py",
    "tests/etcd/cli/test_snapshots.py",
    "tests/etcd/cli/test_seed_copies.py",
    "tests/e2e/",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """`-n auto`: tests wait most of their time, for etcd or a terminal. `-n logical`: one per processor."""
    processors = os.cpu_count() or 1
    return processors if config.option.numprocesses == "logical" else 3 * processors + 1


def pytest_configure(config: pytest.Config) -> None:
    """Before the workers begin, compile what each of them would compile in a fresh clone: 7 s of CPU time.

    Two processes collect the tests, which compiles ktui too, and reads what Hypothesis takes from its source.
    """
    begins_workers = getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput")
    if begins_workers and not any(TESTS.glob("unit/__pycache__/test_*")):
        collect = (
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "0",
            "--collect-only",
            "-q",
            "-p",
            "no:cacheprovider",
        )
        folders = [folder for folder in TESTS.iterdir() if any(folder.glob("**/test_*.py"))]
        halves = [
            subprocess.Popen([*collect, *paths], stdout=subprocess.DEVNULL)
            for paths in ([TESTS / "unit"], [*{*folders} - {TESTS / "unit"}])
        ]
        for half in halves:
            half.wait()


def pytest_collection_finish() -> None:
    """Thousands of collected tests are there to stay: no garbage collection need walk through them.

    What is garbage by now stays as well: to find it would take each worker 0.3 s.
    """
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Spare each worker syrupy's search for goldens that no test used: 14 s of CPU time, never shown.

    A worker cannot know what the others use, so its result is none (syrupy says so too).
    """
    if hasattr(session.config, "workerinput"):
        session.config._syrupy.report = SimpleNamespace(lines=())  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """`-m golden` picks the tests that compare a screen with a stored one; KTUI_SHUFFLE=N shuffles all.

    The same number gives the same order, in every worker too. Without it each worker begins with FIRST.
    """
    for item in items:
        if "matches_golden" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.golden)
    yield  # `-m` and `-k` have picked
    items[:] = dealt_out(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    if seed := os.environ.get("KTUI_SHUFFLE"):
        random.Random(seed).shuffle(items)


def dealt_out(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The items in another order: xdist cuts `workers` equal pieces, and each begins with files of FIRST.

    Tests of a file stay together, so that they share what their module has set up.
    """
    first: dict[tuple[int, str], list[pytest.Item]] = {}
    rest = []
    for item in items:
        rank = next((n for n, start in enumerate(FIRST) if item.nodeid.startswith(start)), None)
        if rank is None:
            rest.append(item)
        else:
            first.setdefault((rank, item.nodeid.partition("::")[0]), []).append(item)
    files, ordered, taken = sorted(first), [], 0
    for worker in range(workers):
        ordered += [item for file in files[worker::workers] for item in first[file]]
        until = taken + max(0, len(items) * (worker + 1) // workers - len(ordered))
        ordered += rest[taken:until]
        taken = until
    return ordered + rest[taken:]
