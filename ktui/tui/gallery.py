"""Pictures of the screens, drawn from a recording: what `make screenshots` and the docs use."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from ktui.telemetry.recording import read_recording
from ktui.tui.app import KtuiApp
from ktui.tui.modes import MODES
from ktui.tui.source import Link, Stage
from ktui.tui.themes import DEFAULT

SIZES = ((80, 24), (120, 40), (200, 50))


async def draw(
    recording: Path, mode: str, size: tuple[int, int], *, theme: str = DEFAULT, press: Sequence[str] = ()
) -> str:
    """One screen as SVG, after all events of the recording and the given keys."""
    app = KtuiApp(start_timers=False, clock=lambda: 0.0, theme=theme)
    async with app.run_test(size=size) as pilot:
        app.link = Link(Stage.LIVE)
        app.feed(read_recording(recording))
        app.tick()
        if mode != app.current_mode:
            await app.action_go(mode)
        await pilot.pause()
        app.tick()
        await pilot.press(*press)
        await pilot.pause()
        return app.export_screenshot(title=f"ktui — {mode}")


def draw_all(recording: Path, directory: Path, modes: Sequence[str], theme: str) -> list[Path]:
    """Every mode at every size into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for mode in modes:
        for width, height in SIZES:
            path = directory / f"{mode}-{width}x{height}.svg"
            svg = asyncio.run(draw(recording, mode, (width, height), theme=theme))
            path.write_text(svg, encoding="utf-8")
            written.append(path)
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m ktui.tui.gallery", description=__doc__)
    parser.add_argument("recording", type=Path, help="a file that `ktui --record` wrote")
    parser.add_argument("directory", type=Path, help="where the SVG files go")
    parser.add_argument("--mode", action="append", choices=[mode.name for mode in MODES], default=None)
    parser.add_argument("--theme", default=DEFAULT)
    args = parser.parse_args(arguments)
    modes = args.mode or [mode.name for mode in MODES]
    for path in draw_all(args.recording, args.directory, modes, args.theme):
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
