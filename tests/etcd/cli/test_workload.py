"""`ktui workload` at a real server: its figures are the server's own."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ktui.cli.main import main
from ktui.cli.workload import replica_of
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.client.metrics_page import samples_of
from ktui.client.target import KtuiTarget
from ktui.workloads.registry import find_workload
from ktui.workloads.running.runner import Run
from ktui.workloads.running.summary import summary_of
from tests.etcd.cli.conftest import SIZE
from tests.etcd.cli.conftest import Run as InLoop
from tests.etcd.cli.workload_runs import go_until, run_with, sent_by, stopped


def workload(capsys: pytest.CaptureFixture[str], server: ServerConnection, *words: str) -> dict[str, Any]:
    attach = ["--attach", server.url, "--yes"]
    assert main(["workload", "run", *words, *attach, "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


async def measured(server: ServerConnection, name: str, *settings: str) -> tuple[Run, dict[str, float]]:
    """A run, and by how much some of the server's counters grew meanwhile."""
    client = ApiClient(server)
    try:
        run = run_with(client, name, *settings)
        before = await counters(client)
        await run.go(60.0)
        after = await counters(client)
    finally:
        await client.close()
    return run, {name: value - before.get(name, 0.0) for name, value in after.items()}


async def counters(client: ApiClient) -> dict[str, float]:
    """LIST requests answered, and objects that storage fetched for them."""
    text = (await client.request("GET", "/metrics")).content
    sums: dict[str, float] = {}
    names = "apiserver_request_total", "apiserver_storage_list_fetched_objects_total"
    for name, labels, value in samples_of(text, *names):
        if name != names[0] or labels["verb"] == "LIST":
            sums[name] = sums.get(name, 0.0) + value
    return sums


def test_figures_equal_the_growth_of_the_servers_counters(
    server: ServerConnection, behave: Callable[[str], None], in_loop: InLoop
) -> None:
    behave("1.24")
    run, grown = in_loop(measured(server, "agent-boot", "agents=6", "rv=unset", "again=0"))
    summary = summary_of(run)
    total = summary["variants"][0]["total"]
    assert (total["requests"], total["routes"], summary["ended"]) == (54, {"etcd": 54}, "complete")
    assert summary["remarks"] == []
    assert {level: held["requests"] for level, held in total["levels"].items()} == {"workload-high": 54}
    assert summary["server"]["kube_version"] == "1.24"
    # The run itself lists the names of nodes and namespaces before it begins.
    assert grown["apiserver_request_total"] == total["requests"] + 2
    fetched = grown["apiserver_storage_list_fetched_objects_total"]
    assert fetched == total["etcd_keys"] + SIZE.nodes + SIZE.namespaces


def test_a_selector_without_a_version_reads_the_whole_collection(
    server: ServerConnection, behave: Callable[[str], None], in_loop: InLoop
) -> None:
    behave("1.24")
    for rv, route in (("unset", "etcd"), ("0", "cache")):
        run, _ = in_loop(measured(server, "agent-boot", "agents=2", f"rv={rv}", "again=0"))
        pods = run.account.labels["", "2 pods"]
        assert set(pods.routes) == {route}
        read = pods.spent.processed_bytes / pods.spent.encoded_bytes
        # One node has an eighth of the pods; stored bytes are fewer than those of JSON.
        assert (read > SIZE.nodes / 2) == (route == "etcd")


def test_two_policies_are_compared(server: ServerConnection, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--compare", "--set", "rv=0", "--set", "rv=unset", "--set", "version=1.24")
    found = workload(capsys, server, "agent-boot", *words, "--set", "agents=2", "--set", "again=0")
    first, second = found["variants"]
    assert (first["knobs"]["rv"], second["knobs"]["rv"]) == ("0", "unset")
    assert first["total"]["requests"] == second["total"]["requests"] == 4 * 2 * 9
    assert first["total"]["etcd_keys"] == 0 < second["total"]["etcd_keys"]
    assert found["difference"]["etcd_keys"]["B"] == second["total"]["etcd_keys"]


def test_at_a_server_of_others_it_asks_first(
    server: ServerConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["workload", "run", "agent-boot", "--attach", server.url]) == 2
    assert "confirm with --yes" in capsys.readouterr().err


def test_a_summary_for_people(server: ServerConnection, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--attach", server.url, "--yes", "--set", "agents=2", "--set", "again=0"]
    assert main(["workload", "run", "agent-boot", *words]) == 0
    out = capsys.readouterr().out
    assert "one agent's LISTs" in out and "the article" in out and "p95" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "agent-bot"], "did you mean agent-boot?"),
        (["run", "agent-boot", "--set", "agent=3"], "did you mean agents?"),
        (["run", "agent-boot", "--set", "agents=many"], "agents='many' is not a number"),
        (["run", "agent-boot", "--set", "agents=9999"], "from 1 to 5000"),
        (["run", "agent-boot", "--set", "rv=7"], "choose one of plan, unset, 0"),
        (["run", "agent-boot", "--compare", "--set", "rv=0"], "needs a knob given twice"),
        (["run", "agent-boot", "--compare", "missing.toml", "other.toml"], "cannot read missing.toml"),
        (["run"], "name a workload"),
    ],
)
def test_misuse(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workload", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_plan_that_does_not_exist(server: ServerConnection, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--attach", server.url, "--yes", "--set", "plan=nothing"]
    assert main(["workload", "run", "agent-boot", *words]) == 2
    assert "there is no plan 'nothing'" in capsys.readouterr().err


def test_knobs_from_files(
    server: ServerConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = []
    for rv in ("0", "unset"):
        path = tmp_path / f"{rv}.toml"
        path.write_text(f'[knobs]\nrv = "{rv}"\nagents = 1\nagain = 0\n')
        names.append(str(path))
    found = workload(capsys, server, "agent-boot", "--compare", *names)
    assert [side["knobs"]["agents"] for side in found["variants"]] == [1, 1]
    assert found["difference"]["requests"]["factor"] == 1.0


@pytest.mark.parametrize(("kubelet", "most"), [("1.28", 1_000_000), ("1.29", 20)])
def test_where_kubelets_read_from(server: ServerConnection, in_loop: InLoop, kubelet: str, most: int) -> None:
    """Up to 1.28 from etcd alone; from 1.29 on from the cache, but for the first read of each object."""
    settings = ("nodes=2", "pods=5", "references=2", "speed=60", f"kubelet={kubelet}")
    wanted = ("GET", "etcd" if kubelet == "1.28" else "cache")
    found = in_loop(until(server, lambda gets: gets[wanted] >= 40, "kubelet-configmaps", *settings))
    assert {verb for verb, _ in found} == {"GET"}
    assert 10 <= found["GET", "etcd"] <= most
    assert (found["GET", "cache"] > 0) == (kubelet == "1.29")


@pytest.mark.parametrize(
    ("fix", "verbs"),
    [
        ("kubelet=1.29", {("GET", "cache")}),
        ("strategy=Watch", set()),
        ("strategy=Get", {("GET", "etcd")}),
    ],
)
def test_a_fix_while_kubelets_run(
    server: ServerConnection, in_loop: InLoop, fix: str, verbs: set[tuple[str, str]]
) -> None:
    """Once every pod has been synchronised under it, its requests are the only ones."""
    steady = f"{fix}, steady"

    def phase(run: Run, name: str) -> Counter[tuple[str, str]]:
        figures = run.account.phases.get(("", name))
        return Counter() if figures is None else figures.verb_routes

    def held(run: Run) -> bool:
        context = run.variants[0].context
        assert context is not None
        return context.phase == steady and (not verbs or phase(run, steady).total() >= 20)

    async def mend(run: Run) -> None:
        while phase(run, "steady")["GET", "etcd"] < 10:
            await asyncio.sleep(0.01)  # as in go_until
        await run.set(*fix.split("="))

    async def mended() -> Run:
        client = ApiClient(server)
        run = run_with(client, "kubelet-configmaps", "nodes=1", "pods=5", "references=2", "speed=100")
        try:
            await go_until(run, held, mend)
        finally:
            await client.close()
        return run

    run = in_loop(mended())
    assert set(phase(run, "steady")) == {("GET", "etcd")}, "kubelets 1.28"
    assert set(phase(run, steady)) == verbs


def test_kubelets_that_watch_send_no_gets(server: ServerConnection, in_loop: InLoop) -> None:
    settings = ("nodes=1", "pods=4", "references=2", "speed=200", "strategy=Watch")
    found = in_loop(until(server, lambda sent: sent["LIST", "cache"] >= 8, "kubelet-configmaps", *settings))
    verbs = Counter({verb: 0 for verb, _ in found})
    for (verb, _), count in found.items():
        verbs[verb] += count
    assert verbs["LIST"] == 8 and verbs["GET"] == 0


def test_a_knob_that_changes_begins_a_phase(server: ServerConnection, in_loop: InLoop) -> None:
    async def changed() -> Run:
        client = ApiClient(server)
        run = run_with(client, "agent-boot", "agents=1", "again=30")

        async def change() -> None:
            while not run.account.phases:
                await asyncio.sleep(0.01)  # phases change without a signal
            await run.set("rv", "unset")
            while ("", "rv=unset") not in run.account.phases:
                await asyncio.sleep(0.01)  # as above
            await run.set("again", "0")

        try:
            await run.go(30.0, change)
        finally:
            await client.close()
        return run

    run = in_loop(changed())
    assert run.ended == "complete"
    assert {"boot", "rv=unset"} <= {phase for _, phase in run.account.phases}


async def until(
    server: ServerConnection, holds: Callable[[Counter[tuple[str, str]]], bool], name: str, *settings: str
) -> Counter[tuple[str, str]]:
    """Requests by verb and route of a run that is stopped as soon as they are as wanted."""
    return sent_by(await stopped(server, lambda run: holds(sent_by(run)), name, *settings))


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        (name, f"form={form}")
        for name in ("polling-controller", "kubectl-users", "helm", "paged-export")
        for knob in find_workload(name).knobs
        if knob.name == "form"
        for form in knob.choices
    ],
)
def test_every_form_of_a_client_that_repeats(
    server: ServerConnection, in_loop: InLoop, name: str, setting: str
) -> None:
    settings = ("clients=2", "every=0.05", setting)
    found = in_loop(until(server, lambda sent: sent.total() >= 2, name, *settings))
    assert {verb for verb, _ in found} <= {"LIST", "WATCH"}
    assert {route for _, route in found} <= {"cache", "cache_snapshot", "etcd"}


def test_a_replica_that_is_behind_shows_the_past(server: ServerConnection, in_loop: InLoop) -> None:
    def past(run: Run) -> bool:
        """On a busy machine the replica may have caught up before the first LIST."""
        context = run.variants[0].context
        journeys = context.memory.get("journeys", {}) if context is not None else {}
        return any(journey.past for journey in journeys.values())

    async def travelled() -> dict[str, Any]:
        client = ApiClient(server)
        try:
            async with replica_of(KtuiTarget(client)) as replica:
                run = run_with(client, "time-travel", "relist=0", "behind=4", replica=replica)
                await go_until(run, past)
        finally:
            await client.close()
        return summary_of(run)

    found = in_loop(travelled())
    (table,) = found["variants"][0]["tables"]
    (row,) = table["rows"]
    assert (row["LIST"], row["past"], row["refused"]) == ("rv 0", "1", "0")
    assert found["remarks"] == []


def test_a_load_profile_ends_with_percentiles_by_phase(
    server: ServerConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = "{total: 6, conns: 2, requests: [{shares: 1, %s: {version: v1, resource: pods}}]}"
    path = tmp_path / "three.yaml"
    path.write_text(f"specs: [{', '.join(spec % kind for kind in ('staleList', 'quorumList', 'watchList'))}]")
    found = workload(capsys, server, str(path), "--set", "version=1.30")["variants"][0]["phases"]
    assert [phase["phase"] for phase in found] == ["phase 1", "phase 2", "phase 3"]
    assert [phase["requests"] for phase in found[:2]] == [6, 6]
    assert [set(phase["routes"]) for phase in found[:2]] == [{"cache"}, {"etcd"}]
    assert all(0 < phase["ms"]["p50"] <= phase["ms"]["p99"] for phase in found[:2])


def test_a_load_profile_patches(
    server: ServerConnection, in_loop: InLoop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The objects `NAME-0`, `NAME-1`, …: two of three are there."""

    async def create() -> None:
        client = ApiClient(server)
        for number in (0, 1):
            body = {"metadata": {"name": f"patched-{number}"}}
            await client.request("POST", "/api/v1/namespaces/default/configmaps", body)
        await client.close()

    in_loop(create())
    about = "version: v1, resource: configmaps, namespace: default, name: patched, keySpaceSize: 3"
    body = '{"metadata": {"labels": {"test-label": "mutation-test"}}}'
    path = tmp_path / "patches.yaml"
    patch = f"{{{about}, patchType: merge, body: '{body}'}}"
    path.write_text(f"specs: [{{total: 30, conns: 3, requests: [{{patch: {patch}}}]}}]")
    total = workload(capsys, server, str(path))["variants"][0]["total"]
    assert total["verbs"] == {"PATCH": 30} and set(total["statuses"]) == {"200", "404"}
    selected = "/api/v1/namespaces/default/configmaps?labelSelector=test-label%3Dmutation-test"

    async def labelled() -> int:
        client = ApiClient(server)
        try:
            return len((await client.request("GET", selected)).json()["items"])
        finally:
            await client.close()

    assert in_loop(labelled()) == 2


@pytest.mark.parametrize(
    ("policy", "route", "settings"),
    [("fallback", "cache,etcd", ("stall=30", "rate=20")), ("rv=0", "cache", ("stall=0.5",))],
)
def test_consistent_lists_fall_back_while_watches_stall(
    server: ServerConnection, in_loop: InLoop, policy: str, route: str, settings: tuple[str, ...]
) -> None:
    """Under 1.36 they read etcd after 3 s; with resourceVersion=0 none does."""

    def seen(sent: Counter[tuple[str, str]]) -> bool:
        return sent["LIST", route] >= (1 if policy == "fallback" else 8)

    settings = (f"policy={policy}", "calm=0.5", "changes=20", *settings)
    found = in_loop(until(server, seen, "defrag-stall", *settings))
    assert (found["LIST", "cache,etcd"] > 0) == (policy == "fallback")
    assert found["LIST", "etcd"] == 0
