"""From a source to the state: what stays when it breaks off, and who comes back by himself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, EtcdProgress
from ktui.tui import intake as intake_module
from ktui.tui.intake import SILENCE_SECONDS, Intake
from ktui.tui.source import Link, Report, Stage, TelemetrySource

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Server(TelemetrySource):
    """A foreign server: `answers` says for each attempt whether it is there; it reports one revision."""

    restartable = True
    reconnects = False

    def __init__(self, answers: list[bool], *, reconnects: bool) -> None:
        self.answers, self.reconnects = answers, reconnects
        self.attempts = 0
        self.served = asyncio.Event()
        self.end = asyncio.Event()

    async def connect(self, report: Report) -> None:
        report("attaching")
        self.attempts += 1

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        if not self.answers.pop(0):
            raise ClientError("no answer")
        yield [EtcdProgress(at=1.0, head=100 * self.attempts)]
        self.served.set()
        await self.end.wait()

    async def why_stopped(self) -> str:
        return ""

    def link(self) -> Link:
        return Link(Stage.LIVE)

    async def close(self) -> None:
        self.end.set()


async def lose(server: Server, intake: Intake) -> asyncio.Task[None]:
    """Follow a server until it has told something, and lose it."""
    following = asyncio.create_task(intake.follow())
    await asyncio.wait_for(server.served.wait(), 60)
    intake.fold()
    server.served.clear()
    ended, server.end = server.end, asyncio.Event()
    ended.set()
    return following


async def test_the_state_stays_until_a_server_answers_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_module, "RETRY_SECONDS", (0.0,))
    server, links = Server([True, False, False, True], reconnects=True), list[Link]()
    intake = Intake(server, lambda: links.append(intake.link))
    following = await lose(server, intake)
    await asyncio.wait_for(server.served.wait(), 60)
    assert intake.state.head.revision == 0, "another server numbers from the start"
    assert server.attempts == 4
    stages = [link.stage for link in links]
    assert stages.count(Stage.LIVE) == 2
    gone = [link for link in links if link.stage is Stage.STOPPED]
    assert all(link.retries for link in gone)
    assert Stage.STARTING not in stages[stages.index(Stage.LIVE) :], "it would blink at each try"
    following.cancel()


async def test_the_old_state_stays_while_no_server_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake_module, "RETRY_SECONDS", (3_600.0,))
    server = Server([True], reconnects=True)
    intake = Intake(server, lambda: None)
    following = await lose(server, intake)
    while intake.link.stage is not Stage.STOPPED:
        await asyncio.sleep(0)
    assert intake.state.head.revision == 100 and intake.link.retries
    following.cancel()


async def test_a_server_of_our_own_is_not_started_again_unasked() -> None:
    server = Server([True], reconnects=False)
    intake = Intake(server, lambda: None)
    following = await lose(server, intake)
    await asyncio.wait_for(following, 60)
    assert intake.link == Link(Stage.STOPPED, "", True) and server.attempts == 1


async def test_a_server_that_says_nothing_is_told_and_heard_again() -> None:
    now = 0.0
    server = Server([True], reconnects=False)
    intake = Intake(server, lambda: None, clock=lambda: now)
    following = asyncio.create_task(intake.follow())
    await asyncio.wait_for(server.served.wait(), 60)
    for _ in range(int(SILENCE_SECONDS)):
        now += 1.0
        intake.fold()
    assert intake.link.stage is Stage.LIVE
    now += 1.0
    intake.fold()
    assert intake.link.stage is Stage.SILENT and intake.link.restartable
    assert intake.state.head.revision == 100, "what is known stays"
    intake.take([EtcdProgress(at=2.0, head=101)])
    intake.fold()
    assert intake.link.stage is Stage.LIVE and intake.state.head.revision == 101
    following.cancel()


async def test_who_slept_himself_has_not_listened() -> None:
    now = 0.0
    server = Server([True], reconnects=False)
    intake = Intake(server, lambda: None, clock=lambda: now)
    following = asyncio.create_task(intake.follow())
    await asyncio.wait_for(server.served.wait(), 60)
    now += 3_600.0
    intake.fold()
    assert intake.link.stage is Stage.LIVE
    following.cancel()
