"""From the first screen to a proven saving, two keys for each of the demo's first three reads."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ktui.cli.child import AttachLauncher
from ktui.client.connection import ServerConnection
from ktui.core.lab.result import LabResult
from ktui.core.lab.trial import Verdict
from ktui.tui.app import KtuiApp
from ktui.tui.lab.screen import LabScreen
from ktui.tui.overview.screen import OverviewScreen
from ktui.tui.source import LiveSource
from ktui.workloads.demo.light_traffic import Poll, demo_client, follow_together, polls_of
from ktui.workloads.demo.plan import make_plan
from ktui.workloads.running.fleet import Fleet
from tests.etcd.cli.conftest import SIZE

HANGS = 60.0
ROUNDS = 5  # of each poll: more than three are polling
FIRST = ("legacy-agent", "cost-exporter", "batch-operator")


async def until(pilot: Any, holds: Any) -> None:
    async with asyncio.timeout(HANGS):
        while not holds():
            await pilot.pause(0.05)


async def ask_like_the_demo(connection: ServerConnection) -> None:
    """Each of the demo's clients that come first in its ranking, a few times."""
    polls = {poll.user_agent.partition("/")[0]: poll for poll in polls_of(make_plan(SIZE))}
    for name in FIRST:
        await _repeat(connection, polls[name])


async def _repeat(connection: ServerConnection, poll: Poll) -> None:
    fleet = Fleet(connection)
    try:
        for _ in range(ROUNDS):
            await follow_together(demo_client(fleet, poll.user_agent), poll)
    finally:
        await fleet.close()


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("number", "client", "variant"),
    [
        (1, "legacy-agent", "fieldSelector="),
        (2, "cost-exporter", "watch=1"),
        (3, "batch-operator", "watch=1"),
    ],
)
async def test_two_keys_prove_a_saving(
    server: ServerConnection, number: int, client: str, variant: str
) -> None:
    app = KtuiApp(LiveSource(AttachLauncher(server)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, OverviewScreen) and app.state.server is not None)
        await ask_like_the_demo(server)
        await until(pilot, lambda: _ranked(app)[:3] == list(FIRST))
        await pilot.press("a", str(number))
        await until(pilot, lambda: isinstance(app.screen, LabScreen) and len(_results(app)) == 2)
        await until(pilot, lambda: not any(each.pending for each in _results(app)))
        original, cheaper = _results(app)
        assert app.state.ranking.ranked()[number - 1].key.client == client
        assert original.ok and cheaper.ok and variant in cheaper.path
        assert cheaper.trial is not None and cheaper.trial.verdict is Verdict.SAVES, cheaper.trial
        await app.action_quit()


def _ranked(app: KtuiApp) -> list[str]:
    return [group.key.client for group in app.state.ranking.ranked() if group.key.client in FIRST]


def _results(app: KtuiApp) -> list[LabResult]:
    assert isinstance(app.screen, LabScreen)
    return [each for each in app.screen.lab.runner.results if not each.previous]
