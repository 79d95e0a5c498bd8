"""The choice of a table's columns and their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ktui.core.table.columns import Column
from ktui.tui.dialogs.dialog import Dialog
from ktui.tui.keys import bindings as keys
from ktui.tui.keys.hints import key_hints, key_of
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import line, pad


class ColumnScreen(Dialog[tuple[str, ...] | None]):
    """The table follows each change. Returns the ids to show; () for the default, None for no change."""

    DEFAULT_CSS = """
    ColumnScreen > OptionList { width: 84; }
    """
    BINDINGS: ClassVar[list[BindingType]] = keys.COLUMNS

    def __init__(self, table: VTable[Any], start: Sequence[str]) -> None:
        super().__init__()
        self._table = table
        self._start = tuple(start)
        self._changed = False
        self._fill()

    def _fill(self) -> None:
        shown = [column.id for column in self._table.shown_columns if not column.hidden]
        self._shown = set(shown)
        self._order = [*shown, *(c.id for c in self._table.columns if c.id not in self._shown)]

    def compose(self) -> ComposeResult:
        options = OptionList()
        options.border_title = "columns"
        options.border_subtitle = line(
            f"{key_of('columns.up')} ",
            key_hints(
                ("columns.down", "move"),
                ("columns.toggle", "shows"),
                ("columns.reset", "resets"),
                ("columns.close", "closes"),
            ).plain,
        )
        yield options

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
        self._changed = True
        self._table.choose_columns([name for name in self._order if name in self._shown])
        self._paint(cursor)

    def action_turn(self) -> None:
        cursor = self._options.highlighted
        if cursor is None:
            return
        name = self._order[cursor]
        if self._shown == {name}:
            self.notify("keep at least one column", markup=False)
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
        self._changed = False
        self._paint(0)
        self._reset = True

    _reset = False

    def action_close(self) -> None:
        if self._changed:
            self.dismiss(tuple(name for name in self._order if name in self._shown))
        else:
            self.dismiss(() if self._reset else None)
