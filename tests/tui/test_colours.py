"""Every shipped theme can be read: contrasts, routes that colour-blind eyes tell apart, no stray colour."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import pytest
from textual.color import COLOR_NAME_TO_RGB
from textual.theme import Theme

import ktui.tui
from ktui.config.places import shipped_themes
from ktui.tui.looks.themes import DEFAULT, load_themes
from ktui.tui.preferences import Preferences
from tests.source import parsed

from .colours import DEUTERANOPIA, PROTANOPIA, TRITANOPIA, USUAL, Matrix, contrast, difference
from .still import NORMAL, demo_events, still_app

THEMES = load_themes(shipped_themes()).by_name
ROUTES = {"C": "route-cache", "S": "route-snapshot", "E": "route-etcd", "W": "route-wait", "!": "route-error"}
BACKGROUNDS = ("background", "surface", "panel", "boost", "cursor", "cursor-blurred")
TEXT = (
    "foreground", "primary", "secondary", "accent", "warning", "error", "success",
    "ink-strong", "ink-muted", *ROUTES.values(), "rv-head", "rv-cache", "rv-lag", "rv-tick",
)  # fmt: skip
MARKS = ("chart-typical", "chart-most", "chart-sent", "chart-share")


def colour(theme: Theme, name: str) -> str:
    value = theme.variables.get(name) or getattr(theme, name)
    assert isinstance(value, str)
    return value


def faults(theme: Theme, names: tuple[str, ...], least: float) -> list[str]:
    return [
        f"{name} on {background}: {ratio:.2f}"
        for name in names
        for background in BACKGROUNDS
        if (ratio := contrast(colour(theme, name), colour(theme, background))) < least
    ]


@pytest.mark.parametrize("name", THEMES)
def test_texts_and_marks_stand_out_from_every_background(name: str) -> None:
    theme = THEMES[name]
    best = name == "ktui-high-contrast"
    assert not faults(theme, TEXT, 7.0 if best else 4.5)
    assert not faults(theme, ("ink-faint",), 7.0 if best else 3.0)
    assert not faults(theme, MARKS, 3.0)
    focus, line = (contrast(colour(theme, it), colour(theme, "background")) for it in ("line-focus", "line"))
    assert focus >= 4.5 and focus > 1.8 * line  # which box the keys go to
    assert not best or line >= 3.0


SEEN_BY: list[tuple[str, Matrix]] = [
    *((name, USUAL) for name in THEMES if name != "ktui-mono"),
    ("ktui-deuteranopia", DEUTERANOPIA),
    ("ktui-deuteranopia", PROTANOPIA),
    ("ktui-tritanopia", TRITANOPIA),
]


@pytest.mark.parametrize(("name", "vision"), SEEN_BY)
def test_routes_are_told_apart_at_a_glance(name: str, vision: Matrix) -> None:
    theme = THEMES[name]
    for one, other in combinations(ROUTES, 2):
        seen = difference(colour(theme, ROUTES[one]), colour(theme, ROUTES[other]), vision)
        assert seen >= 20, f"{one} and {other}: {seen:.1f}"


def test_the_simulation_knows_red_from_green() -> None:
    # Two colours that deuteranopia makes one, and that the usual eye cannot confuse.
    red, green = "#b4682d", "#7f8c2d"
    assert difference(red, green) > 40 > 15 > difference(red, green, DEUTERANOPIA)


@pytest.mark.parametrize(
    "name",
    [  # the default's is that of tests/tui/test_overview.py
        pytest.param(name, marks=[pytest.mark.picture] * (name == "ktui-light"))
        for name in THEMES
        if name != DEFAULT
    ],
)
def test_a_theme_on_the_overview(snap_compare: Callable[..., bool], name: str) -> None:
    app = still_app(demo_events(), preferences=Preferences(theme=name))
    assert snap_compare(app, says=("rev 48,213", "waiting for the watch cache"), terminal_size=NORMAL)


HERE = Path(ktui.tui.__file__).parent
HEX = re.compile(r"#(?:[0-9a-fA-F]{3}){1,2}\b")
NAMED = re.compile(rf"(?<![\w-])({'|'.join(COLOR_NAME_TO_RGB)}|ansi_\w+)(?![\w-])")
RULE = re.compile(r"(?:color|background|border[\w-]*|tint|outline[\w-]*)\s*:\s*([^;}]+)")


def literals(path: Path) -> Iterator[str]:
    """Colours written out in a file."""
    text = path.read_text()
    if path.suffix == ".tcss":
        yield from HEX.findall(text)
        css = [text]
    else:
        strings = [
            node.value
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        yield from (found for one in strings for found in HEX.findall(one))
        yield from (one for one in strings if one.removeprefix("bold ") in COLOR_NAME_TO_RGB)
        css = [one for one in strings if "{" in one]
    for sheet in css:
        for value in RULE.findall(sheet):
            yield from (found for found in NAMED.findall(value) if found != "transparent")


def test_colours_come_from_the_theme_only() -> None:
    files = [*HERE.rglob("*.py"), *HERE.rglob("*.tcss")]
    assert len(files) > 80
    assert not {str(path.relative_to(HERE)): found for path in files if (found := list(literals(path)))}


def test_a_literal_colour_would_be_found(tmp_path: Path) -> None:
    sheet, code = tmp_path / "a.tcss", tmp_path / "a.py"
    sheet.write_text("X { color: $ink; background: red 20%; border: round #aabbcc; }")
    code.write_text('STYLE = "bold red"\nCSS = "Y { color: ansi_blue; }"\nOTHER = "on #123456"\n')
    assert sorted(literals(sheet)) == ["#aabbcc", "red"]
    assert sorted(literals(code)) == ["#123456", "ansi_blue", "bold red"]
