"""What the keys do to the current table, on every screen alike.

The app's keys reach these actions as `screen.sort` and so on, so that only screens
with tables have them. Their dialogs are loaded then: the first frame comes before.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ktui.tui.screen_bases.copy_export import ExportingScreen
from ktui.tui.table.vtable import VTable


class TableScreen(ExportingScreen):
    """A screen with tables and a Prompt: filter, sort, hold, choose columns, copy, export, show."""

    MODE: ClassVar[str] = ""

    def on_mount(self) -> None:
        for table in self.query(VTable):
            if chosen := self.ktui.tables.columns.of(self.table_id(table)):
                table.choose_columns(chosen)

    def table_id(self, table: VTable[Any]) -> str:
        """`requests.log`: what config and state file call a table."""
        return f"{self.MODE}.{table.name or table.id}"

    def selected_object(self) -> tuple[str, Any] | None:
        """What `y` shows: a title and a JSON value (or a text)."""
        return None

    def action_show_object(self) -> None:
        selection = self.selected_object()
        if selection is None:
            self.notify("nothing selected", markup=False)
        else:
            from ktui.tui.dialogs.text import TextScreen  # start-up time

            self.app.push_screen(TextScreen(*selection))

    def action_sort(self) -> None:
        if table := self.active_table():
            from ktui.tui.dialogs.sort import SortScreen  # start-up time

            self.app.push_screen(SortScreen(table))

    def action_sort_turn(self) -> None:
        if table := self.active_table():
            table.action_sort_turn()

    def action_follow(self) -> None:
        if table := self.active_table():
            table.action_follow()

    def action_columns(self) -> None:
        """Choose the columns of the table; the choice is kept for the next run."""
        from ktui.tui.dialogs.columns import ColumnScreen  # start-up time

        table = self.active_table()
        if table is None:
            return
        kept, table_id = self.ktui.tables.columns, self.table_id(table)

        def keep(ids: tuple[str, ...] | None) -> None:
            if ids is not None and (problem := kept.choose(table_id, ids)):
                self.notify(problem, severity="warning", markup=False)

        self.app.push_screen(ColumnScreen(table, kept.preferred(table_id)), keep)
