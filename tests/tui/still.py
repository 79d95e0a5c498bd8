"""An app that nothing moves, so that its pictures are the same to the letter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ktui.telemetry.events import AnyEvent
from ktui.telemetry.recording import read_recording
from ktui.tui.app import KtuiApp
from ktui.tui.source import Link, Stage

DEMO = Path(__file__).with_name("data") / "demo.ndjson"
SMALL, NORMAL, WIDE = (80, 24), (120, 40), (200, 50)
LIVE = Link(Stage.LIVE)


def demo_events() -> list[AnyEvent]:
    return list(read_recording(DEMO))


def still_app(events: Iterable[AnyEvent] = (), link: Link = LIVE) -> KtuiApp:
    """No timers, no source, a stopped clock; `events` are in the state before the first paint."""
    app = KtuiApp(start_timers=False, clock=lambda: 1_790_000_000.0)
    app.link = link
    app.feed(events)
    app.fold()
    return app


def shown(app: KtuiApp) -> str:
    """The screen as plain text, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.crop(0, width).text.rstrip() for strip in lines[:height])
