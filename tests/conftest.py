"""What all tests share: marks of goldens, their order, untimed properties, workers, compiled files."""

from __future__ import annotations

import compileall
import gc
import importlib.util
import os
import random
import sys
from pathlib import Path

if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # Every worker and every program that a test starts would compile ktui and its libraries for itself.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

import pytest
from hypothesis import HealthCheck, settings

# An app of some screens makes 100,000 objects and leaves all of them as garbage: a collection amid its test
# walks through what is in use (5 and 13% of the CPU time of two pairs of files, at 10,000 objects).
gc.set_threshold(100_000, 10, 50)

# How fast examples come says something about the machine, not about the rule. (Hypothesis' own profile
# for CI says so too, and is what this one is made of there.)
settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


KTUI = Path(__file__).parents[1] / "ktui"

# These take longest, and mostly wait: begun last, they would keep one worker when the others are done.
FIRST = (
    "tests/etcd/cli/test_read_only.py",
    "tests/etcd/test_fault_checker.py",
    "tests/etcd/cli/test_faults_injected.py",
    "tests/e2e/",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: tests wait half of their time, for an etcd, a server or a terminal."""
    return 2 * (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    """Compile ktui before the workers begin: in a fresh clone each of them would."""
    begins_workers = getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput")
    if begins_workers and not Path(importlib.util.cache_from_source(KTUI / "__main__.py")).exists():
        compileall.compile_dir(KTUI, quiet=2, workers=0)


def pytest_collection_finish() -> None:
    """Thousands of collected tests are there to stay: no garbage collection need walk through them.

    What is garbage by now stays as well: to find it would take each worker 0.3 s.
    """
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`-m golden` picks the tests that compare a screen with a stored one; KTUI_SHUFFLE=N shuffles all.

    The same number gives the same order, in every worker too. By itself a run begins with FIRST.
    """
    for item in items:
        if "matches_golden" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.golden)
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
    if seed := os.environ.get("KTUI_SHUFFLE"):
        random.Random(seed).shuffle(items)
