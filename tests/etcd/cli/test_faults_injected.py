"""Faults of the etcd that a server has started: each disturbs, and is over when it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from ktui.cli.main import main
from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.contract.faults import Fault
from tests.etcd.cli.conftest import Run as InLoop
from tests.etcd.serving import plain_client

OBJECT = "/api/v1/namespaces/default/configmaps"
GET = "/api/v1/namespaces/kube-system"  # no resourceVersion: read from etcd


@contextlib.asynccontextmanager
async def disturbed(server: ServerConnection, kind: str, seconds: float = 60.0) -> AsyncIterator[ApiClient]:
    """A client of the server while the fault lasts; afterwards etcd is read again."""
    client = ApiClient(server)
    api = KtuiApi(client)
    try:
        begun = await api.inject(Fault(kind, seconds))
        assert [fault.kind for fault in begun.active] == [kind]
        yield client
    finally:
        assert (await api.end_faults()).active == []
        while (await client.request("GET", GET)).status_code != 200:
            await asyncio.sleep(0.02)  # etcd comes back without a signal
        await client.close()


async def started_at(client: ApiClient) -> float:
    """When the etcd process began."""
    endpoint = (await KtuiApi(client).info()).endpoints[0]
    async with plain_client("") as http:
        while True:
            with contextlib.suppress(httpx.TransportError):
                text = (await http.get(f"{endpoint}/metrics")).text
                return float(text.partition("\nprocess_start_time_seconds ")[2].split()[0])
            await asyncio.sleep(0.02)  # as above


async def created(client: ApiClient, name: str) -> Any:
    answer = await client.request("POST", OBJECT, {"metadata": {"name": name}})
    return answer.status_code, answer.json().get("message", "")


def test_paused_etcd_answers_when_it_continues(server: ServerConnection, in_loop: InLoop) -> None:
    async def paused() -> None:
        async with disturbed(server, "pause") as client:
            with pytest.raises(ClientError, match="409: the fault pause still lasts"):
                await KtuiApi(client).inject(Fault("pause"))
            reading = asyncio.create_task(client.request("GET", GET))
            done, _ = await asyncio.wait({reading}, timeout=0.2)
            assert not done
            cached = await client.request("GET", f"{GET}?resourceVersion=0")
            assert cached.status_code == 200 and not reading.done()
            await KtuiApi(client).end_faults()
            assert (await reading).status_code == 200

    in_loop(paused())


def test_a_slow_connection_takes_its_time_each_way(server: ServerConnection, in_loop: InLoop) -> None:
    async def slow() -> None:
        async with disturbed(server, "slow") as client:
            assert (await client.send_timed(GET)).total_ms >= 200

    in_loop(slow())


def test_cut_connections_refuse(server: ServerConnection, in_loop: InLoop) -> None:
    async def cut() -> None:
        async with disturbed(server, "cut") as client:
            answer = await client.request("GET", GET)
            assert answer.status_code == 500 and "could not be completed" in answer.json()["message"]

    in_loop(cut())


def test_a_full_quota_refuses_writes(server: ServerConnection, in_loop: InLoop) -> None:
    async def full() -> None:
        async with disturbed(server, "quota") as client:
            status, message = await created(client, "full")
            assert status == 500 and "space" in message
            assert (await client.request("GET", GET)).status_code == 200
        client = ApiClient(server)
        assert (await created(client, "full"))[0] == 201
        await client.request("DELETE", f"{OBJECT}/full")
        await client.close()

    in_loop(full())


def test_etcd_starts_again_on_its_data(server: ServerConnection, in_loop: InLoop) -> None:
    async def restarted() -> None:
        client = ApiClient(server)
        before = await started_at(client)
        assert (await created(client, "kept"))[0] == 201
        async with disturbed(server, "restart", 0.01):
            pass
        assert await started_at(client) != before
        assert (await client.request("GET", f"{OBJECT}/kept")).status_code == 200
        await client.request("DELETE", f"{OBJECT}/kept")
        await client.close()

    in_loop(restarted())


def test_compaction_ends_history(server: ServerConnection, in_loop: InLoop) -> None:
    async def compacted() -> None:
        client = ApiClient(server)
        assert (await created(client, "old"))[0] == 201
        assert (await client.request("DELETE", f"{OBJECT}/old")).status_code == 200
        listed = (await client.request("GET", f"{OBJECT}?limit=1")).json()["metadata"]["resourceVersion"]
        assert (await KtuiApi(client).inject(Fault("compact"))).active == []
        exact = f"{OBJECT}?resourceVersion={int(listed) - 1}&resourceVersionMatch=Exact"
        while (answer := await client.request("GET", exact)).status_code == 200:
            await asyncio.sleep(0.02)  # caches follow the compaction a moment later
        assert answer.status_code == 410
        await client.close()

    in_loop(compacted())


@pytest.mark.parametrize("body", [{"kind": "freeze"}, {"kind": "pause", "seconds": 1e9}, {"seconds": 3}, [7]])
def test_what_is_no_fault(server: ServerConnection, in_loop: InLoop, body: Any) -> None:
    async def refused() -> None:
        client = ApiClient(server)
        answer = await client.request("POST", "/ktui/v1/faults", body)
        assert answer.status_code == 400
        await client.close()

    in_loop(refused())


def run_until(
    capsys: pytest.CaptureFixture[str], phase: str, seconds: Sequence[float], *words: str
) -> dict[str, Any]:
    """A run that is long enough for requests in the phase: a busy machine takes longer to come to it."""
    for length in seconds:
        assert main(["workload", "run", "polling-controller", *words, f"--for={length}s", "--json"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        if phases_of(found).get(phase, {}).get("requests"):
            return found
    raise AssertionError(f"no requests in {phase}: {found}")


def phases_of(found: dict[str, Any]) -> dict[str, Any]:
    return {phase["phase"]: phase for phase in found["variants"][0]["phases"]}


def test_a_run_marks_its_faults_as_phases(
    server: ServerConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--attach", server.url, "--yes", "--set", "every=0.05", "--fault", "stall@0.3s:0.3s")
    found = run_until(capsys, "after stall", (1.2, 6, 30), *words)
    assert list(phases_of(found)) == ["poll", "stall", "after stall"]
    assert found["faults"] == [{"at": 0.3, "fault": "stall", "seconds": 0.3}]


def test_a_server_of_others_is_not_killed(
    server: ServerConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--attach", server.url, "--yes", "--fault", "kill@0s"]
    assert main(["workload", "run", "polling-controller", *words]) == 2
    assert "for a server of the run's own" in capsys.readouterr().err


def test_a_server_of_the_runs_own_is_killed_and_comes_back(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--pods=20", "--nodes=2", "--set=every=0.1", "--fault=kill@0.5s:0.1s")
    phases = phases_of(run_until(capsys, "after kill", (8, 30, 60), *words))
    assert phases["kill"]["failed"] > 0, "the server was gone"
    assert phases["after kill"]["requests"] > 0, "and came back with its objects"
