"""Render `screenshots/` from the real program: a real server over a real etcd, the demo cluster, its traffic.

usage: python tools/screenshots.py [DIRECTORY [SCREEN …]]

The pictures differ a little from run to run, as the traffic does: they are what a
user sees, not test data (that is `tests/tui/__snapshots__`).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

from ktui.cli.child import ServerChild
from ktui.cli.launchers import AttachLauncher
from ktui.client.api import ApiClient
from ktui.client.connection import Connection
from ktui.tui.app import KtuiApp
from ktui.tui.modes import MODES
from ktui.tui.source import LiveSource
from ktui.tui.themes import DEFAULT

SIZES = ((80, 24), (120, 40), (200, 50))
SETTLE_REQUESTS = 12  # reads by the demo's own clients before a picture is worth taking
THEMES = ("ktui-light", "ktui-mono")

# What a visitor does on a screen before the picture is taken.
KEYS: dict[str, tuple[str, ...]] = {"lab": ("r",), "etcd": ("down", "enter", "tab")}


async def shoot(connection: Connection, mode: str, size: tuple[int, int], theme: str = DEFAULT) -> str:
    """One screen of the live program as SVG."""
    app = KtuiApp(LiveSource(AttachLauncher(connection)), theme=theme)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: bool(app.state.head.revision) and len(app.state.requests) > 0)
        if mode != app.current_mode:
            await app.action_go(mode)
        await pilot.press(*KEYS.get(mode, ()))
        await until(pilot, lambda: reads(app) >= SETTLE_REQUESTS)
        return app.export_screenshot(title="ktui")


def reads(app: KtuiApp) -> int:
    """Finished reads that the dashboard has seen."""
    return sum(1 for row in app.state.requests.values() if row.started.verb in ("GET", "LIST") and row.status)


async def until(pilot: Pilot[int], holds: Callable[[], bool], seconds: float = 90.0) -> None:
    """Let the program run until `holds`."""
    async with asyncio.timeout(seconds):
        while not holds():
            await pilot.pause(0.2)


async def seeded(connection: Connection) -> None:
    """Wait until the demo cluster is complete: events come last."""
    client = ApiClient(connection)
    async for line in client.lines("/api/v1/events?watch=true"):
        if line:
            break
    await client.close()


async def main(directory: Path, modes: list[str]) -> None:
    child = ServerChild(["--demo"])
    connection = await child.start()
    try:
        await seeded(connection)
        for name in modes:
            for width, height in SIZES:
                await write(
                    directory / f"{name}-{width}x{height}.svg",
                    shoot(connection, name, (width, height)),
                )
        for theme in THEMES:
            await write(
                directory / f"overview-{theme}.svg", shoot(connection, MODES[0].name, SIZES[1], theme)
            )
    finally:
        await child.stop()


async def write(path: Path, drawing: Awaitable[str]) -> None:
    svg = await drawing
    await asyncio.to_thread(path.write_text, svg, encoding="utf-8")
    print(path)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target, sys.argv[2:] or [mode.name for mode in MODES]))
