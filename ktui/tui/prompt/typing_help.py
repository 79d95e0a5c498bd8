"""Completion and hints while a filter is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ktui.core.format import integer
from ktui.core.table.filter import fields_of
from ktui.tui.table.vtable import VTable

if TYPE_CHECKING:
    from ktui.core.table.filter_assist import Assist, FilterSuggestion

FILTER_HINT = "word  column:begins  ~contains  ms>10  !not"


class TypingHelp:
    """Completion and hints while the filter of one table is typed."""

    def __init__(self, table: VTable[Any]) -> None:
        self._table = table
        self._fields = fields_of(table.columns)

    def suggestions(self, text: str) -> Sequence[FilterSuggestion]:
        return self._assist(text).suggestions

    def completion(self, text: str) -> str:
        return self._assist(text).completion

    def hint(self, text: str) -> str:
        table = self._table
        if not text.strip():
            return f"{FILTER_HINT}  ? explains"
        from ktui.core.table.filter_assist import ignored_hint  # start-up time

        aside = table.filter.aside
        phrase = self._assist(text).hint if aside is None else ignored_hint(aside, self._fields)
        return f"{integer(len(table.rows))} of {integer(table.total)}  {phrase}"

    def _assist(self, text: str) -> Assist:
        from ktui.core.table.filter_assist import assist  # start-up time

        return assist(text, self._fields, self._table.all_rows)

    def popup(self) -> None:
        from ktui.tui.dialogs.table_dialogs import FilterHelpScreen  # start-up time

        self._table.app.push_screen(FilterHelpScreen(self._table))
