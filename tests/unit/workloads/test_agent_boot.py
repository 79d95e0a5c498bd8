"""agent-boot: how long agents wait before they start, start again, or send a rejected LIST again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ktui.client.api import ApiClient
from ktui.contract.events import RequestFinished
from ktui.workloads.catalog import agent_boot
from ktui.workloads.catalog.agent_boot import WORKLOAD, boot_fleet, per_request, restart_delay, start_delay
from ktui.workloads.running import fleet
from ktui.workloads.running.account import Account
from ktui.workloads.running.figures import LoadFigures
from ktui.workloads.running.fleet import Fleet
from ktui.workloads.running.knobs import Knobs, assign
from ktui.workloads.running.workload import Cluster, LoadContext
from tests.unit.client.rude import Answer, rude_server, whole

pytestmark = pytest.mark.anyio
OK, BROKEN = whole(b"{}"), whole(b"{}", status="500 Internal Server Error")
REJECTED = whole(b"", "Retry-After: 3", status="429 Too Many Requests")


class Waited:
    """What is waited for: no time passes. `restarts` are agents', `retries` single requests'."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.restarts = self._of(agent_boot, monkeypatch)
        self.retries = self._of(fleet, monkeypatch)

    def _of(self, module: Any, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        waited: list[float] = []
        sleep = asyncio.sleep

        async def at_once(seconds: float) -> None:
            waited.append(round(seconds, 3))
            await sleep(0)

        monkeypatch.setattr(module, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": at_once}))
        return waited


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> Waited:
    return Waited(monkeypatch)


async def booted(answers: Iterator[bytes], *settings: str) -> dict[str, Any]:
    """Boot a fleet that is given these answers, then good ones; what it found."""

    def answer(path: str, head: str) -> Answer:
        return next(answers, OK)

    async with rude_server(answer) as connection:
        knobs = Knobs(WORKLOAD.knobs)
        assign(knobs, settings)
        connections, cluster = Fleet(connection), Cluster(ApiClient(connection), ("node-1",), ("default",))
        context = LoadContext("agent-boot", "r", "", knobs, cluster, connections, Account("r"))
        await boot_fleet(context)
        await connections.close()
        await cluster.client.close()
    return context.found


@pytest.mark.parametrize(
    ("policy", "delays"),
    [
        ("fixed", [5.0] * 7),
        ("exponential", [10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0]),
        ("tenth", [6.0, 12.0, 18.0, 24.0, 30.0, 36.0, 42.0]),  # 10 of 100 a minute: one in 6 s
    ],
)
async def test_the_seventh_restart_of_an_agent(policy: str, delays: list[float]) -> None:
    knobs = Knobs(WORKLOAD.knobs)
    assign(knobs, ["agents=100", f"policy={policy}"])
    context: Any = SimpleNamespace(knobs=knobs)
    assert [round(restart_delay(context, attempt), 6) for attempt in range(1, 8)] == delays


@pytest.mark.parametrize(
    ("policy", "share", "last"), [("fixed", 10, 0.0), ("tenth", 10, 594.0), ("tenth", 50, 118.8)]
)
async def test_when_the_last_of_a_hundred_starts(policy: str, share: int, last: float) -> None:
    knobs = Knobs(WORKLOAD.knobs)
    assign(knobs, ["agents=100", f"policy={policy}", f"starts={share}"])
    context: Any = SimpleNamespace(knobs=knobs)
    starts = [start_delay(context, number) for number in range(100)]
    assert starts[0] == 0.0 and round(starts[-1], 6) == last
    assert sum(60 <= start < 120 for start in starts) == (share if policy == "tenth" else 0)


@pytest.mark.parametrize(("policy", "delays"), [("fixed", [5.0, 5.0]), ("exponential", [10.0, 20.0])])
async def test_an_agent_whose_lists_fail_boots_from_the_beginning(
    waited: Waited, policy: str, delays: list[float]
) -> None:
    answers = iter([OK, BROKEN, OK, OK, BROKEN])
    found = await booted(answers, "agents=1", f"policy={policy}")
    assert (found["booted"], found["failed_boots"]) == (1, 2)
    assert waited.restarts == [0.0, *delays] and waited.retries == []


async def test_a_rejected_list_is_sent_again_after_retry_after(waited: Waited) -> None:
    found = await booted(iter([OK, REJECTED, REJECTED, OK]), "agents=1", "policy=exponential")
    assert found["booted"] == 1 and "failed_boots" not in found
    assert waited.retries == [3, 3] and waited.restarts == [0.0]


async def test_ten_times_at_most(waited: Waited) -> None:
    found = await booted(iter([REJECTED] * 11), "agents=1", "policy=fixed")
    assert (found["booted"], found["failed_boots"]) == (1, 1)
    assert waited.retries == [3] * 10 and waited.restarts == [0.0, 5.0]


def test_what_one_agent_reads_is_the_mean_of_answers_without_an_error() -> None:
    figures = LoadFigures()
    for _ in range(2):
        figures.add(
            "LIST",
            RequestFinished(id=1, status=200, route="etcd", ms=1.0, etcd_bytes=4_000, encoded_bytes=50),
        )
    for status in (429, 504):  # the one before the LIST is read, the other in the middle
        figures.add(
            "LIST",
            RequestFinished(id=2, status=status, route="etcd", ms=1.0, etcd_bytes=9, encoded_bytes=200),
        )
    assert per_request(figures) == (4_000, 50)
    merged = LoadFigures()
    merged.merge(figures)
    assert per_request(merged) == (4_000, 50) and merged.spent.etcd_bytes == 8_018


async def test_a_list_that_the_agent_gives_up_counts_as_failed() -> None:
    async with rude_server(lambda path, head: OK) as connection:
        knobs = Knobs(WORKLOAD.knobs)
        knobs._values["timeout"] = 0.0  # over before any answer
        connections, cluster = Fleet(connection), Cluster(ApiClient(connection), ("node-1",), ("default",))
        account = Account("r")
        context = LoadContext("agent-boot", "r", "", knobs, cluster, connections, account)
        client = context.client("agent")
        assert not await agent_boot.boots(context, client, "node-1", agent_boot.planned_requests(context))
        await connections.close()
        await cluster.client.close()
    client.gave_up()  # counts a request once
    assert [figures.failed for figures in account.phases.values()] == [1]
    assert account.waiting() == (0, 0.0)


def lists_of(context: LoadContext, read: int, returned: int) -> Account:
    """The account of a run in which each LIST read and returned these bytes."""
    account = Account("r")
    for request in agent_boot.planned_requests(context):
        figures = account.labels[context.variant, request.label] = LoadFigures()
        answer = RequestFinished(
            id=1, status=200, route="etcd", ms=1.0, etcd_bytes=read, encoded_bytes=returned
        )
        figures.add("LIST", answer)
    return account


@pytest.mark.parametrize(
    ("read", "found", "says"),
    [
        (
            100,
            {"seconds_until_all_booted": 1.0, "agents": 5, "booted": 5},
            ["--kube-version 1.24 --set rv=unset"],
        ),
        (90_000, {"seconds_until_all_booted": 1.0, "agents": 5, "booted": 5}, []),
        (90_000, {"agents": 5, "booted": 3}, ["when 3 of 5 agents had booted"]),
    ],
)
def test_caveats(read: int, found: dict[str, Any], says: list[str]) -> None:
    cluster: Any = SimpleNamespace(nodes=("node-1",))
    connections: Any = None
    context = LoadContext("agent-boot", "r", "", Knobs(WORKLOAD.knobs), cluster, connections, Account("r"))
    context.found = found
    caveats = WORKLOAD.caveats(context, lists_of(context, read, 100))
    assert len(caveats) == len(says)
    assert all(text in caveat for text, caveat in zip(says, caveats, strict=True))
