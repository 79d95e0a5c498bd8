"""Switching the version that the running server follows."""

from __future__ import annotations

import json

import msgspec.structs
import pytest

from ktui.contract.events import ServerInfo
from ktui.tui.dialogs.rules import RulesScreen
from ktui.tui.source import Link, Stage

from .asking import SIZES, Snap, asking_app, until
from .fake_server import FakeServer
from .still import NORMAL, demo_events, shown, still_app

pytestmark = pytest.mark.anyio

TO_1_30 = ("V", *["up"] * 6)
ON_1_30 = (*TO_1_30, "tab", "down", "space")


def asked(server: FakeServer) -> list[dict[str, object]]:
    """The bodies of the switches that the server was asked for."""
    start = "PUT /ktui/v1/behaviour "
    return [json.loads(one.removeprefix(start)) for one in server.asked if one.startswith(start)]


@SIZES
def test_choosing(snap_compare: Snap, size: tuple[int, int]) -> None:
    assert snap_compare(asking_app(), says="kube 1.30 with ", press=ON_1_30, terminal_size=size)


async def test_a_version_is_chosen_and_the_header_follows_the_server() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press(*TO_1_30)
        await pilot.pause()
        assert "kube 1.30, its default gates" in shown(app)
        assert "C watch cache" in shown(app)
        await pilot.press("enter")
        await until(pilot, lambda: bool(asked(server)))
        assert asked(server) == [{"kube_version": "1.30", "feature_gates": {}}]
        assert "kube 1.36" in shown(app), "until the server says so"
        assert app.state.server is not None
        app.feed([msgspec.structs.replace(app.state.server, kube_version="1.30")])
        app.tick()
        await pilot.pause()
        assert "kube 1.30" in shown(app)


async def test_gates_are_turned_unless_they_are_locked() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press(*TO_1_30, "tab", "space", "down", "space", "enter")
        await until(pilot, lambda: bool(asked(server)))
    assert asked(server) == [{"kube_version": "1.30", "feature_gates": {"ConsistentListFromCache": True}}]


async def test_escape_leaves_it_as_it_is() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press(*TO_1_30, "escape")
        await pilot.pause()
        assert not isinstance(app.screen, RulesScreen) and not asked(server)


async def test_the_command_line_switches_too() -> None:
    server = FakeServer()
    app = asking_app(server)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.press("colon", *"kube 1.33 WatchList=true", "enter")
        await until(pilot, lambda: bool(asked(server)))
        assert asked(server) == [{"kube_version": "1.33", "feature_gates": {"WatchList": True}}]
        await pilot.press("colon", *"kube 1.99", "enter")
        await pilot.pause()
        assert "unknown Kubernetes version" in shown(app)
        await pilot.press("escape", "colon", *"kube", "enter")
        await until(pilot, lambda: isinstance(app.screen, RulesScreen))


async def test_what_the_server_refuses_is_said() -> None:
    server = FakeServer()
    server.failing = "403: not allowed"
    app = asking_app(server)
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await pilot.press("colon", *"kube 1.30", "enter")
        await until(pilot, lambda: any("403: not allowed" in note.message for note in app._notifications))


async def test_a_recording_cannot_be_switched() -> None:
    app = still_app(demo_events(), Link(Stage.REPLAY, "demo.ndjson"))
    async with app.run_test(size=NORMAL, notifications=True) as pilot:
        await pilot.press("V")
        await until(
            pilot,
            lambda: any("the version of a recording is fixed" in note.message for note in app._notifications),
        )
        assert not isinstance(app.screen, RulesScreen)


async def test_the_server_s_gates_are_told_in_the_header() -> None:
    events = demo_events()
    info = next(event for event in events if isinstance(event, ServerInfo))
    gates = {"WatchList": False, "ListFromCacheSnapshot": False}
    app = still_app([*events, msgspec.structs.replace(info, feature_gates=gates)])
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        assert "kube 1.36 ±2 gates" in shown(app)
