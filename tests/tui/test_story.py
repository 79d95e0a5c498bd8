"""`ktui --story`: each step has a sentence and does what it says."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.tui.app import KtuiApp
from ktui.tui.lab.screen import LabScreen
from ktui.tui.preferences import Preferences
from ktui.tui.story import STEPS

from .asking import until, until_shown
from .lab import screen_of as lab_of
from .lab import settled
from .lab_server import LabServer
from .still import SMALL, WIDE, demo_events, shown, still_app

pytestmark = pytest.mark.anyio


def story_app() -> KtuiApp:
    app = still_app(demo_events(), preferences=Preferences(story=True))
    app.intake.client = LabServer()  # type: ignore[assignment]
    return app


async def step(pilot: Any, results: int) -> None:
    """The next step, which adds results to the Lab until there are enough."""
    await pilot.press("f9")
    await until(pilot, lambda: isinstance(pilot.app.screen, LabScreen))
    await until(pilot, lambda: settled(lab_of(pilot.app), results))


async def test_the_story_goes_through_its_steps() -> None:
    app = story_app()
    async with app.run_test(size=WIDE) as pilot:
        await until_shown(pilot, f"story  {len(STEPS)} steps through what LISTs cost · f9 begins")
        for number in range(1, 5):
            await step(pilot, 2 * number)
            await until_shown(pilot, f"story {number}/6", STEPS[number - 1].sentence[:60])
        results = lab_of(app).lab.runner.results
        assert all(each.trial is not None for each in results[1::2])
        assert [each.path.partition("?")[2] for each in results[:6]] == [
            "",
            "resourceVersion=0",
            "resourceVersion=0",
            "labelSelector=tier=backend&resourceVersion=0",
            "limit=500",
            "limit=500&resourceVersion=0",
        ]
        assert results[7].measured is not None and results[7].measured.pages == 6


async def test_without_story_there_is_neither_text_nor_key() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("f9")
        await pilot.pause()
        assert "story" not in shown(app) and app.current_mode == "overview"
