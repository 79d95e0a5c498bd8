"""What a key or a pause sets going has happened when the test goes on, also where the machine stalls."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from .quiet import FRAME, until_quiet

pytestmark = pytest.mark.anyio

STALL = 2 * FRAME  # at each turn: as long as Textual's own wait looks whether the processor is busy


class Relay(App[None]):
    """Takes a key through many turns of the loop, each of which begins with a stall; then a timer ends it."""

    arrived = False

    def compose(self) -> ComposeResult:
        yield Static("x")

    def key_x(self) -> None:
        self.hand_on(8)

    def hand_on(self, left: int) -> None:
        time.sleep(STALL)  # what is tested: a loop that stalls
        if left:
            asyncio.get_running_loop().call_soon(self.hand_on, left - 1)
        else:
            self.set_timer(FRAME / 2, self.arrive)

    def arrive(self) -> None:
        self.arrived = True


async def test_a_key_is_waited_for_through_stalls() -> None:
    app = Relay()
    async with app.run_test() as pilot:
        await pilot.press("x")
        assert app.arrived


async def test_a_timer_that_never_rests_is_not_waited_for() -> None:
    loop, running = asyncio.get_running_loop(), True

    def again() -> None:
        if running:
            loop.call_later(FRAME / 4, again)

    again()
    await until_quiet()
    running = False


class Reader(App[None]):
    """Handles a key by way of a thread: meanwhile its loop has nothing to do."""

    read = False

    async def key_x(self) -> None:
        await asyncio.to_thread(time.sleep, 5 * FRAME)  # what is tested: a loop that waits for a thread
        self.read = True


async def test_a_handler_that_waits_for_a_thread_is_waited_for() -> None:
    app = Reader()
    async with app.run_test() as pilot:
        await pilot.press("x")
        assert app.read


class Changing(App[None]):
    """Changes for some frames; counts what is displayed."""

    frames = 0

    def compose(self) -> ComposeResult:
        yield Static("x")

    async def key_x(self) -> None:
        for text in ("one", "two", "three"):
            self.query_one(Static).update(text)
            await asyncio.sleep(FRAME / 2)

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        self.frames += renderable is not None
        super()._display(screen, renderable)


async def test_what_changes_on_the_way_is_painted_once() -> None:
    app = Changing()
    async with app.run_test() as pilot:
        before = app.frames
        await pilot.press("x")
        assert app.frames == before + 1 and not app.screen._compositor._dirty_regions
        await pilot.pause()
        assert app.frames == before + 1, "nothing has changed since"
