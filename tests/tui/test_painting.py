"""What is painted, and what is not: panels line by line, the footer as one line."""

from __future__ import annotations

from typing import Any

import pytest
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App, ComposeResult
from textual.content import Content
from textual.events import Resize
from textual.geometry import Region, Size
from textual.screen import Screen

from ktui.tui.app import KtuiApp
from ktui.tui.looks import themes
from ktui.tui.widgets.key_bar import KeyBar
from ktui.tui.widgets.panel import Panel
from tests.tui.still import NORMAL, WIDE, demo_events, still_app

pytestmark = pytest.mark.anyio


class Watched(Panel):
    """Remembers what it was told to paint again: regions, or all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.painted: list[tuple[Region, ...]] = []

    def refresh(self, *regions: Region, **others: bool) -> Watched:
        if hasattr(self, "painted"):
            self.painted.append(regions)
        super().refresh(*regions, **others)
        return self


class PanelApp(App[None]):
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.default_variables()

    def compose(self) -> ComposeResult:
        yield Watched()


async def test_of_a_panel_only_changed_lines_are_painted() -> None:
    app = PanelApp()
    async with app.run_test(size=(20, 4)) as pilot:
        panel = app.query_one(Watched)
        panel.show(lambda width, height: Content("one\ntwo\nthree"))
        await pilot.pause()
        panel.painted.clear()
        panel.show(lambda width, height: Content("one\n2\nthree"))
        assert panel.painted == [(Region(0, 1, 20, 1),)]
        panel.painted.clear()
        panel.show(lambda width, height: Content("one\n2\nthree"))
        assert not panel.painted, "nothing has changed"
        panel.show(lambda width, height: Content.assemble(("one", "bold"), "\n2\nthree"))
        assert panel.painted == [(Region(0, 0, 20, 1),)], "the same text in another style"
        panel.painted.clear()
        panel.show(lambda width, height: Content("one"))
        assert panel.painted == [(Region(0, 0, 20, 1), Region(0, 1, 20, 1), Region(0, 2, 20, 1))]
        await pilot.pause()
        assert panel.render().plain == "one"


async def test_a_line_that_stays_keeps_its_strip_until_the_style_changes() -> None:
    app = PanelApp()
    async with app.run_test(size=(20, 4)) as pilot:
        panel = app.query_one(Watched)
        panel.show(lambda width, height: Content("one\ntwo"))
        await pilot.pause()
        first = panel.render_line(0)
        panel.show(lambda width, height: Content("one\n2"))
        await pilot.pause()
        assert panel.render_line(0) is first and panel.render_line(1).text.rstrip() == "2"
        panel.styles.color = "red"
        await pilot.pause()
        assert panel.render_line(0) is not first and panel.render_line(0).text == first.text
        assert {segment.style.color.triplet.hex for segment in panel.render_line(0)} == {"#ff0000"}


async def test_a_panel_is_built_again_for_another_size() -> None:
    app = PanelApp()
    async with app.run_test(size=(20, 4)) as pilot:
        panel = app.query_one(Watched)
        panel.show(lambda width, height: Content(f"{width} × {height}"))
        await pilot.pause()
        await pilot.resize_terminal(30, 5)
        await pilot.pause()
        assert panel.render().plain == "30 × 5"


async def test_all_is_painted_when_the_terminal_reports_the_same_size_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may have been smaller meanwhile, and have lost what was in the cells."""
    app = still_app(demo_events())
    painted: list[int] = []
    display = KtuiApp._display

    def painting(self: KtuiApp, screen: Screen[None], update: Any) -> None:
        if isinstance(update, ChopsUpdate):
            painted.append(sum(end - start for _, start, end in update.spans))
        elif isinstance(update, LayoutUpdate):
            painted.append(update.region.area)
        display(self, screen, update)

    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        monkeypatch.setattr(KtuiApp, "_display", painting)
        app.post_message(Resize(Size(*NORMAL), Size(*NORMAL)))
        while max(painted, default=0) < NORMAL[0] * NORMAL[1]:
            await pilot.pause()


async def test_the_footer_is_there_with_the_first_frame() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL):
        told = [key.about for key in app.screen.query_one(KeyBar).keys]
        assert told[:4] == ["help", "cheaper", "view", "Overview"]


async def test_a_click_on_a_key_is_the_key() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=WIDE) as pilot:
        bar = app.screen.query_one(KeyBar)
        assert bar.key_at(0) == bar.keys[0] and bar.key_at(WIDE[0] - 1) is None
        place = next(
            x for x in range(WIDE[0]) if (key := bar.key_at(x)) is not None and key.about == "Requests"
        )
        await pilot.click(KeyBar, offset=(place, 0))
        await pilot.pause()
        assert app.current_mode == "requests"


async def test_the_mouse_over_a_key_tells_what_it_does() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=WIDE) as pilot:
        bar = app.screen.query_one(KeyBar)
        await pilot.hover(KeyBar, offset=(0, 0))
        assert bar.pointed == bar.keys[0] and bar.tooltip == bar.keys[0].tooltip != ""
        await pilot.hover(KeyBar, offset=(WIDE[0] - 1, 0))
        assert bar.pointed is None and bar.tooltip is None
