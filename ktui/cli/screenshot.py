"""`--screenshot FILE.svg`: draw the dashboard without a terminal, once it has its first data."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.client.connection import ClientError
from ktui.config.errors import ConfigError
from ktui.tui.source import Stage

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from ktui.tui.app import KtuiApp

WAIT_SECONDS = 90.0
ANSWER_SECONDS = 10.0
QUIET_SECONDS = 2.0  # without an event, after which the picture is taken
TELEMETRY = "telemetry"  # the worker that never ends
_SIZE = r"(\d+)x(\d+)"


def size_of(text: str) -> tuple[int, int]:
    """Parse columns and rows, `120x40`. Raises ConfigError."""
    found = re.fullmatch(_SIZE, text)
    if found is None or not (20 <= int(found[1]) <= 1_000 and 5 <= int(found[2]) <= 1_000):
        raise ConfigError(f"--size {text!r} is not a size: write it like 120x40")
    return int(found[1]), int(found[2])


async def take_screenshot(app: KtuiApp, args: argparse.Namespace) -> None:
    """Write the picture. Raises ClientError if there is no data, ConfigError if it cannot be written."""
    from ktui.tui.screen_bases.mode_screen import ModeScreen  # start-up time

    width, height = size_of(args.size)
    async with app.run_test(size=(width, height)) as pilot:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                quiet = _Quiet(app)
                while not (_live(app) or quiet.lasts()):
                    if app.link.stage is Stage.STOPPED:
                        raise ClientError(app.link.detail)
                    await pilot.pause(0.1)
        except TimeoutError:
            raise ClientError(f"no data within {WAIT_SECONDS:.0f} s") from None
        await _press(pilot, args.press)
        if isinstance(app.screen, ModeScreen) and not app.paused:
            app.screen.paint()  # the header and the panels are painted less often than the tables
        picture = app.export_screenshot(title="ktui")
    _write(args.screenshot, picture)


def _write(file: str, picture: str) -> None:
    path = Path(file).expanduser()
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def _live(app: KtuiApp) -> bool:
    """True if the first data are there: a revision and a request, or the rates of a scraped server."""
    live = app.state.live
    if live.server is not None and live.replicas:
        rows = live.replicas.values()
        return any(len(series.points) > 1 for row in rows for series in row.resources.values())
    return bool(app.state.head.revision) and bool(app.state.requests)


class _Quiet:
    """Detects a connected source without events for QUIET_SECONDS: an idle etcd, a recording at its end."""

    def __init__(self, app: KtuiApp) -> None:
        self._app = app
        self._seen: object = None
        self._since = time.monotonic()

    def lasts(self) -> bool:
        state, stage = self._app.state, self._app.link.stage
        counts = (len(rows) for rows in (state.requests, state.caches, state.prefixes))
        seen = state.server, state.head.revision, *counts
        live = state.live
        rates_follow = live.server is not None and bool(live.replicas) and stage is Stage.LIVE
        connected = state.server is not None and not rates_follow and stage in (Stage.LIVE, Stage.REPLAY)
        if seen != self._seen or not connected:
            self._seen, self._since = seen, time.monotonic()
        return connected and time.monotonic() - self._since >= QUIET_SECONDS


async def _press(pilot: Pilot[int], keys: str) -> None:
    """Press each key and wait for the work that it starts, such as a request to the server."""
    for key in filter(None, keys.split(",")):
        await pilot.press(key)
        with contextlib.suppress(TimeoutError):  # work that does not end: draw the current state
            async with asyncio.timeout(ANSWER_SECONDS):
                while any(worker.group != TELEMETRY for worker in pilot.app.workers):
                    await pilot.pause(0.1)
    await pilot.pause(0.5)
