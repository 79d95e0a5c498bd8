"""Drive an app without a terminal: press keys, wait, and save a picture."""

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
ANSWER_SECONDS = 40.0  # comparing eight LISTs is the longest work that a step starts
ENDLESS = "telemetry"  # the worker that never ends

# A key, `:a command`, or a function that returns keys for the app's current state.
Step = str | Callable[[KtuiApp], str | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: the steps before it, the condition for taking it, and the steps after it."""

    name: str
    steps: tuple[Step, ...] = ()
    sizes: tuple[tuple[int, int], ...] = (NORMAL,)
    after: tuple[Step, ...] = ()
    when: Callable[[KtuiApp], bool] = field(default=lambda app: True)

    @property
    def files(self) -> list[str]:
        """The file names, one per size."""
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
        """Take the pictures whose names begin with `only`."""
        for shot in shots:
            if shot.name.startswith(only):
                await self.take(shot)

    async def take(self, shot: Shot) -> None:
        """Take a picture at each of its sizes. Raises RuntimeError if the program has ended."""
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
        """Wait for the end of the work in progress, and for the panels to be painted."""
        with contextlib.suppress(TimeoutError):  # work without an end: draw the current state
            async with asyncio.timeout(ANSWER_SECONDS):
                while any(worker.group != ENDLESS for worker in self.app.workers):
                    await self.pilot.pause(0.1)
        await self.pilot.pause(0.7)

    async def until(self, holds: Callable[[], bool], seconds: float) -> None:
        """Let the program run until `holds` returns True. Raises TimeoutError after `seconds`."""
        async with asyncio.timeout(seconds):
            while not holds():
                await self.pilot.pause(0.05)

    def _write(self, name: str) -> None:
        if not self.app.is_running:
            raise RuntimeError(f"the program had ended before {name} could be taken")
        path = self._directory / name
        path.write_text(self.app.export_screenshot(title="ktui"), encoding="utf-8")
        print(path, flush=True)
