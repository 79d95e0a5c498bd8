"""The workload informers at a real server: what follows from each way of losing one's place."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from ktui.cli.workload import load_target
from ktui.client.api import ApiClient
from ktui.client.connection import ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.contract.events import AnyEvent, WatcherClosed
from ktui.contract.faults import Fault
from ktui.workloads.behaviours.client_reflector import LossCounts, ReflectorBackoff
from ktui.workloads.running.runner import Run
from tests.etcd.cli.conftest import Run as InLoop
from tests.etcd.cli.workload_runs import go_until, run_with, sent_by, stopped

pytestmark = pytest.mark.usefixtures("short_pauses")
Holds = Callable[[Run], bool]
INFORMERS = 3
LEASES = "/apis/coordination.k8s.io/v1/leases"


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long reflectors wait is tested without a server."""
    monkeypatch.setattr(ReflectorBackoff, "pause", lambda _: 0.05)


def losses(run: Run) -> LossCounts:
    """What followed from the losses of a run of informers."""
    context = run.variants[0].context
    assert context is not None
    counts = list(context.memory.get("losses", {}).values())
    return counts[0] if counts else LossCounts()


async def left_over(server: ServerConnection) -> list[str]:
    """Objects that runs have created and not deleted."""
    client = ApiClient(server)
    listed = (await client.request("GET", "/api/v1/namespaces/default/configmaps")).json()
    await client.close()
    names = [item["metadata"]["name"] for item in listed["items"]]
    return [name for name in names if name.startswith("ktui-workload")]


async def lost_once(server: ServerConnection, loss: str, holds: Holds, *settings: str) -> Run:
    """A run of informers that lose their place as soon as all of them watch."""
    client = ApiClient(server)
    run = run_with(client, "informers", f"informers={INFORMERS}", "loss=none", "every=600", *settings)
    try:
        await go_until(run, holds, partial(lose, loss=loss, informers=INFORMERS))
    finally:
        await client.close()
    return run


async def lose(run: Run, loss: str, informers: int) -> None:
    while sent_by(run)["LIST", "cache"] < informers or run.account.missing != informers:
        await asyncio.sleep(0.01)  # as in go_until
    await run.set("loss", loss)


def test_informers_resume_after_a_cut(server: ServerConnection, in_loop: InLoop) -> None:
    """Each lists once, however often its watch breaks."""
    run = in_loop(lost_once(server, "cut", lambda run: losses(run).resumed >= 3, "changes=20"))
    assert sent_by(run)["LIST", "cache"] == 3
    assert (losses(run).too_old, losses(run).lists, losses(run).replayed) == (0, 0, 0)
    assert in_loop(left_over(server)) == []


def test_an_old_version_replays_what_the_event_buffer_has(server: ServerConnection, in_loop: InLoop) -> None:
    def over(run: Run) -> bool:
        return losses(run).replayed > 0 or losses(run).lists >= INFORMERS

    run = in_loop(lost_once(server, "old", over, "changes=40"))
    if run.account.caches["configmaps"].oldest_rv <= 1:  # it has not been filled again
        assert losses(run).resumed > 0 and losses(run).too_old == 0
    else:
        assert (losses(run).too_old, losses(run).replayed) == (INFORMERS, 0)


def test_the_old_version_of_a_deleted_object_replays_history(
    server: ServerConnection, in_loop: InLoop
) -> None:
    settings = ("informers=2", "every=1", "changes=40", "deleted_rv=old")
    run = in_loop(stopped(server, lambda run: losses(run).replayed > 0, "informers", *settings))
    assert losses(run).resumed > 0 and losses(run).too_old == 0


def test_a_compaction_while_cut_off_makes_everyone_list(server: ServerConnection, in_loop: InLoop) -> None:
    settings = ("changes=20", "resource=leases")
    run = in_loop(lost_once(server, "compaction", lambda run: losses(run).lists >= INFORMERS, *settings))
    assert losses(run).too_old == INFORMERS, "their version is from before the cache was filled again"
    assert run.problems == []


def test_informers_that_do_not_read_are_cut_off_and_resume(server: ServerConnection, in_loop: InLoop) -> None:
    """Telemetry says so before they read again."""
    cut_off: list[int] = []

    def note(event: AnyEvent) -> None:
        if isinstance(event, WatcherClosed) and event.cause == "too slow":
            cut_off.append(event.id)

    async def slow(run: Run) -> None:
        run.account.observers.append(note)
        await lose(run, "slow", INFORMERS)
        while len(cut_off) < INFORMERS:
            await asyncio.sleep(0.01)  # as in go_until
        assert losses(run).resumed == 0
        await run.set("loss", "none")

    async def lost() -> Run:
        client = ApiClient(server)
        settings = (f"informers={INFORMERS}", "loss=none", "every=600", "changes=100", "size=200000")
        run = run_with(client, "informers", *settings)
        try:
            await go_until(run, lambda run: losses(run).resumed >= INFORMERS, slow)
        finally:
            await client.close()
        return run

    run = in_loop(lost())
    assert (len(cut_off), losses(run).too_old, losses(run).lists) == (INFORMERS, 0, 0)


async def refill(server: ServerConnection) -> None:
    """Fill the caches again: their event buffers are empty then, and begin late."""
    client = ApiClient(server)
    api = KtuiApi(client)
    await api.inject(Fault("cut", 60.0))
    await api.inject(Fault("compact"))
    await api.end_faults()
    while (await client.send_timed(f"{LEASES}?limit=1")).route != "cache":
        await asyncio.sleep(0.02)  # caches are filled without a signal
    await client.close()


def test_a_version_from_before_the_event_buffer_makes_everyone_list(
    server: ServerConnection, in_loop: InLoop
) -> None:
    in_loop(refill(server))
    settings = ("changes=0", "resource=leases")
    run = in_loop(lost_once(server, "overrun", lambda run: losses(run).lists >= INFORMERS, *settings))
    assert (losses(run).too_old, losses(run).resumed, losses(run).failed) == (INFORMERS, 0, 0)
    assert losses(run).listed_bytes > 0
    assert "buffer_reaches_all" not in run.variants[0].context.found


def test_a_killed_server_makes_quiet_informers_list(home: str, in_loop: InLoop) -> None:
    own = argparse.Namespace(
        attach="", kubeconfig="", context="", kube_version="", record="", pods=20, nodes=2
    )

    async def killed() -> Run:
        async with load_target(own, killed=True) as found:
            client = found.target.client
            settings = ("informers=3", "loss=none", "every=600", "resource=leases", "changes=0")
            run = run_with(client, "informers", *settings, revive=found.revive)
            await go_until(
                run, lambda run: losses(run).lists >= INFORMERS, partial(lose, loss="restart", informers=3)
            )
            return run

    run = in_loop(killed())
    assert (losses(run).too_old, losses(run).resumed) == (INFORMERS, 0)
    assert losses(run).failed > 0, "the server was gone"
