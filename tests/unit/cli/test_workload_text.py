"""The table of a workload's run, in wide and narrow terminals."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from ktui.cli.workload_text import _HEADS, LEFT_OUT, _phases
from ktui.workloads.running.knobs import described

FIGURES = {
    "phase": "poll", "seconds": 16.1, "requests": 39, "requests_per_second": 2.42, "routes": {"cache": 39},
    "etcd_rpcs_per_second": 1.0, "etcd_bytes_per_second": 68, "etcd_keys": 0, "amplification": None,
    "ms": {"p50": 12.0, "p95": 83.0, "p99": 103.0}, "rejected": 0, "failed": 0,
}  # fmt: skip
SUMMARY = {"variants": [{"variant": "", "phases": [FIGURES], "total": FIGURES}]}


@pytest.mark.parametrize(
    ("width", "heads"),
    [(80, [head for head in _HEADS if head not in LEFT_OUT]), (100, None), (120, list(_HEADS))],
)
def test_each_head_is_on_one_line(width: int, heads: list[str] | None) -> None:
    text = StringIO()
    Console(file=text, width=width).print(_phases(SUMMARY, width))
    head, _rule, row, *rest = [line for line in text.getvalue().splitlines() if line.strip()]
    assert heads is None or head.split() == " ".join(heads).split()
    assert "ampl." in head and row.split()[0] == "poll" and not rest


def test_a_run_names_the_knobs_that_are_set() -> None:
    assert described({"clients": 5, "plan": "/a/b/plan.yaml", "version": ""}) == "clients=5 plan=plan.yaml"
