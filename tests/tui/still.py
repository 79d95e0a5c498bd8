"""An app that nothing moves, so that its pictures are the same to the letter; what it shows, read back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ktui.contract.events import AnyEvent
from ktui.tui.app import KtuiApp
from ktui.tui.preferences import DEFAULTS, Preferences
from ktui.tui.source import Link, Stage
from ktui.tui.table.vtable import VTable
from tests.recordings import read_recording

DEMO = Path(__file__).with_name("data") / "demo.ndjson"
SMALL, NORMAL, WIDE = (80, 24), (120, 40), (200, 50)
LIVE = Link(Stage.LIVE)
HANGS = 60.0  # seconds: the bound of a wait that never ends, no measure of speed


@cache
def _recorded() -> tuple[AnyEvent, ...]:
    return tuple(read_recording(DEMO))


def demo_events() -> list[AnyEvent]:
    return list(_recorded())


def still_app(
    events: Iterable[AnyEvent] = (), link: Link = LIVE, preferences: Preferences = DEFAULTS
) -> KtuiApp:
    """No timers, no source, a stopped clock; `events` are in the state before the first paint."""
    app = KtuiApp(start_timers=False, clock=lambda: 1_790_000_000.0, preferences=preferences)
    app.intake.link = link
    app.feed(events)
    app.intake.fold()
    return app


def shown(app: KtuiApp) -> str:
    """The screen as plain text, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.crop(0, width).text.rstrip() for strip in lines[:height])


async def until_said(pilot: Any, *texts: str, seconds: float = HANGS) -> None:
    """Wait until each of the texts stands on the screen; fails with the screen and those that do not."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        screen = shown(pilot.app)
        missing = [text for text in texts if text not in screen]
        if not missing:
            return
        assert asyncio.get_running_loop().time() < deadline, f"never said {missing}:\n{screen}"
        await pilot.pause()


async def until_still(pilot: Any, seconds: float = HANGS) -> None:
    """Wait until no table is being arranged and nothing on the screen changes between two rounds."""
    app, before = pilot.app, None
    async with asyncio.timeout(seconds):
        while True:
            await pilot.pause()
            now = app.screen._compositor.render_strips()
            busy = any(table._next_step is not None for table in app.screen.query(VTable))
            if now == before and not busy:
                return
            before = now
