"""Dialogs of a table: its columns, its order, and the help of its filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ktui.core.format import safe
from ktui.core.table.columns import Column
from ktui.tui.dialogs.dialog import Dialog, framed
from ktui.tui.keys.hints import key_of
from ktui.tui.table.painting import sort_mark
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line, lines, pad, wrap


class ColumnScreen(Dialog[tuple[str, ...]], bindings="columns"):
    """The table follows each change. Returns the ids to show; () for the default, None for no change."""

    DEFAULT_CSS = """
    ColumnScreen > OptionList { width: 84; }
    """

    def __init__(self, table: VTable[Any], start: Sequence[str]) -> None:
        super().__init__()
        self._table = table
        self._start = tuple(start)
        self._chosen: tuple[str, ...] | None = None
        self._fill()

    def _fill(self) -> None:
        shown = [column.id for column in self._table.shown_columns if not column.hidden]
        self._shown = set(shown)
        self._order = [*shown, *(c.id for c in self._table.columns if c.id not in self._shown)]

    def compose(self) -> ComposeResult:
        yield framed(
            OptionList(), "columns", ("columns.down", "move"), ("columns.toggle", "shows"),
            ("columns.reset", "resets"), ("columns.close", "closes"), before=f"{key_of('columns.up')} ",
        )  # fmt: skip

    def on_mount(self) -> None:
        self._paint(0)

    @property
    def _options(self) -> OptionList:
        return self.query_one(OptionList)

    def _paint(self, cursor: int) -> None:
        known = {column.id: column for column in self._table.columns}
        fitting = {fitted.column.id for fitted in self._table.painter.fitted}
        self._options.clear_options()
        self._options.add_options([Option(self._option_text(known[name], fitting)) for name in self._order])
        self._options.highlighted = cursor

    def _option_text(self, column: Column[Any], fitting: set[str]) -> Content:
        shown = column.id in self._shown
        room = "" if not shown or column.id in fitting else "does not fit  "
        return line(
            (" ■ " if shown else " □ ", "bold $success" if shown else "$ink-muted"),
            (pad(column.id, 14), "$foreground" if shown else "$ink-muted"),
            (room, "$warning"),
            (column.meaning, "$ink-muted"),
        )

    def _show(self, cursor: int) -> None:
        self._chosen = tuple(name for name in self._order if name in self._shown)
        self._table.choose_columns(self._chosen)
        self._paint(cursor)

    def action_turn(self) -> None:
        cursor = self._options.highlighted
        if cursor is None:
            return
        name = self._order[cursor]
        if self._shown == {name}:
            self.notify("keep at least one column")
            return
        self._shown ^= {name}
        self._show(cursor)

    def action_move(self, step: int) -> None:
        cursor = self._options.highlighted
        if cursor is not None and 0 <= cursor + step < len(self._order):
            order = self._order
            order[cursor], order[cursor + step] = order[cursor + step], order[cursor]
            self._show(cursor + step)

    def action_reset(self) -> None:
        self._table.choose_columns(self._start)
        self._fill()
        self._chosen = ()
        self._paint(0)

    def action_close(self) -> None:
        self.dismiss(self._chosen)


LETTERS = ascii_lowercase.replace("q", "")  # q closes every dialog


def letters(names: Iterable[str]) -> dict[str, str]:
    """Return a letter for each name, if possible the first free one in it; without free letters, none."""
    given: dict[str, str] = {}
    for name in names:
        free = (char for char in (*name.lower(), *LETTERS) if char in LETTERS and char not in given)
        if letter := next(free, ""):
            given[letter] = name
    return {name: letter for letter, name in given.items()}


class SortScreen(Dialog[None], bindings="sort"):
    """A letter sorts by its column, or reverses that sort; with shift it sets the second key."""

    def __init__(self, table: VTable[Any]) -> None:
        super().__init__()
        self._table = table
        self._letters = letters(column.id for column in table.columns)
        self._columns = {letter: name for name, letter in self._letters.items()}

    def compose(self) -> ComposeResult:
        options = OptionList(*(Option(self._option_text(each), id=each.id) for each in self._table.columns))
        hints = ("sort.none", "none"), ("sort.close", "closes")
        yield framed(options, "sort by", *hints, before="letter · shift: second key · ")

    def on_mount(self) -> None:
        now = self._table.sort_by[0][0] if self._table.sort_by else self._table.columns[0].id
        options = self.query_one(OptionList)
        options.highlighted = options.get_option_index(now)

    def _option_text(self, column: Any) -> Content:
        return line(
            (f" {self._letters.get(column.id, ' ')} ", "bold $accent"),
            (pad(sort_mark(column.id, self._table.sort_by), 3), "bold $accent"),
            (pad(column.id, 14), "$foreground"),
            (column.meaning, "$ink-muted"),
        )

    def on_key(self, event: events.Key) -> None:
        name = self._columns.get((event.character or "").lower())
        if name is not None:
            event.stop()
            self._sort(name, second=(event.character or "").isupper())

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_id is not None:
            self._sort(event.option_id)

    def _sort(self, name: str, *, second: bool = False) -> None:
        self._table.sort(name, rank=int(second and bool(self._table.sort_by)))
        self.dismiss()

    def action_unsort(self) -> None:
        self._table.sort_by_keys(())
        self.dismiss()


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


class FilterHelpScreen(Dialog[None], bindings="filter help"):
    """Opens over the prompt in which the filter is being typed."""

    DEFAULT_CSS = f"""
    FilterHelpScreen > VerticalScroll {{ width: {_BOX}; padding: 0 2; }}
    """

    def __init__(self, table: VTable[Any]) -> None:
        super().__init__()
        self._table = table

    def compose(self) -> ComposeResult:
        with framed(VerticalScroll(), "filter", ("filter.help.close", "closes")):
            room = min(_BOX, int(self.app.size.width * 0.96)) - _FRAME - _WIDTH
            rows = [text for example, about in GRAMMAR for text in _entry(example, about, room)]
            rows += [line(""), line(("all terms must match", "$ink-muted")), line("")]
            rows += [line((pad(key, _WIDTH), "bold $accent"), about) for key, about in _KEYS]
            rows += [line(""), line(("columns of this table", "$ink-muted"))]
            for column in self._table.columns:
                title = f" ({safe(column.title)})" if column.title not in ("", column.id) else ""
                rows += _entry(f"{column.id}{title}", column.meaning, room)
            yield Static(lines(rows), markup=False)


def _entry(name: str, about: str, room: int) -> list[Content]:
    """Return lines with `name` on the left and `about` wrapped on the right."""
    first, *more = wrap(about, room)
    return [line((pad(name, _WIDTH), "$accent"), first), *(line(" " * _WIDTH, text) for text in more)]
