"""The workload fan-out at a real server: real watches, and the rules followed for what they received."""

from __future__ import annotations

from ktui.client.connection import ServerConnection
from ktui.workloads.running.runner import Run
from tests.etcd.cli.conftest import Run as InLoop
from tests.etcd.cli.workload_runs import summary_when, table_of


def _a_life_is_counted(run: Run) -> bool:
    context = run.current.context
    if context is None or "seen" not in context.memory:
        return False
    seen = context.memory["seen"]
    seen.fold(1.0)
    return len(seen.steps) == 7 and bool(context.memory["samples"])


def test_objects_enter_and_leave_a_selector(server: ServerConnection, in_loop: InLoop) -> None:
    settings = ("watchers=20", "selecting=30", "tables=20", "rate=20")
    summary = in_loop(summary_when(server, "fan-out", _a_life_is_counted, *settings))
    steps = {row["the object …"]: row for row in table_of(summary, "one change")}
    assert [(row["without selector"], row["with selector"]) for row in steps.values()] == [
        ("10 × ADDED (out)", "nothing"),
        ("10 × MODIFIED (in)", "6 × ADDED (in)"),
        ("10 × MODIFIED (in)", "6 × MODIFIED (in)"),
        ("10 × MODIFIED (out)", "6 × DELETED (in)"),  # the previous object
        ("10 × MODIFIED (out)", "nothing"),
        ("10 × MODIFIED (in)", "6 × ADDED (in)"),
        ("10 × DELETED (in)", "6 × DELETED (in)"),
    ]
    notes = [note for table in summary["variants"][0]["tables"] for note in table["notes"]]
    assert "the resourceVersion is that of the change in all events but 0" in notes
    by_version = {row["version"]: row for row in table_of(summary, "deep copies")}
    delivered = int(by_version["≤ 1.16"]["encodings"].replace(",", ""))
    assert f"delivered {delivered:,} times" in notes[0]
    shared = [int(row["encodings"].replace(",", "")) for row in list(by_version.values())[1:-1]]
    assert shared == sorted(shared, reverse=True) and shared[0] < delivered
    assert by_version["1.20 – 1.23"]["selfLinks"] == "0" != by_version["1.20 – 1.23 gate off"]["selfLinks"]
