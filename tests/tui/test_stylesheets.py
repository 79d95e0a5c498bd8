"""Style sheets are the app's, not a screen's: what one lays out must leave the others alone.

What a widget looks like is matched once and kept: it must be what Textual finds by matching again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import ClassVar
from weakref import ref

import pytest
from textual.app import App
from textual.css.model import RuleSet
from textual.css.styles import RenderStyles
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Region
from textual.widget import Widget

from ktui.tui.app import KtuiApp
from ktui.tui.looks.themed import KeptStylesheet, StyleMemory
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


def rules_of(node: DOMNode | RenderStyles) -> dict[str, str]:
    """As text: two layouts of one kind are not equal."""
    styles = node if isinstance(node, RenderStyles) else node.styles
    return {name: repr(value) for name, value in styles.base._rules.items()}


def looks(app: KtuiApp) -> Iterator[tuple[str, dict[str, str]]]:
    """All nodes of all screens and their component classes: path and rules."""
    for screen in app.screen_stack:
        for node in (app, *screen.walk_children(with_self=True)):
            yield str(node.css_path_nodes), rules_of(node)
            for name, styles in sorted(node._component_styles.items()):
                yield f"{node.css_path_nodes} {name}", rules_of(styles)


def matched_again(app: KtuiApp) -> None:
    """Have Textual's own sheet style every node, without anything that was kept."""
    plain = Stylesheet(variables=app.get_css_variables())
    plain.source = app.stylesheet.source
    plain.parse()

    def restyle(node: DOMNode) -> None:
        node.styles.base.reset()
        plain.apply(node)

    restyle(app)
    for screen in app.screen_stack:
        for node in screen.walk_children(with_self=True):
            restyle(node)


@pytest.mark.parametrize("screen", ["1", "4", "5"])
async def test_what_is_kept_is_what_textual_matches(screen: str) -> None:
    app = still_app(demo_events())
    async with app.run_test(size=NORMAL) as pilot:
        for step in (screen, "tab", "tab", "z", "z", "slash", "escape", "2", "t", "question_mark"):
            await pilot.press(step)
            if step == "2":
                await pilot.resize_terminal(*SMALL)
                app.theme = "textual-light"
                await pilot.pause()
            found = list(looks(app))
            assert len(found) > 30
            matched_again(app)
            for (path, kept), (_, right) in zip(found, looks(app), strict=True):
                assert kept == right, (step, path)
            app.refresh_css(animate=False)  # its own sheet again


class Parts(Widget):
    """A widget whose own rules ask nothing that its component class's rule asks."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"parts--one"}


class PartsApp(App[None]):
    CSS = ".parts--one { color: red; } Parts:even .parts--one { color: blue; }"

    def __init__(self) -> None:
        super().__init__()
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables())

    def compose(self) -> Iterator[Widget]:
        yield Parts()
        yield Parts(id="last")

    def part(self) -> str:
        self.stylesheet.update(self)
        return self.query_one("#last", Parts).get_component_styles("parts--one").color.hex


async def test_a_component_class_follows_rules_that_are_loaded_later() -> None:
    app = PartsApp()
    async with app.run_test():
        assert app.part() == "#0000FF"
        app.stylesheet.add_source("#last .parts--one { color: lime; }", read_from=("later", ""))
        assert app.part() == "#00FF00"


async def test_a_component_class_follows_what_only_its_rules_ask_of_the_widget() -> None:
    app = PartsApp()
    async with app.run_test():
        assert app.part() == "#0000FF"
        await app.query(Parts).first().remove()
        assert app.part() == "#FF0000"


def test_rules_of_colours_that_were_left_are_forgotten() -> None:
    memory, rules = StyleMemory(), list[ref[RuleSet]]()
    for number in range(40):
        rule = RuleSet()
        rules.append(ref(rule))
        memory.parsed({"ink": f"#{number:06}"})[("a source",)] = [rule]
        memory.candidates((rule,))
        del rule
    gc.collect()  # LRUCache is made of cycles
    assert sum(rule() is not None for rule in rules) < 10
