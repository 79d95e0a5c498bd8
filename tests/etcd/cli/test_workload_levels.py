"""Workloads and flow control: who waits for seats, by the priority level of its requests."""

from __future__ import annotations

import pytest

from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.workloads.registry import find_workload
from ktui.workloads.running.knobs import WorkloadError
from ktui.workloads.running.runner import Run
from ktui.workloads.running.summary import summary_of
from tests.etcd.cli.conftest import Run as InLoop
from tests.etcd.cli.workload_runs import run_with, stopped

RENEWALS = ("GET lease", "PUT lease")
LEVEL_PATHS = tuple(
    f"/apis/flowcontrol.apiserver.k8s.io/v1/{kind}" for kind in ("flowschemas", "prioritylevelconfigurations")
)


def queued(run: Run, label: str) -> int:
    """Requests that waited in a queue of flow control."""
    figures = run.account.labels.get(("", label))
    return sum(held.queued for held in figures.levels.values()) if figures is not None else 0


@pytest.mark.parametrize("level", ["own", "shared"])
def test_renewals_wait_for_seats_only_in_the_level_of_the_storm(
    server: ServerConnection, in_loop: InLoop, level: str
) -> None:
    def seen(run: Run) -> bool:
        renewed = run.account.phases.get(("", f"storm, {level} level"))
        enough = renewed is not None and renewed.verbs["PUT"] >= 5
        return enough and queued(run, "LIST pods") > 20 and (level == "own" or queued(run, "PUT lease") > 0)

    async def storm() -> tuple[Run, list[bytes]]:
        run = await stopped(
            server, seen, "leader-election", "holders=5", "storm=40", "shares=1", "calm=0.1", f"level={level}"
        )
        client = ApiClient(server)
        try:
            return run, [(await client.request("GET", path)).content for path in LEVEL_PATHS]
        finally:
            await client.close()

    run, left = in_loop(storm())
    own = f"workload-{run.id}"
    # Neither the FlowSchema nor the PriorityLevelConfiguration outlives the run.
    assert not any(own.encode() in stored for stored in left)
    assert {(label, *run.account.labels["", label].levels) for label in (*RENEWALS, "LIST pods")} == {
        ("LIST pods", own), *((label, "leader-election" if level == "own" else own) for label in RENEWALS)
    }  # fmt: skip
    assert (sum(queued(run, label) for label in RENEWALS) == 0) == (level == "own")
    renewals, by_level = summary_of(run)["variants"][0]["tables"]
    assert {row["lost"] for row in renewals["rows"]} == {"0"}
    lists = next(row for row in by_level["rows"] if row["request"] == "LIST pods")
    assert lists["level"] == own and int(lists["queued"].replace(",", "")) > 20


def test_flow_control_holds_agents_in_a_level_of_their_own(server: ServerConnection, in_loop: InLoop) -> None:
    """Consistent reads hold their seats while etcd is asked for its revision: all agents wait at once."""

    async def completed() -> Run:
        client = ApiClient(server)
        run = run_with(client, "agent-boot", "agents=30", "again=0", "shares=1", "rv=unset")
        try:
            await run.go(60.0)
        finally:
            await client.close()
        return run

    run = in_loop(completed())
    total = summary_of(run)["variants"][0]["total"]
    ((level, held),) = total["levels"].items()
    # A cache that is not ready rejects, too: its LIST is sent again.
    assert (level, held["requests"], held["rejected"]) == (f"workload-{run.id}", total["requests"], 0)
    assert total["statuses"]["200"] == 270
    assert held["queued"] > 20 and held["nominal_seats"] == 3


def test_a_level_of_its_own_is_not_made_at_a_real_kube_apiserver(
    server: ServerConnection, in_loop: InLoop
) -> None:
    async def refused() -> None:
        client = ApiClient(server)
        found = find_workload("leader-election")
        knobs = found.settings()
        knobs.set("shares", "1")
        try:
            with pytest.raises(WorkloadError, match="only at a server of ktui"):
                await Run(found, [knobs], client, real=True).go(5.0)
        finally:
            await client.close()

    in_loop(refused())
