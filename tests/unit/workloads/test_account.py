"""A run's account: how long it waits for the server to end what clients have left."""

from __future__ import annotations

import asyncio
import os
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from ktui.cli.workload import _stops_at_ctrl_c
from ktui.contract.events import RequestFinished, RequestStarted
from ktui.workloads.running.account import Account
from ktui.workloads.running.summary import too_slow
from ktui.workloads.running.users import Tag

LISTS = 35
PATIENCE, MOST = 15.0, 120.0


def account_of(lists: int) -> Account:
    """That of a run whose clients have gone while their LISTs are being served."""
    account = Account("r")
    agent = Tag("defrag-stall", "r", "", "stall", "LIST pods").user_agent("list-storm/v1")
    for number in range(lists):
        account.take(
            [
                RequestStarted(
                    id=number, verb="LIST", path="/api/v1/pods", query="", resource="pods", namespace="",
                    name="", client="list-storm", user_agent=agent,
                )
            ]
        )  # fmt: skip
    return account


async def settle(account: Account, every: float, monkeypatch: pytest.MonkeyPatch) -> float:
    """Seconds on the clock of the loop; a request ends after each `every` of them. TimeoutError."""
    loop, now = asyncio.get_running_loop(), 0.0
    monkeypatch.setattr(loop, "time", lambda: now)
    waiting = asyncio.ensure_future(account.settled("", PATIENCE, MOST))
    for number in range(LISTS):
        for _ in range(5):  # turns of the loop: until it waits again
            await asyncio.sleep(0)
        now += every
        for _ in range(5):  # until a limit that has passed has struck
            await asyncio.sleep(0)
        account.take([RequestFinished(id=number, status=200, route="etcd", ms=1.0)])
    await waiting
    return now


def test_it_waits_as_long_as_requests_end(monkeypatch: pytest.MonkeyPatch) -> None:
    account = account_of(LISTS)
    assert asyncio.run(settle(account, 3.0, monkeypatch)) == 105.0 > PATIENCE
    assert account.missing == 0 and account.phases["", "stall"].requests == LISTS


@pytest.mark.parametrize("every", [16.0, 4.0], ids=["none ends", "it takes too long in all"])
def test_it_does_not_wait_for_ever(every: float, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(settle(account_of(LISTS), every, monkeypatch))


@pytest.mark.parametrize(
    ("waited", "late", "unanswered", "says"),
    [
        (1.0, 1, 0, []),
        (30.0, 1, 0, ["3 requests had no answer when the run ended, the first of them for 30 s"]),
        (1.0, 20, 0, ["20 of 100 actions took longer"]),
        (1.0, 1, 2, ["2 requests got no answer: they count as failed"]),
    ],
)
def test_a_server_that_is_too_slow_is_reported(
    waited: float, late: int, unanswered: int, says: list[str]
) -> None:
    account = Account("r")
    for _ in range(unanswered):
        account.unanswered(Tag("helm", "r", "", "poll", "LIST"))
    variant = SimpleNamespace(name="", context=SimpleNamespace(actions=100, late_actions=late))
    run: Any = SimpleNamespace(account=account, waiting=3, waited=waited, seconds=60.0, variants=[variant])
    found = too_slow(run)
    assert len(found) == len(says)
    assert all(text in sentence for text, sentence in zip(says, found, strict=True))


def test_the_first_ctrl_c_ends_the_run_and_is_then_given_back() -> None:
    stopped: list[bool] = []
    run: Any = SimpleNamespace(stop=lambda: stopped.append(True))

    async def press() -> None:
        with _stops_at_ctrl_c(run):
            os.kill(os.getpid(), signal.SIGINT)
            while not stopped:
                await asyncio.sleep(0)
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    asyncio.run(press())
    assert stopped == [True]
