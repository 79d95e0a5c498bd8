"""The goldens: what a change on the screen changes in them."""

from __future__ import annotations

from difflib import ndiff

import pytest
from rich.text import Text
from textual.app import App, ComposeResult
from textual.theme import Theme
from textual.widgets import Input, Static

from .golden import golden

pytestmark = pytest.mark.anyio
THEME = Theme("test", primary="#112233", accent="#aabbcc", foreground="#dddddd", background="#000000",
              variables={"footer-background": "#445566"})  # fmt: skip


class Page(App[None]):
    CSS = """
    Screen { background: $background; color: $foreground; }
    #typed { border: none; height: 1; padding: 0; }
    .bar { background: $footer-background; }
    """

    def __init__(self, text: Text, typed: str = "ab", theme: Theme = THEME) -> None:
        super().__init__()
        self.text, self.typed = text, typed
        self.register_theme(theme)
        self.theme = theme.name

    def compose(self) -> ComposeResult:
        field = Input(self.typed, id="typed", select_on_focus=False)
        field.cursor_blink = False
        yield field
        yield Static(self.text, classes="bar")


def text(words: str = "pods are ready", style: str = "#aabbcc") -> Text:
    return Text.assemble((words[:4], style), words[4:])


async def drawn(app: Page, *keys: str) -> str:
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        return golden(app)


def changed(one: str, other: str) -> list[str]:
    return [line for line in ndiff(one.splitlines(), other.splitlines()) if line[0] in "+-"]


async def test_a_golden_is_text_then_styles_then_colours() -> None:
    lines = (await drawn(Page(text()))).splitlines()
    assert lines[1] == "pods are ready"
    assert lines[4] == "──── styles of 30×4 cells"
    assert lines[6] == "    2  0 accent on footer-background, 5 foreground"
    assert lines[7] == "  3-4  0 on background"
    assert "accent #aabbcc" in lines and "footer-background #445566" in lines


@pytest.mark.parametrize("attribute", ["bold", "italic", "underline", "reverse", "strike"])
async def test_an_attribute_changes_one_line(attribute: str) -> None:
    difference = changed(await drawn(Page(text())), await drawn(Page(text(style=f"{attribute} #aabbcc"))))
    assert [line[0] for line in difference] == ["-", "+"]
    assert attribute in difference[1] and "accent" in difference[1]


async def test_a_dimmed_text_has_another_colour() -> None:
    assert changed(await drawn(Page(text())), await drawn(Page(text(style="dim #aabbcc"))))


async def test_a_character_changes_its_line_only() -> None:
    difference = changed(await drawn(Page(text())), await drawn(Page(text("pods are steady"))))
    assert difference == ["- pods are ready", "+ pods are steady"]


async def test_a_colour_of_the_text_changes_its_span() -> None:
    difference = changed(await drawn(Page(text())), await drawn(Page(text(style="#010203"))))
    assert "+     2  0 #010203 on footer-background, 5 foreground" in difference


async def test_a_recoloured_theme_changes_one_line() -> None:
    other = Theme("test", primary="#112233", accent="#aabbcc", foreground="#dddddd", background="#000000",
                  variables={"footer-background": "#445577"})  # fmt: skip
    difference = changed(await drawn(Page(text())), await drawn(Page(text(), theme=other)))
    assert difference == ["- footer-background #445566", "+ footer-background #445577"]


async def test_the_cursor_is_seen_in_it() -> None:
    difference = changed(await drawn(Page(text()), "end"), await drawn(Page(text()), "home"))
    assert len(difference) == 2 and all(line[2:].startswith("    1  ") for line in difference)


async def test_wide_letters_take_their_columns() -> None:
    lines = (await drawn(Page(text("ポッド are ready")))).splitlines()
    assert lines[1] == "ポッド are ready"
    assert lines[6] == "    2  0 accent on footer-background, 7 foreground"
