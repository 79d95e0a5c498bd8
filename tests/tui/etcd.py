"""What the tests of the etcd screen share: the screen with a prefix, a key, its history selected."""

from __future__ import annotations

from typing import Any

from ktui.tui.app import KtuiApp
from ktui.tui.etcd.screen import EtcdScreen

from .asking import until, until_shown

FAILING = "no server answers at http://127.0.0.1:1 (connection refused)"


def screen_of(app: KtuiApp) -> EtcdScreen:
    assert isinstance(app.screen, EtcdScreen)
    return app.screen


async def put_cursor(pilot: Any, label: str) -> EtcdScreen:
    """Open the screen, rest on a prefix, and wait for its keys."""
    await pilot.press("4")
    await until(pilot, lambda: isinstance(pilot.app.screen, EtcdScreen))
    screen = screen_of(pilot.app)
    await until(pilot, lambda: screen.prefixes.table.total > 0)
    labels = [row.label for row in screen.prefixes.table.rows]
    screen.prefixes.table.move_to(labels.index(label))
    await until(pilot, lambda: screen.keys.list.prefix.endswith(label) and bool(screen.keys.list.revision))
    await until(pilot, lambda: screen.keys.table.total == len(screen.keys.list.keys))
    return screen


async def show_first_key(pilot: Any, label: str) -> EtcdScreen:
    screen = await put_cursor(pilot, label)
    await until(pilot, lambda: screen.value.detail is not None)
    await pilot.pause()
    return screen


async def open_pods(pilot: Any) -> None:
    screen = await show_first_key(pilot, "pods/")
    await pilot.press("right")
    await until(pilot, lambda: screen.prefixes.table.total == 11 + 12)
    await until_shown(pilot, "team-11/", "kind: Pod", "500 of 3,000")


async def open_past(pilot: Any) -> EtcdScreen:
    screen = await show_first_key(pilot, "pods/")
    await pilot.press("p")
    await until(pilot, lambda: screen.past.table.total == 3)
    await until_shown(pilot, '+   podIP: "10.2.7.31"')
    return screen
