"""The first frame has no panels yet; a key typed before them is not lost."""

from __future__ import annotations

import asyncio

import pytest
from textual.events import Mount

from ktui.tui.app import KtuiApp
from ktui.tui.overview.screen import OverviewScreen
from ktui.tui.requests.screen import RequestsScreen
from ktui.tui.screen_bases.first_screen import FirstScreen

from .still import HANGS, NORMAL, shown


async def test_the_first_frame_has_header_and_footer_and_no_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    frames: list[str] = []
    then = FirstScreen._open_next

    async def open_next(screen: FirstScreen) -> None:
        frames.append(shown(screen.app))  # type: ignore[arg-type]
        await then(screen)

    monkeypatch.setattr(FirstScreen, "_open_next", open_next)
    app = KtuiApp(start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        (first,), now = frames, shown(app)
        for line in (0, -1):  # header and footer stay as they are, but for the keys of the panels
            assert first.splitlines()[line].split()[:2] == now.splitlines()[line].split()[:2]
        assert "q quit" in first and "q quit" in now
        assert "watch caches" not in first and "watch caches" in now
        assert app.screen_stack == [app.screen] and isinstance(app.screen, OverviewScreen)


async def test_a_key_typed_before_the_panels_is_for_the_screen_that_has_them() -> None:
    screens: list[object] = []

    class TypedAhead(KtuiApp):
        def _on_mount(self, event: Mount) -> None:
            screens.append(self.screen)
            self.simulate_key("2")

    app = TypedAhead(start_timers=False)
    async with app.run_test(size=NORMAL) as pilot:
        async with asyncio.timeout(HANGS):
            while not isinstance(app.screen, RequestsScreen):
                await pilot.pause()
        assert isinstance(screens[0], FirstScreen) and app.current_mode == "requests"
