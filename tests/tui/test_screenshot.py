"""The picture of `--screenshot`."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from ktui.cli import screenshot
from ktui.contract.events import EtcdProgress

from .still import demo_events, still_app

pytestmark = pytest.mark.anyio


async def test_all_of_the_picture_shows_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = still_app(demo_events())

    async def events_come(pilot: object, keys: str) -> None:
        """Fold events as a tick does, of which not each paints the header."""
        app.feed([EtcdProgress(at=app.state.now, head=987_654)])
        app.intake.fold()

    monkeypatch.setattr(screenshot, "_press", events_come)
    picture = tmp_path / "picture.svg"
    await screenshot.take_screenshot(app, Namespace(size="120x40", press="", screenshot=str(picture)))
    rendered = picture.read_text()
    assert rendered.count("987,654") >= 2  # in the header and in the progress of RVs
