"""Help for `/`: the grammar of filters, and the columns of the table."""

from __future__ import annotations

import textwrap
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from ktui.core.format import safe
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line, lines, pad

GRAMMAR = (
    ("pods", "rows with this text in any column"),
    ("route:E", "a word of the value starts with it"),
    ("client~cilium", "the value contains it"),
    ("client~/^kube-/", "… matches a regular expression; ~/…/ in any column"),
    ("verb=LIST", "the value is exactly this; != is not"),
    ("ms>10 bytes>=4k", "greater, less (> < >= <=); 4k, 1.5M; times as 300ms, 5m, 2h"),
    ("!client~kube", "negates a term"),
    ("client~'a b'", "quotes allow spaces"),
)
_KEYS = (
    ("tab →", "accept the suggestion"),
    ("↑ ↓", "earlier filters, of previous runs too"),
    ("enter", "keep the filter; it applies on other screens too"),
    ("esc", "clear the filter, here or in the table"),
)
_WIDTH = 18
_BOX, _FRAME = 84, 8  # cells of the box; those of them for frame, padding, gap and scroll bar


class FilterHelpScreen(Dialog[None]):
    """Opens over the prompt in which the filter is being typed."""

    DEFAULT_CSS = f"""
    FilterHelpScreen > VerticalScroll {{ width: {_BOX}; padding: 0 2; }}
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.CLOSE_FILTER_HELP

    def __init__(self, table: VTable[Any]) -> None:
        super().__init__()
        self._table = table

    def compose(self) -> ComposeResult:
        box = VerticalScroll()
        box.border_title = "filter"
        box.border_subtitle = key_hints(("filter.help.close", "closes"))
        with box:
            room = min(_BOX, int(self.app.size.width * 0.96)) - _FRAME - _WIDTH
            yield Static(filter_help(self._table, room), markup=False)


def filter_help(table: VTable[Any], room: int) -> Content:
    """Return the grammar with examples, the keys, and the table's columns; descriptions take `room` cells."""
    rows = [text for example, about in GRAMMAR for text in _entry(example, about, room)]
    rows += [line(""), line(("all terms must match", "$ink-muted")), line("")]
    rows += [line((pad(key, _WIDTH), "bold $accent"), about) for key, about in _KEYS]
    rows += [line(""), line(("columns of this table", "$ink-muted"))]
    for column in table.columns:
        title = f" ({safe(column.title)})" if column.title not in ("", column.id) else ""
        rows += _entry(f"{column.id}{title}", column.meaning, room)
    return lines(rows)


def _entry(name: str, about: str, room: int) -> list[Content]:
    """Return lines with `name` on the left and `about` wrapped on the right."""
    first, *more = textwrap.wrap(about, max(10, room)) or [""]
    return [line((pad(name, _WIDTH), "$accent"), first), *(line(" " * _WIDTH, text) for text in more)]
