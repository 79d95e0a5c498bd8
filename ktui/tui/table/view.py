"""A scrolling view of rows with a cursor: columns, painting, keys and mouse."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import indexOf
from typing import Any, ClassVar, Generic, TypeVar

from msgspec.structs import replace
from textual import events
from textual.content import Content
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from ktui.core.table.columns import Column
from ktui.tui.table.painting import Painter, SortBy
from ktui.tui.widgets.lines import Runs

Row = TypeVar("Row")
HEADER = 1  # lines
_NEAR = 200  # rows before and after its old place in which a row is looked for first


class RowsView(ScrollView, Generic[Row]):
    """Rows in columns below a header.

    The cursor stays on its row, and the row on its line, while others come and go. Until the user
    moves it, the cursor stays at its index instead; while `following`, on the last row.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"vtable--{part}" for part in ("header", "sorted", "row", "cursor", "cursor-blurred", "empty")
    }
    DEFAULT_CSS = """
    RowsView {
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
        super().__init__(**names)
        self.columns = tuple(columns)
        self.chosen: tuple[str, ...] = ()  # ids of the columns to show, in order; (): all, in their order
        self.sort_by: SortBy = ()
        self.painter: Painter[Row] = Painter(self)
        self.following = follow
        self._follows = follow
        self._key = key
        self._rows: Sequence[Row] = ()
        self._cursor = 0
        self._moved = False  # by the user
        self._placing = False  # the program scrolls, not the user
        self._footer: Runs = ()  # a line below the rows
        # What was painted last: (width, top, number of rows, text if empty), cursor, rows.
        self._painted: tuple[tuple[object, ...], int, tuple[Row, ...]] = ((), 0, ())

    @property
    def row(self) -> Row | None:
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    @property
    def page(self) -> int:
        """Rows in view."""
        return max(1, self.scrollable_content_region.height - HEADER - bool(self._footer))

    # For subclasses.

    def _announce(self, by_user: bool) -> None:
        """Called when the cursor may be on another row."""

    def _why_empty(self) -> str:
        """Return the text shown where there is no row."""
        return ""

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

    def show_footer(self, text: Runs) -> None:
        """Show a line below the rows; without text there is no such line."""
        if list(text) != list(self._footer):
            self._footer = text
            self._resize()
            self.refresh()

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
        self.painter.forget_strips()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < HEADER:
            return self.painter.header(self.sort_by, width)
        if self._footer and y == self.scrollable_content_region.height - 1:
            return self.painter.foot(self._footer, width)
        index = y - HEADER + self.scroll_offset.y
        if index < len(self._rows):
            cursor = "vtable--cursor" if self.has_focus else "vtable--cursor-blurred"
            return self.painter.row(self._rows[index], cursor if index == self._cursor else "", width)
        if not self._rows:
            return self.painter.empty(self._why_empty(), y - HEADER, width)
        return self.painter.blank(width)

    def refresh_changes(self) -> None:
        """Paint the lines that have changed since the last call."""
        width, top = self.scrollable_content_region.width, self.scroll_offset.y
        rows = tuple(self._rows[top : top + self.page])
        empty = "" if self._rows else self._why_empty()
        place = (width, top, len(rows), empty)
        (old_place, old_cursor, old_rows), self._painted = self._painted, (place, self._cursor, rows)
        if place != old_place:
            self.refresh()
            return
        changed = {at for at, (new, old) in enumerate(zip(rows, old_rows, strict=True)) if new is not old}
        if self._cursor != old_cursor:
            changed |= {self._cursor - top, old_cursor - top} & set(range(len(rows)))
        if changed:
            self.refresh(*(Region(0, HEADER + at, width, 1) for at in changed))

    # What is copied.

    @property
    def row_text(self) -> str:
        """The values under the cursor in the visible columns, separated by tabs."""
        values = [] if self.row is None else [each.column.read(self.row) for each in self.painter.fitted]
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
        return str(column.read(self.row))

    # Rows and the cursor in them.

    def _replace_rows(self, rows: Sequence[Row]) -> None:
        before, place = self.row, self._cursor
        self._rows = rows
        last = max(0, len(rows) - 1)
        anchored = False
        if self.following:
            self._cursor = last
        elif before is not None and self._moved:
            found = self._find(before, min(place, last))
            anchored = found is not None
            self._cursor = min(place, last) if found is None else found
        else:
            self._cursor = min(place, last)
        self._resize(self._cursor - place if anchored else 0)

    def _find(self, row: Row, near: int) -> int | None:
        """Return the index of the row with the key of `row`, searching near its old index first."""
        rows, key_of, key = self._rows, self._key, self._key(row)
        for index in range(max(0, near - _NEAR), min(len(rows), near + _NEAR)):
            if key_of(rows[index]) == key:
                return index
        try:
            return indexOf(map(key_of, rows), key)
        except ValueError:
            return None

    def move_to(self, index: int, *, by_user: bool = True) -> None:
        """Move the cursor to a row and bring it into view."""
        last = max(0, len(self._rows) - 1)
        self._moved = True
        self._cursor = max(0, min(index, last))
        self.following = self._follows and self._cursor == last
        self._scroll_by(0)
        self._announce(by_user=by_user)
        self.refresh_changes()

    def go_to(self, key: Hashable) -> bool:
        """Move the cursor to the row with this key. Return False, and stay, if there is none."""
        index = next((index for index, row in enumerate(self._rows) if self._key(row) == key), None)
        if index is not None:
            self.move_to(index)
        return index is not None

    def _scroll_by(self, lines: int) -> None:
        """Scroll by `lines`, and further if the cursor would be out of view."""
        top = before = self.scroll_offset.y
        top = max(0, top + lines)
        if self._cursor < top:
            top = self._cursor
        elif self._cursor >= top + self.page:
            top = self._cursor - self.page + 1
        if top != before:
            self._placing = True
            self.scroll_to(y=top, animate=False, immediate=True)
            self._placing = False

    def _resize(self, scroll: int = 0) -> None:
        """Adopt the number of rows without assigning `virtual_size`, which lays out the whole screen."""
        height = len(self._rows) + HEADER + bool(self._footer)
        before, size = self.virtual_size, Size(self.scrollable_content_region.width, height)
        if size != before:
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            self._placing = True
            self.scroll_y = self.validate_scroll_y(self.scroll_y)
            self._placing = False
            self.watch_virtual_size(before, size)
        self._scroll_by(scroll)

    def watch_virtual_size(self, _old: Size, _new: Size) -> None:
        """Called after a change of the number of rows."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._placing and self._rows:
            self._drag_cursor(round(new_value), down=new_value > old_value)

    def _drag_cursor(self, top: int, *, down: bool) -> None:
        """Keep the cursor in view while the user scrolls by wheel or bar; follow again at the end."""
        last = len(self._rows) - 1
        at_end = top + self.page > last
        self.following = self._follows and at_end and (down or self.following)
        index = last if self.following else min(max(top, min(self._cursor, top + self.page - 1)), last)
        if index != self._cursor:
            self._moved = True
            self._cursor = index
            self._announce(by_user=True)

    # Keys and mouse.

    def action_cursor(self, step: int) -> None:
        self.move_to(self._cursor + step)

    def action_page(self, pages: int) -> None:
        self.move_to(self._cursor + pages * self.page)

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self._rows) - 1)

    def on_focus(self) -> None:
        self.refresh()

    on_blur = on_focus
