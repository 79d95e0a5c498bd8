"""What opens over a screen, each at the two sizes: what it says, then its picture."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from ktui.tui.app import KtuiApp
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.dialogs.help import HelpScreen

from .asking import Snap
from .still import NORMAL, SMALL, demo_events, shown, still_app, until_said

# What is pressed, and what the dialog then says.
DIALOGS = {
    "help": ("2 question_mark", ("esc closes", "this screen", "most expensive requests")),
    "jump": ("2 up up o", ("open related", "the Lab with this request")),
    "sort": ("2 s", ("sort by", "second key")),
    "columns": ("3 C", ("columns", "■ resource")),
    "object": ("2 up up y", ('"type": "request_started"', "esc closes")),
    "filter-help": ("2 slash f1", ("begins", "contains")),
    "palette": ("ctrl+p g o space t o", ("Go to Overview", "Go to Workloads")),
    "filter": ("2 slash c l i e n t ~ k u b e", ("client~kube", "rows")),
    "command": ("colon t h e m e space k t u i", ("theme ktui-dark", "tab completes")),
}
PICTURED = (SMALL, "help")


@pytest.mark.parametrize(
    ("size", "dialog"),
    [
        pytest.param(
            size,
            name,
            marks=[pytest.mark.picture] * ((size, name) == PICTURED),
            id=f"{size[0]}x{size[1]}-{name}",
        )
        for size in (SMALL, NORMAL)
        for name in DIALOGS
    ],
)
def test_dialog(snap_compare: Snap, dialog: str, size: tuple[int, int]) -> None:
    keys, says = DIALOGS[dialog]

    async def open_it(pilot: Any) -> None:
        await pilot.press(*keys.split())
        for field in pilot.app.screen.query(Input):
            field.cursor_blink = False  # the palette's is Textual's own

    assert snap_compare(still_app(demo_events()), says=says, run_before=open_it, terminal_size=size)


@pytest.mark.anyio
async def test_the_help_opens_in_its_full_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is laid out by the width that it gets: it does not open small and grow."""
    painted: list[int] = []
    display = KtuiApp._display

    def painting(app: KtuiApp, screen: Any, renderable: Any) -> None:
        display(app, screen, renderable)
        if isinstance(app.screen, HelpScreen):
            painted.append(shown(app).count("│"))

    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        monkeypatch.setattr(KtuiApp, "_display", painting)
        await pilot.press("question_mark")
        await pilot.pause()
        assert "this screen" in shown(app)
        assert painted and len(set(painted)) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(("opener", "letter"), [("o", "l"), ("s", "r")])
async def test_a_dialog_closes_once_however_fast_one_types(opener: str, letter: str) -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("2", "up", "up", opener)
        dialog = app.screen
        assert isinstance(dialog, Dialog)
        for _ in range(3):  # all there before the first is looked at
            dialog.post_message(events.Key(letter, letter))
        await pilot.pause()
        assert dialog not in app.screen_stack
        assert app.is_running and app.return_code in (None, 0)


@pytest.mark.anyio
async def test_a_letter_that_follows_a_menus_key_at_once_chooses() -> None:
    app = still_app(demo_events())
    async with app.run_test(size=SMALL) as pilot:
        await pilot.press("2", "up", "up")
        for letter in "ol":  # both are there before the first is looked at
            app.post_message(events.Key(letter, letter))
        await until_said(pilot, "› Lab")
