"""Of every workload the figures equal the growth of the server's own counters; a comparison runs in turns."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import pytest

from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.contract.events import Marker
from ktui.tui.workloads.session import Session
from ktui.workloads.registry import WORKLOADS
from ktui.workloads.running.runner import Run
from tests.etcd.cli.conftest import Run as InLoop
from tests.etcd.cli.workload_runs import sent_by, summary_when

# Small ones; each ends when as many requests have been accounted for.
SMALL = {
    "agent-boot": ("agents=4", "again=1"),
    "kubelet-configmaps": ("nodes=2", "pods=5", "speed=100"),
    "informers": ("informers=4", "every=1", "changes=20"),
    "fan-out": ("watchers=4", "selecting=4", "tables=4", "rate=20"),
    "deployment-chain": ("replicas=3",),
    "defrag-stall": ("calm=0.5", "stall=0.5", "changes=20"),
    "time-travel": (),
    "leader-election": ("holders=2", "storm=2", "calm=2"),
    "polling-controller": ("clients=4", "every=0.05"),
    "kubectl-users": ("clients=4", "every=0.05"),
    "helm": ("clients=4", "every=0.05"),
    "paged-export": ("clients=4", "every=0.05"),
}
OF_ITS_OWN = {"time-travel"}  # its second server has figures of its own: see test_workload.py


@pytest.mark.parametrize("name", [name for name in WORKLOADS if name not in OF_ITS_OWN])
def test_figures_equal_the_growth_of_the_servers_counters(
    server: ServerConnection, in_loop: InLoop, name: str
) -> None:
    def enough(run: Run) -> bool:
        return sent_by(run).total() >= 30

    names = 3 if name == "kubelet-configmaps" else 2  # it reads those of ConfigMaps, too
    summary = in_loop(summary_when(server, name, enough, *SMALL[name], names=names))
    assert summary["variants"][0]["total"]["requests"] >= 30


async def markers_of(server: ServerConnection, run: Coroutine[None, None, None]) -> list[str]:
    """What was marked in the server's telemetry while it ran."""
    client, marks, ready = ApiClient(server), list[str](), asyncio.Event()

    async def follow() -> None:
        async for batch in client.telemetry():
            ready.set()
            marks.extend(event.text for event in batch if isinstance(event, Marker))

    following = asyncio.create_task(follow())
    await ready.wait()
    await run
    following.cancel()
    await asyncio.wait({following})
    await client.close()
    return marks


def test_a_comparison_from_the_screen_runs_in_turns(server: ServerConnection, in_loop: InLoop) -> None:
    session = Session("polling-controller", lambda: None, compares=True)
    settings = ["clients=2", "every=0.05", "form=poll", "form=cached", "version=1.24"]
    marks = in_loop(markers_of(server, session.run(server, settings, 4.0)))
    assert session.problem == "" and session.summary is not None
    sides = session.summary["variants"]
    assert [side["knobs"]["form"] for side in sides] == ["poll", "cached"]
    assert sides[0]["total"]["etcd_keys"] > 0 == sides[1]["total"]["etcd_keys"]
    requests = session.summary["difference"]["requests"]
    assert (requests["A"], requests["B"]) == tuple(side["total"]["requests"] for side in sides)
    assert marks[:-1] == [f"polling-controller: turn of {name}" for name in "ABABABAB"]
    assert marks[-1].startswith("polling-controller: ends")
    on_charts = " ".join(second.marker for second in session.seconds)
    assert "turn of A" in on_charts and "turn of B" in on_charts


def test_a_changed_knob_is_marked_on_the_charts_and_in_telemetry(
    server: ServerConnection, in_loop: InLoop
) -> None:
    def heard() -> None:
        if session.last is not None and session.last.marker:
            session.send("stop")
        elif len(session.seconds) == 1 and not asked:
            asked.append("form")
            session.send("set form cached")

    asked: list[str] = []
    session = Session("polling-controller", heard)
    marks = in_loop(markers_of(server, session.run(server, ["clients=2", "every=0.1"], 60.0)))
    assert marks[0] == "polling-controller: form=cached" and len(marks) == 2
    assert "form=cached" in session.seconds[-1].marker
    assert session.summary is not None and session.summary["ended"] == "stopped"
