"""What tests of the screens that ask for themselves share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ktui.tui.app import KtuiApp

from .fake_server import FakeServer
from .still import HANGS, NORMAL, SMALL, demo_events, shown, still_app

Snap = Callable[..., bool]
SIZES = pytest.mark.parametrize("size", [SMALL, NORMAL], ids=["80x24", "120x40"])


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
    await until(pilot, lambda: all(text in shown(pilot.app) for text in texts))
    await pilot.pause()
