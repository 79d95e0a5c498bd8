"""Rows in columns below a header: painting, choice of columns, and the text that is copied."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, TypeVar

from msgspec.structs import replace
from textual import events
from textual.content import Content
from textual.strip import Strip

from ktui.core.table.columns import Column
from ktui.tui.table.painting import Painter, SortBy
from ktui.tui.table.view import HEADER, CursorView
from ktui.tui.widgets.lines import Runs

Row = TypeVar("Row")


class GridView(CursorView[Row]):
    """Paints the rows of a CursorView."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "vtable--header",
        "vtable--sorted",
        "vtable--row",
        "vtable--cursor",
        "vtable--cursor-blurred",
        "vtable--empty",
    }
    DEFAULT_CSS = """
    GridView {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        & > .vtable--header { color: $ink-muted; }
        & > .vtable--sorted { color: $accent; text-style: bold; }
        & > .vtable--row { color: $foreground; }
        & > .vtable--cursor { background: $cursor; color: $ink-strong; }
        & > .vtable--cursor-blurred { background: $cursor-blurred; }
        & > .vtable--empty { color: $ink-muted; }
    }
    """

    def __init__(
        self, columns: Sequence[Column[Row]], *, key: Callable[[Row], Hashable], follow: bool, **names: Any
    ) -> None:
        super().__init__(key=key, follow=follow, **names)
        self.columns = tuple(columns)
        self.chosen: tuple[str, ...] = ()  # ids of the columns to show, in order; (): all, in their order
        self.sort_by: SortBy = ()
        self.painter: Painter[Row] = Painter(self)
        self._footer: Runs = ()

    def show_footer(self, text: Runs) -> None:
        """Show a line below the rows; without text there is no such line."""
        if list(text) != list(self._footer):
            self._footer = text
            self._foot = int(bool(text))
            self._resize()
            self.refresh()

    # Columns.

    def choose_columns(self, ids: Sequence[str]) -> None:
        """Show the columns with these ids, in this order; with no ids all columns."""
        self.chosen = tuple(ids)
        self._refit()

    @property
    def shown_columns(self) -> tuple[Column[Row], ...]:
        """The columns to show where there is room."""
        known = {column.id: column for column in self.columns}
        chosen = [replace(known[each], hidden=False) for each in self.chosen if each in known]
        return tuple(chosen) or self.columns

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show a column's description while the mouse is on its title."""
        at = event.get_content_offset(self)
        column = self.painter.column_at(at.x) if at is not None and at.y < HEADER else None
        tooltip = Content(column.tooltip) if column is not None else None
        if tooltip != self.tooltip:
            self.tooltip = tooltip

    # Painting.

    def on_resize(self) -> None:
        self._refit()
        self._resize()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.painter.forget_styles()

    def _refit(self) -> None:
        self.painter.fit(self.shown_columns, self.scrollable_content_region.width)
        self.refresh()

    def refresh_lines_shown(self) -> None:
        """Drop all painted lines, as something besides the rows has changed."""
        self.painter.strips.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < HEADER:
            return self.painter.header(self.sort_by, width)
        if self._footer and y == self.scrollable_content_region.height - 1:
            return self.painter.foot(self._footer, width)
        index = y - HEADER + self.scroll_offset.y
        if index < len(self._rows):
            return self.painter.row(self._rows[index], self._cursor_class(index), width)
        if not self._rows:
            return self.painter.empty(self._why_empty(), y - HEADER, width)
        return self.painter.blank(width)

    def _cursor_class(self, index: int) -> str:
        if index != self._cursor:
            return ""
        return "vtable--cursor" if self.has_focus else "vtable--cursor-blurred"

    def _why_empty(self) -> str:
        """Return the text shown where there is no row."""
        return ""

    # What is copied.

    @property
    def row_key(self) -> Hashable:
        return None if self.row is None else self._key(self.row)

    @property
    def row_text(self) -> str:
        """The values under the cursor in the visible columns, separated by tabs."""
        values = [] if self.row is None else [each.column.value_of(self.row) for each in self.painter.fitted]
        return "\t".join("" if value is None else str(value) for value in values)

    @property
    def main_text(self) -> str:
        """What the copy key takes from the row: the text of a column with `copied`, else the main cell."""
        if self.row is None:
            return ""
        for column in self.columns:
            if column.copied is not None:
                return column.copied(self.row)
        column = min(self.columns, key=lambda each: (not each.flex, each.priority, -each.flex))
        return str(column.value_of(self.row))
