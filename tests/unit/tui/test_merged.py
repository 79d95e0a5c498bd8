"""Several sources as one: the first says which server it is, and when it is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from ktui.client.connection import ClientError
from ktui.contract.events import AnyEvent, Prefix, ServerInfo
from ktui.contract.events.live import LiveStatus
from ktui.core.live.live_state import LiveState, fold_all
from ktui.tui import source as merged
from ktui.tui.source import Link, MergedSource, Report, SideSource, Stage, TelemetrySource

pytestmark = pytest.mark.anyio


def info(kind: str) -> ServerInfo:
    return ServerInfo(
        ktui_version="1", kube_version="1.36", etcd_version="", etcd_kind=kind, endpoints=[], writable=False,
        progress="assumed",
    )  # fmt: skip


class Main(TelemetrySource):
    """Ends with an error once `over` events have come from the sides."""

    restartable = True

    def __init__(self) -> None:
        self.closed = False

    async def connect(self, report: Report) -> None:
        return None

    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        yield [info("external")]
        yield [Prefix(prefix="/registry/pods/")]
        raise ClientError("the server has gone")

    async def why_stopped(self) -> str:
        return "stopped"

    def link(self) -> Link:
        return Link(Stage.LIVE)

    async def close(self) -> None:
        self.closed = True


class Endless(Main):
    async def batches(self) -> AsyncIterator[list[AnyEvent]]:
        yield [info("external")]
        await asyncio.Event().wait()


async def test_sides_add_to_it_and_do_not_say_which_server_it_is() -> None:
    async def side() -> AsyncIterator[list[AnyEvent]]:
        yield [info("kube-apiserver"), Prefix(prefix="/side/")]

    async def broken() -> AsyncIterator[list[AnyEvent]]:
        raise ClientError("no server answers")
        yield []

    main = Main()
    found: list[AnyEvent] = []
    source = MergedSource(main, [SideSource("one", side), SideSource("metrics", broken)])
    with pytest.raises(ClientError, match="the server has gone"):
        async for batch in source.batches():
            found += batch
    kinds = [event.etcd_kind for event in found if isinstance(event, ServerInfo)]
    assert kinds == ["external"]
    assert {event.prefix for event in found if isinstance(event, Prefix)} >= {"/registry/pods/"}
    problems = {(event.source, event.problem) for event in found if isinstance(event, LiveStatus)}
    assert problems <= {("metrics", "no server answers")}
    assert await source.why_stopped() == "stopped"
    await source.close()
    assert main.closed


async def test_a_side_that_works_again_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(merged, "RETRY_SECONDS", 0.0)
    log = tmp_path / "audit.log"

    async def side() -> AsyncIterator[list[AnyEvent]]:
        log.read_bytes()
        yield [Prefix(prefix="/side/")]

    live = LiveState()
    problems: list[str] = []
    source = MergedSource(Endless(), [SideSource("audit log", side)])
    async with aclosing(source.batches()) as batches:
        async for batch in batches:
            fold_all(live, batch)
            problems.append(live.problem)
            if live.problem:
                log.write_bytes(b"")
            elif any(isinstance(event, Prefix) and event.prefix == "/side/" for event in batch):
                break
    assert f"audit log: {log} cannot be read: No such file or directory" in problems
    assert problems[-1] == ""
