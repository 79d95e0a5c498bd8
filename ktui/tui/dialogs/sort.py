"""The choice of the column to sort by, a letter for each."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints
from ktui.tui.table.painting import sort_mark
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line, pad

LETTERS = ascii_lowercase.replace("q", "")  # q closes every dialog


def letters(names: Iterable[str]) -> dict[str, str]:
    """Return a letter for each name, if possible the first free one in it; without free letters, none."""
    given: dict[str, str] = {}
    for name in names:
        free = [char for char in (*name.lower(), *ascii_lowercase) if char in LETTERS]
        letter = next((char for char in free if char not in given), "")
        if letter:
            given[letter] = name
    return {name: letter for letter, name in given.items()}


class SortScreen(Dialog[None]):
    """A letter sorts by its column, or reverses that sort; with shift it sets the second key."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SORT

    def __init__(self, table: VTable[Any]) -> None:
        super().__init__()
        self._table = table
        self._letters = letters(column.id for column in table.columns)
        self._columns = {letter: name for name, letter in self._letters.items()}

    def compose(self) -> ComposeResult:
        options = OptionList(
            *(Option(self._option_text(column), id=column.id) for column in self._table.columns)
        )
        options.border_title = "sort by"
        options.border_subtitle = line(
            "letter · shift: second key · ", key_hints(("sort.none", "none"), ("sort.close", "closes")).plain
        )
        yield options

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
        table = self._table
        table.sort(name, rank=int(second and bool(table.sort_by)))
        self.dismiss()

    def action_unsort(self) -> None:
        self._table.unsort()
        self.dismiss()
