"""Terminals that can show less: ASCII in every cell, no colour under NO_COLOR."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

import ktui.tui
from ktui.contract.events import Prefix, RequestStarted
from ktui.tui.looks.symbols import ASCII_OF, Symbols, choose, in_ascii
from ktui.tui.navigation.modes import MODES
from ktui.tui.preferences import Preferences
from tests.source import parsed

from .still import NORMAL, SMALL, demo_events, shown, still_app

pytestmark = pytest.mark.anyio

ASCII = Preferences(symbols="ascii")
UTF8 = {"LANG": "de_DE.UTF-8"}


@pytest.mark.parametrize(
    ("wanted", "environ", "chosen"),
    [
        ("", {**UTF8, "TERM": "xterm-256color"}, Symbols.BRAILLE),
        ("auto", {"LC_ALL": "C.utf8", "LANG": "C", "TERM": "screen"}, Symbols.BRAILLE),
        ("", {**UTF8, "TERM": "linux"}, Symbols.ASCII),
        ("", {**UTF8, "TERM": "dumb"}, Symbols.ASCII),
        ("", {**UTF8, "LC_ALL": "C", "TERM": "xterm"}, Symbols.ASCII),
        ("", {"LANG": "en_US.ISO-8859-1", "TERM": "xterm"}, Symbols.ASCII),
        ("block", {"TERM": "linux"}, Symbols.BLOCK),
    ],
)
def test_what_the_terminal_can_show_is_chosen(wanted: str, environ: dict[str, str], chosen: Symbols) -> None:
    assert choose(wanted, environ) is chosen


def test_a_word_that_is_no_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="emoji"):
        choose("emoji", {})


def test_every_glyph_has_a_stand_in_of_one_cell() -> None:
    for glyph, stand_in in ASCII_OF.items():
        assert stand_in.isascii() and len(stand_in) == 1, glyph
        assert cell_len(in_ascii(glyph)) == cell_len(glyph), glyph
    # Marks that mean different things stay different.
    for group in ("●◐○–", "▸▾·", "━┄◇", "◆◇●", "=≠≈"):
        assert len(set(in_ascii(group))) == len(group), in_ascii(group)


def test_every_glyph_of_the_source_has_a_stand_in() -> None:
    here = Path(ktui.tui.__file__).parent
    missing: dict[str, set[str]] = {}
    for path in here.rglob("*.py"):
        for text in _strings(parsed(path)):
            for char in text:
                if "?" in in_ascii(char) and char != "?":
                    missing.setdefault(char, set()).add(path.name)
    assert not missing


def _strings(tree: ast.Module) -> list[str]:
    """The texts of a module, but for its docstrings."""
    docs = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


def test_text_of_other_scripts_keeps_its_width() -> None:
    assert in_ascii("Zoë → 東京") == "Zoe > ? ? "


def test_the_overview_in_ascii(snap_compare: Callable[..., bool]) -> None:
    says = ("rev 48,213", "waiting for the watch cache")
    assert snap_compare(still_app(demo_events(), preferences=ASCII), says=says, terminal_size=NORMAL)


def test_the_overview_in_blocks(snap_compare: Callable[..., bool]) -> None:
    app = still_app(demo_events(), preferences=Preferences(symbols="block"))
    assert snap_compare(app, says=("rev 48,213", "waiting for the watch cache"), terminal_size=NORMAL)


@pytest.mark.parametrize("mode", [mode.name for mode in MODES])
async def test_no_cell_of_any_screen_is_beyond_ascii(mode: str) -> None:
    odd = [
        Prefix(prefix="/registry/ünicode-東京/", count=1, bytes=20),
        RequestStarted(
            id=99, verb="GET", path="/api/v1/pods", query="labelSelector=é", resource="pods", namespace="",
            name="東京", client="клиент", user_agent="",
        ),
    ]  # fmt: skip
    for size in (SMALL, NORMAL):
        app = still_app([*demo_events(), *odd], preferences=ASCII)
        async with app.run_test(size=size, notifications=True) as pilot:
            await _visit(pilot, mode)
            app.notify("… and a toast")
            await pilot.pause()
            beyond = {char for char in shown(app) if not char.isascii()}
            assert not beyond


async def _visit(pilot: Pilot[int], mode: str) -> None:
    app = pilot.app
    if mode != app.current_mode:
        await app.run_action(f"go('{mode}')")
    await pilot.pause()


# NO_COLOR.


async def test_without_colours_there_are_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        assert app.theme == "ktui-mono"
        styles = [
            (segment.text, segment.style)
            for strip in app.screen._compositor.render_strips()
            for segment in strip
            if segment.style
        ]
    assert not [text for text, style in styles if style.color or style.bgcolor]
    # The cursor's row, the letters of the routes, and faint rules still show.
    assert any(style.reverse and "kube-contro" in text for text, style in styles)
    assert any(style.bold and text == "E" for text, style in styles)
    assert any(style.dim for _, style in styles)


async def test_an_empty_no_color_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        hues = {
            segment.style.color.triplet
            for strip in strips
            for segment in strip
            if segment.style and segment.style.color and segment.style.color.triplet
        }
    assert app.theme == "ktui-dark"
    assert any(max(hue) - min(hue) > 60 for hue in hues)


@pytest.mark.picture
def test_the_overview_without_colours(
    snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    says = ("rev 48,213", "waiting for the watch cache")
    assert snap_compare(still_app(demo_events()), says=says, terminal_size=NORMAL)
