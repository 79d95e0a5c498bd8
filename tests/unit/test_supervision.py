"""A task that fails is logged, reported, and started again after a growing pause."""

from __future__ import annotations

import asyncio
import logging

import pytest

from ktui import supervision
from ktui.client.connection import ClientError
from ktui.supervision import PAUSES, Supervisor, describe

pytestmark = pytest.mark.anyio


class Pauses:
    """Ends each pause at once, and keeps its length."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


async def test_a_task_starts_again_after_each_failure(caplog: pytest.LogCaptureFixture) -> None:
    pauses, reports, done = Pauses(), [], asyncio.Event()
    supervisor = Supervisor(lambda: reports.append([str(one) for one in supervisor.failures]), pauses)
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs <= 7:
            raise ValueError(f"answer {runs} is broken\nand more")
        done.set()

    with caplog.at_level(logging.INFO):
        task = supervisor.start("the census", work)
        await done.wait()
        await task
    assert pauses.seconds == [*PAUSES, PAUSES[-1], PAUSES[-1]]
    assert reports[0] == ["the census failed, trying again every 1 s: ValueError: answer 1 is broken"]
    assert reports[1] == [
        "the census failed 2 times in a row, trying again every 2 s: ValueError: answer 2 is broken"
    ]
    assert reports[-1] == [], "it has ended well"
    assert "Traceback" in caplog.text and caplog.records[-1].message == "the census works again"


async def test_a_task_that_runs_on_has_recovered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "STEADY_SECONDS", 0.0)
    pauses, recovered = Pauses(), asyncio.Event()

    def changed() -> None:
        if not supervisor.failures:
            recovered.set()

    supervisor = Supervisor(changed, pauses)
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise RuntimeError
        await asyncio.Event().wait()

    supervisor.start("a reader", work)
    await recovered.wait()
    assert runs == 2
    await supervisor.stop()


async def test_one_failure_leaves_the_others_alone() -> None:
    supervisor, steady = Supervisor(pause=Pauses()), asyncio.Event()

    async def fails() -> None:
        raise RuntimeError

    async def lives() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        steady.set()
        await asyncio.Event().wait()

    first, second = supervisor.start("one", fails), supervisor.start("other", lives)
    await steady.wait()
    assert not first.done() and not second.done()
    await supervisor.stop()
    assert first.cancelled() and second.cancelled()


async def test_errors_of_ktui_are_sentences_of_their_own() -> None:
    assert describe(ClientError("no server answers")) == "no server answers"
    assert describe(KeyError()) == "KeyError"
    assert len(describe(ValueError("x" * 9999))) < 250
