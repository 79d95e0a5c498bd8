"""Every benchmark of the dashboard runs, small: its figures are measured, and not judged here.

They test no part of ktui, and take a minute: only on request, `pytest -m benchmark`, as CI does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.benchmark, pytest.mark.terminal, pytest.mark.etcd, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
SMALL_DEMO = {"KTUI_PODS": "60", "KTUI_NODES": "4", "KTUI_NAMESPACES": "6"}
FIGURES = {
    "start": ("first frame, ktui --replay", "live keys, caches and requests", "ranked reads with advice"),
    "keys": ("key → frame, cursor, 95 %", "key → frame, filter, 95 %"),
    "idle": ("CPU of the dashboard, idle", "memory of the dashboard, then"),
    "memory": ("memory after an hour of traffic",),
    "cluster": ("key → frame, cached pods, 95 %",),
    "workloads": ("key → frame, knobs of agent-boot, 95 %",),
    "soak": ("memory after 0.02 minutes of the demo",),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_benchmark_measures_what_it_is_named_for(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.ui", "--small", name],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **SMALL_DEMO},
    )
    assert done.returncode in (0, 1), done.stderr  # 1: a target is missed, as on any busy machine
    for figure in FIGURES[name]:
        assert f"| {figure} " in done.stdout, done.stdout + done.stderr
