"""The help: the keys of the screen below as they are bound, its table's columns, and the route badges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from textual import on
from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from ktui.core.rows import LEGEND
from ktui.tui.cache.rv_progress import MARKS, RvProgressPanel
from ktui.tui.dialogs.dialog import Dialog, HiddenInput, framed
from ktui.tui.screen_bases.table_screen import TableScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line, lines, pad, wrap


class HelpLine(NamedTuple):
    """A name (keys, a column, a badge) with its style, and its description."""

    name: str
    about: str
    style: str = "bold $accent"


class Section(NamedTuple):
    """Lines of the help with a title; a search filters them."""

    title: str
    lines: tuple[HelpLine, ...]

    def matching(self, text: str) -> Section:
        """Return the section with only the lines that contain every word of `text`."""
        words = text.lower().split()
        found = [one for one in self.lines if all(w in f"{one.name} {one.about}".lower() for w in words)]
        return Section(self.title, tuple(found))


def merged(pairs: Iterable[tuple[str, str]]) -> tuple[HelpLine, ...]:
    """Return one line for all keys with the same description, in the order of their first key."""
    found: dict[str, list[str]] = {}
    for key, about in pairs:
        found.setdefault(about, []).append(key)
    return tuple(HelpLine(" ".join(dict.fromkeys(keys)), about) for about, keys in found.items())


_NAME = 14  # cells for keys, at most
_WIDTHS = [(0, "-narrow"), (110, "-wide")]


class HelpColumn(Widget):
    """Some of the help's sections, wrapped to the column's width."""

    sections: reactive[list[Section]] = reactive(list, layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(help_content(self.sections, width).split("\n")) if self.sections else 0

    def render(self) -> Content:
        return help_content(self.sections, self.content_size.width)


class HelpScreen(Dialog[None], bindings="help"):
    """`?` opens and closes the help; text typed after `/` filters it."""

    HORIZONTAL_BREAKPOINTS = _WIDTHS
    DEFAULT_CSS = """
    HelpScreen VerticalScroll {
        height: auto; max-height: 100%; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
    }
    HelpScreen Horizontal { height: auto; layout: vertical; padding: 0 1 0 0; }
    HelpScreen HelpColumn { width: 1fr; height: auto; }
    HelpScreen #help-none { display: none; color: $ink-muted; }
    HelpScreen #help-none.-open { display: block; }
    HelpScreen.-wide > Vertical { width: 116; }
    HelpScreen.-wide Horizontal { layout: horizontal; }
    HelpScreen.-wide #help-first { margin-right: 2; }
    """
    AUTO_FOCUS = ""

    def __init__(self, over: Screen[object]) -> None:
        super().__init__()
        self.sections = sections_of(over)

    def compose(self) -> ComposeResult:
        with framed(Vertical(), "help", ("help.filter", "finds"), ("help.leave", "closes")):
            yield HiddenInput("search the keys")
            with VerticalScroll(can_focus=False), Horizontal():
                yield HelpColumn(id="help-first")
                yield HelpColumn(id="help-second")
            yield Static("no match", id="help-none", markup=False)

    def on_mount(self) -> None:
        self._show()

    @on(Input.Changed)
    def _show(self) -> None:
        text = self.query_one(Input).value
        found = [section for item in self.sections if (section := item.matching(text)).lines]
        # The first column takes sections until both are about as long.
        lengths = [len(section.lines) + 2 for section in found]
        apart = [abs(sum(lengths[:count]) - sum(lengths[count:])) for count in range(len(found) + 1)]
        half = max(count for count, gap in enumerate(apart) if gap == min(apart))
        self.query_one("#help-first", HelpColumn).sections = found[:half]
        self.query_one("#help-second", HelpColumn).sections = found[half:]
        self.query_one("#help-none").set_class(not found, "-open")

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.set_focus(None)

    def action_narrow(self) -> None:
        self.query_one(HiddenInput).open()

    def action_leave(self) -> None:
        """Close the filter, or without one the help."""
        field = self.query_one(HiddenInput)
        if field.is_open:
            field.value = ""
            field.close()
            self.set_focus(None)
        else:
            self.dismiss()

    def action_scroll(self, step: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)

    def action_page(self, pages: int) -> None:
        box = self.query_one(VerticalScroll)
        box.scroll_relative(y=pages * max(1, box.size.height - 1), animate=False)


def help_content(sections: Sequence[Section], width: int) -> Content:
    """Return the sections one below the other, in `width` cells."""
    rows: list[Content] = []
    longest = max((len(item.name) for section in sections for item in section.lines), default=0)
    for section in sections:
        rows += [line("")] if rows else []
        rows.append(line((section.title, "$ink-muted")))
        names = min(_NAME, longest + 2)  # cells
        for item in section.lines:
            about = wrap(item.about, width - names)
            short = len(item.name) < names
            name = (pad(item.name, names) if short else item.name, item.style)
            rows.append(line(name, about.pop(0) if short else ""))
            rows += [line(" " * names, text) for text in about]
    return lines(rows)


def sections_of(screen: Screen[object]) -> list[Section]:
    """Return the keys that are active on `screen` in groups, the route badges, and its table's columns."""
    groups: dict[str, list[tuple[str, str]]] = {"this screen": [], "the table": [], "everywhere": []}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not binding.system and binding.id:
            group = "everywhere" if isinstance(active.node, App) else "this screen"
            if binding.action.startswith("screen.") or isinstance(active.node, VTable):
                group = "the table"
            about = active.tooltip or binding.description
            groups[group].append((screen.app.get_key_display(binding), about))
    sections = [Section(title, merged(pairs)) for title, pairs in groups.items()]
    table = screen.active_table() if isinstance(screen, TableScreen) else None
    routes = tuple(HelpLine(badge.letter, badge.word, badge.style) for badge in LEGEND)
    sections.append(Section("routes", routes))
    if screen.query(RvProgressPanel):
        marks = tuple(HelpLine(mark, about, style) for mark, about, style in MARKS)
        sections.append(Section("RV progress", marks))
    if table is not None:
        of = [HelpLine(column.id, column.meaning or column.title, "$ink-strong") for column in table.columns]
        sections.append(Section("columns, for filters and sorting", tuple(of)))
    return sections
