"""What the dashboard knows of Textual's inside, and that only three modules know it."""

from __future__ import annotations

import ast
import asyncio
import gc
import inspect
import textwrap
import weakref
from functools import cache
from pathlib import Path
from typing import TypeGuard

import pytest
import textual.pilot
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.cache import FIFOCache, LRUCache
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.reactive import var
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

import ktui.tui
from ktui.tui import compat, subclassing
from ktui.tui.compat import WholeScreen
from ktui.tui.looks import themed
from ktui.tui.looks.themed import KeptStylesheet
from tests.source import parsed
from tests.tui.everything import load_screens, subclasses
from tests.tui.quiet import until_quiet

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

HOUSE = Path(ktui.tui.__file__).parent
MAY = {compat.__file__, subclassing.__file__, themed.__file__}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@cache
def names_of(of: type) -> frozenset[str]:
    """Private names that a class writes: methods, variables of its own and of its instances."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(of))).body
    assert isinstance(body, ast.ClassDef)
    found = {node.name for node in body.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    found |= {node.id for part in body.body for node in ast.walk(part) if _is_written(node, part)}
    found |= {node.attr for node in ast.walk(body) if isinstance(node, ast.Attribute) and _is_kept(node)}
    return frozenset(filter(is_private, found))


def _is_written(node: ast.AST, part: ast.stmt) -> TypeGuard[ast.Name]:
    assigns = isinstance(part, ast.Assign | ast.AnnAssign)
    return assigns and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _is_kept(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self"


def test_no_class_of_ours_takes_a_private_name_of_textuals() -> None:
    """By accident: a release may begin to use any name. Only those in MAY mean to."""
    load_screens()
    taken = {}
    ours = {one for root in (MessagePump, Stylesheet) for one in subclasses(root)}
    for one in (each for each in ours if each.__module__.startswith("ktui.")):
        theirs = [base for base in one.__mro__ if base.__module__.startswith("textual")]
        if both := names_of(one) & frozenset().union(*map(names_of, theirs)):
            taken[one.__name__] = set(both)
    assert len(ours) > 60
    assert taken == {
        "KeptStylesheet": {"_parse_cache"},
        "SafeApp": {"_display", "_fatal_error", "_handle_exception"},
        "WholeScreen": {"_compositor_refresh"},
    }


def test_no_other_module_uses_private_names() -> None:
    for path in HOUSE.rglob("*.py"):
        nodes = ast.walk(parsed(path))
        reached = [ast.unparse(node) for node in nodes if _reaches(node)]
        assert not reached or str(path) in MAY, f"{path.name}: {reached}"


def _reaches(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("textual._")
    return (
        isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and ast.unparse(node.value) not in ("self", "cls")
    )


def test_the_stylesheet_is_parsed_once_and_again_for_other_colours() -> None:
    sheet = KeptStylesheet(variables={"ink": "#ffffff"})
    assert isinstance(sheet._parse_cache, LRUCache) and isinstance(Stylesheet()._parse_cache, LRUCache)
    for number in range(200):
        sheet.add_source(f"#a{number} {{ color: $ink; }}", read_from=("here", str(number)))
    before = sheet.rules
    sheet.add_source("#last { color: $ink; }", read_from=("here", "last"))
    sheet.reparse()
    assert sheet.rules[0] is before[0], "of the first of many sources"
    sheet.set_variables({"ink": "#ffffff"})
    sheet.reparse()
    assert sheet.rules[0] is before[0]
    sheet.set_variables({"ink": "#000000"})
    sheet.reparse()
    assert sheet.rules[0] is not before[0]


class Line(Static):
    """Counts how often it is rendered."""

    rendered = 0

    def render_line(self, y: int) -> Strip:
        self.rendered += 1
        return super().render_line(y)


def with_a_line(kind: type[Screen[None]]) -> Screen[None]:
    class OneLine(kind):  # type: ignore[misc, valid-type]
        def compose(self) -> ComposeResult:
            yield Line("x")

    return OneLine()


@pytest.mark.parametrize(("kind", "unseen"), [(WholeScreen, 0), (Screen, 1)])
async def test_a_screen_is_not_rendered_while_nothing_may_be_painted(
    kind: type[Screen[None]], unseen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once Textual's own screen is not rendered then either, WholeScreen may go."""
    monkeypatch.setattr(textual.pilot, "wait_for_idle", until_quiet)
    app: App[None] = App()
    async with app.run_test() as pilot:
        screen = with_a_line(kind)
        with app.batch_update():
            await app.push_screen(screen)
            await pilot.pause()
            assert screen.query_one(Line).rendered == unseen
        await pilot.pause()
        assert screen.query_one(Line).rendered == 1


def test_of_a_screen_that_is_gone_nothing_painted_is_kept() -> None:
    """Textual's own cache of border styles would keep the lines of the last thousand widgets."""

    async def painted() -> weakref.ref[object]:
        app: App[None] = App()
        async with app.run_test():
            return weakref.ref(app.screen._styles_cache)

    cache = asyncio.run(painted())
    gc.collect()
    assert cache() is None


def test_a_strip_makes_its_caches_when_they_are_used() -> None:
    parts = [Segment("one"), Segment("two")]
    strip, textuals = Strip(parts, 6), Strip([])
    compat.MAKE_STRIP(textuals, parts, 6)
    caches = [name for name in Strip.__slots__ if isinstance(getattr(textuals, name), FIFOCache)]
    unset = [name for name in Strip.__slots__ if not _is_set(strip, name)]
    assert unset == caches and len(caches) == 7
    for name in Strip.__slots__:
        ours, theirs = getattr(strip, name), getattr(textuals, name)
        assert repr(ours) == repr(theirs), name
        assert getattr(strip, name) is ours, name
    assert strip.divide((3, 6)) is strip.divide((3, 6)), "kept"
    with pytest.raises(AttributeError, match="colour"):
        _ = strip.colour


def _is_set(strip: Strip, name: str) -> bool:
    try:
        getattr(Strip, name).__get__(strip)  # the slot itself
    except AttributeError:
        return False
    return True


def facts(of: type[DOMNode]) -> dict[str, object]:
    """What Textual's and ktui's `__init_subclass__` set on a class of widgets."""
    found = {name: value for name, value in vars(of).items() if name in FACTS}
    assert len(found) == len(FACTS)
    return found | {
        "_merged_bindings": of._merged_bindings and of._merged_bindings.key_to_bindings,
        "_reactives": list(of._reactives.items()),  # in this order
    }


FACTS = {
    "_reactives", "_computes", "_inherit_css", "_inherit_bindings", "_inherit_component_classes",
    "_css_type_name", "_css_type_names", "_merged_bindings",
}  # fmt: skip


def test_facts_of_classes_are_what_textual_finds() -> None:
    load_screens()
    classes = [each for each in subclasses(DOMNode) if each.__module__.startswith(("ktui.", "textual."))]
    classes += [Doubled, Heir]
    assert len(classes) > 120
    for of in classes:
        assert issubclass(of, DOMNode)
        found = facts(of)
        subclassing.TEXTUALS.__func__(  # type: ignore[attr-defined]
            of, of._inherit_css, of._inherit_bindings, of._inherit_component_classes
        )
        assert facts(of) == found, of.__name__
    assert Heir._computes == {"two", "four"} == Doubled._computes


class Doubled(Widget):
    """Declares and computes reactives; Textual's own widgets in use compute none."""

    one = var(1)
    two = var(0)
    four = var(0)

    def compute_two(self) -> int:
        return 2 * self.one

    def _compute_four(self) -> int:
        return 2 * self.two


class Heir(Doubled, inherit_css=False, inherit_bindings=False):
    one = var(3)
