"""A plugin that stops pytest's own process again and again, as a machine does that is too busy.

`python -m pytest -p tests.stalls PATHS` finds tests that depend on how fast the machine is, on an idle one.
With KTUI_STALL=2 a stall lasts up to two seconds; by itself, 0.8. Processes that tests start go on.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LONGEST = os.environ.get("KTUI_STALL", "0.8")  # seconds
STOPPING = """
import os, random, signal, sys, time
tests, longest = int(sys.argv[1]), float(sys.argv[2])

def end(*_):
    os.kill(tests, signal.SIGCONT)
    sys.exit()

signal.signal(signal.SIGTERM, end)
while os.getppid() == tests:
    time.sleep(random.uniform(0.0, 0.3))
    os.kill(tests, signal.SIGSTOP)
    time.sleep(random.uniform(0.0, longest))
    os.kill(tests, signal.SIGCONT)
"""
_stopping = pytest.StashKey[subprocess.Popen[bytes]]()


def pytest_collection_finish(session: pytest.Session) -> None:
    words = [sys.executable, "-c", STOPPING, str(os.getpid()), LONGEST]
    session.config.stash[_stopping] = subprocess.Popen(words)


def pytest_sessionfinish(session: pytest.Session) -> None:
    stopping = session.config.stash.get(_stopping, None)
    if stopping is not None:
        stopping.terminate()
        stopping.wait()
