"""What tests of the screens that ask for themselves share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from ktui.tui.app import KtuiApp

from .fake_server import FakeServer
from .still import HANGS, NORMAL, SMALL, demo_events, shown, still_app

Snap = Callable[..., bool]
Matches = Callable[..., Awaitable[None]]


def sizes(*values: tuple[int, int], pictured: Iterable[tuple[int, int]] = ()) -> pytest.MarkDecorator:
    """Parametrizes `size`; at those `pictured` the screen is compared as an SVG too."""
    return pytest.mark.parametrize(
        "size",
        [
            pytest.param(size, id=f"{size[0]}x{size[1]}", marks=[pytest.mark.picture] * (size in pictured))
            for size in values
        ],
    )


SIZES = sizes(SMALL, NORMAL)
PICTURED = sizes(SMALL, NORMAL, pictured=[SMALL])


def asking_app(server: FakeServer | None = None) -> KtuiApp:
    """The still app with a server that answers from files."""
    app = still_app(demo_events())
    app.intake.client = server or FakeServer()  # type: ignore[assignment]
    return app


async def until(pilot: Any, holds: Callable[[], bool]) -> None:
    """Wait for a condition, a message round at a time."""
    async with asyncio.timeout(HANGS):
        while not holds():
            await pilot.pause()


async def until_shown(pilot: Any, *texts: str) -> None:
    """Wait until all these texts are on the screen."""
    try:
        await until(pilot, lambda: all(map(shown(pilot.app).__contains__, texts)))
    except TimeoutError as late:
        screen = shown(pilot.app)
        missing = [text for text in texts if text not in screen]
        raise AssertionError(f"never shown: {missing}\n{screen}") from late
    await pilot.pause()
