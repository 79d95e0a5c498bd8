"""Style sheets are the app's, not a screen's: what one lays out must leave the others alone."""

from __future__ import annotations

import pytest
from textual.geometry import Region

from ktui.tui.app import KtuiApp
from ktui.tui.navigation.modes import MODES

from .still import NORMAL, SMALL, WIDE, demo_events, still_app

pytestmark = pytest.mark.anyio

NAMES = [mode.name for mode in MODES]


def layout(app: KtuiApp) -> dict[str, Region]:
    """Of all that is seen: some parts are made only after the first frame."""
    return {each.id: each.region for each in app.screen.query("*") if each.id is not None and each.region}


async def layouts(visits: list[str], size: tuple[int, int]) -> dict[str, dict[str, Region]]:
    """Where everything stands on each screen, seen in this order by one app."""
    app, seen = still_app(demo_events()), {}
    async with app.run_test(size=size) as pilot:
        for name in visits:
            await app.switch_mode(name)
            await pilot.pause()
            seen[name] = layout(app)
    return seen


@pytest.mark.parametrize("size", [SMALL, NORMAL, WIDE], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_screen_looks_alike_whatever_was_visited_before(size: tuple[int, int]) -> None:
    """In one order a screen has the sheets of those before it, in the other of those after it."""
    assert await layouts(NAMES, size) == await layouts(NAMES[::-1], size)
