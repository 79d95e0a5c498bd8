"""An app without a terminal: steps that a visitor takes, and a picture of what comes of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from textual.pilot import Pilot

from ktui.tui.app import KtuiApp

SMALL, NORMAL, WIDE = (80, 24), (120, 40), (200, 50)
ALL = (SMALL, NORMAL, WIDE)
ANSWER_SECONDS = 40.0  # a race of eight LISTs is the longest that a step sets going
ENDLESS = "telemetry"  # the worker that never ends

# A key, `:a command`, or what finds the keys on the spot.
Step = str | Callable[[KtuiApp], str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: how to come to it, when it is worth taking, and how to leave what was opened."""

    name: str
    steps: tuple[Step, ...] = ()
    sizes: tuple[tuple[int, int], ...] = (NORMAL,)
    after: tuple[Step, ...] = ()
    when: Callable[[KtuiApp], bool] = field(default=lambda app: True)

    @property
    def files(self) -> list[str]:
        """One a size."""
        return [f"{self.name}-{width}x{height}.svg" for width, height in self.sizes]


class Camera:
    """Takes the pictures of one running app into a directory."""

    def __init__(self, pilot: Pilot[int], directory: Path) -> None:
        self.pilot = pilot
        self._directory = directory

    @property
    def app(self) -> KtuiApp:
        app = self.pilot.app
        assert isinstance(app, KtuiApp)
        return app

    async def take_all(self, shots: Iterable[Shot], only: str = "") -> None:
        """Those whose names begin with `only`."""
        for shot in shots:
            if shot.name.startswith(only):
                await self.take(shot)

    async def take(self, shot: Shot) -> None:
        """One picture at each of its sizes. RuntimeError when the program has ended, whatever made it."""
        await self.pilot.resize_terminal(*shot.sizes[0])
        await self.walk(shot.steps)
        for size, file in zip(shot.sizes, shot.files, strict=True):
            await self.pilot.resize_terminal(*size)
            await self.settle()
            await self.until(lambda: shot.when(self.app), 30.0)
            self._write(file)
        await self.walk(shot.after)

    async def walk(self, steps: Iterable[Step]) -> None:
        for step in steps:
            found = step if isinstance(step, str) else step(self.app)
            for word in [found] if isinstance(found, str) else found:
                await self.pilot.press(*([*word, "enter"] if len(word) > 1 and word[0] == ":" else [word]))
                await self.settle()

    async def settle(self) -> None:
        """Let what was set going come to its end, and the panels be painted."""
        with contextlib.suppress(TimeoutError):  # what goes on for good is drawn as it stands
            async with asyncio.timeout(ANSWER_SECONDS):
                while any(worker.group != ENDLESS for worker in self.app.workers):
                    await self.pilot.pause(0.1)
        await self.pilot.pause(0.7)

    async def until(self, holds: Callable[[], bool], seconds: float) -> None:
        """Let the program run until `holds`; after `seconds` TimeoutError."""
        async with asyncio.timeout(seconds):
            while not holds():
                await self.pilot.pause(0.05)

    def _write(self, name: str) -> None:
        if not self.app.is_running:
            raise RuntimeError(f"the program had ended before {name} could be taken")
        path = self._directory / name
        path.write_text(self.app.export_screenshot(title="ktui"), encoding="utf-8")
        print(path, flush=True)
