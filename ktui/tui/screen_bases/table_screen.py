"""The keys of tables, the same on every screen.

The app's keys reach these actions as `screen.sort` and so on: only screens with tables have them.
Their dialogs are imported when they open, which keeps the time to the first frame short.
"""

from __future__ import annotations

from typing import Any, ClassVar

from textual.widget import Widget

from ktui.tui.screen_bases.filtering import FilteringScreen
from ktui.tui.table.vtable import VTable


class TableScreen(FilteringScreen):
    """A screen with tables and a Prompt: filter, sort, hold, choose columns, copy, export."""

    MODE: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._zoomed: list[Widget] = []  # widgets whose place a zoom has changed

    def on_mount(self) -> None:
        for table in self.query(VTable):
            if chosen := self.ktui.tables.columns.of(self.table_id(table)):
                table.choose_columns(chosen)

    def table_id(self, table: VTable[Any]) -> str:
        """Return a table's id in the config and state files: `requests.log`."""
        return f"{self.MODE}.{table.name or table.id}"

    def selected_object(self) -> tuple[str, Any] | None:
        """Return the title and the JSON value (or text) that `y` shows; None without a selection."""
        return None

    def action_show_object(self) -> None:
        selection = self.selected_object()
        if selection is None:
            self.notify("nothing selected")
        else:
            from ktui.tui.dialogs.text import TextScreen  # start-up time

            self.app.push_screen(TextScreen(*selection))

    def action_sort(self) -> None:
        if table := self.active_table():
            from ktui.tui.dialogs.table_dialogs import SortScreen  # start-up time

            self.app.push_screen(SortScreen(table))

    def action_sort_turn(self) -> None:
        if (table := self.active_table()) and table.sort_by:
            column_id, descending = table.sort_by[0]
            table.sort(column_id, not descending)

    def action_follow(self) -> None:
        if table := self.active_table():
            table.action_follow()

    def action_zoom(self) -> None:
        """Show the focused panel alone, or all panels again."""
        zoomed, self._zoomed = self._zoomed, []
        for widget in zoomed:
            widget.display = True  # Textual does not notice when only the rule is cleared
            for rule in ("width", "height", "max_width", "max_height", "display"):
                widget.styles.inline.clear_rule(rule)
        self.refresh(layout=True)
        if zoomed:
            return
        box = next((each for each in self._around(self.focused) if each.has_class("box")), None)
        if box is None:
            self.notify("no panel has the focus")
            return
        for widget in (box, *self._around(box.parent)):
            widget.styles.width, widget.styles.height = "100%", "1fr"
            widget.styles.max_width = widget.styles.max_height = "100%"
            self._zoomed.append(widget)
            for sibling in widget.siblings:
                if sibling.display and isinstance(sibling, Widget):
                    sibling.styles.display = "none"
                    self._zoomed.append(sibling)

    def _around(self, widget: object) -> list[Widget]:
        """Return the widget and its ancestors below `content`, from the inside out."""
        found: list[Widget] = []
        while isinstance(widget, Widget) and widget.id != "content" and widget is not self:
            found.append(widget)
            widget = widget.parent
        return found

    def action_columns(self) -> None:
        """Choose the table's columns, for this and later runs."""
        from ktui.tui.dialogs.table_dialogs import ColumnScreen  # start-up time

        table = self.active_table()
        if table is None:
            return
        kept, table_id = self.ktui.tables.columns, self.table_id(table)

        def keep(ids: tuple[str, ...] | None) -> None:
            if ids is not None and (problem := kept.choose(table_id, ids)):
                self.notify(problem, severity="warning")

        self.app.push_screen(ColumnScreen(table, kept.preferred(table_id)), keep)
