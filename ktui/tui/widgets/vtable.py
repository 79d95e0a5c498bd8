"""The one table for everything live: virtual, painted line by line.

Only visible lines are ever built, so 100,000 rows cost what 30 do. Rows are any
objects; a row that changes is replaced by a new object, whose identity is the key
of what has been painted of it.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from ktui.tui import keys
from ktui.tui.model.filter import Filter, parse_filter
from ktui.tui.model.format import safe
from ktui.tui.widgets.columns import GAP, Column, Fitted, fit, plain, runs
from ktui.tui.widgets.ink import Ink

Row = TypeVar("Row")
HEADER = 1  # lines


class VTable(ScrollView, Generic[Row], can_focus=True, inherit_bindings=False):
    """A sortable, filterable table with a cursor.

    `key` gives a row's lasting identity: once somebody has moved the cursor, it
    stays on its row while others come and go. With `follow` the cursor keeps to the last row until it is
    moved, and again once it is moved there.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "vtable--header",
        "vtable--sorted",
        "vtable--row",
        "vtable--cursor",
        "vtable--cursor-blurred",
        "vtable--empty",
    }
    DEFAULT_CSS = """
    VTable {
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
    BINDINGS: ClassVar[list[BindingType]] = keys.TABLE

    class Highlighted(Message):
        """The cursor is on another row, or on a newer state of the same one.

        `by_user` is False when only the data has changed under the cursor.
        """

        def __init__(self, table: VTable[Any], row: Any, by_user: bool = True) -> None:
            super().__init__()
            self.table = table
            self.row = row
            self.by_user = by_user

        @property
        def control(self) -> VTable[Any]:
            return self.table

    class Selected(Highlighted):
        """Enter or a double click on a row."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        *,
        key: Callable[[Row], Hashable],
        empty: str = "nothing yet",
        follow: bool = False,
        name: str | None = None,
        id: str | None = None,  # noqa: A002  # Textual's name
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.columns = tuple(columns)
        self.empty = empty
        self.following = follow
        self.sort_by: tuple[tuple[str, bool], ...] = ()  # (column id, descending), first key first
        self.filter: Filter[Row] = Filter("")
        self._follows = follow
        self._key = key
        self._all: Sequence[Row] = ()
        self._rows: Sequence[Row] = ()
        self._cursor = 0
        self._moved = False  # by somebody: until then the cursor stays where it began
        self._announced: Row | None = None
        self._view: tuple[Any, ...] = ()  # what was last on the screen: top, cursor, rows
        self._fitted: tuple[Fitted[Row], ...] = ()
        self._strips: LRUCache[tuple[Hashable, ...], tuple[Row, Strip]] = LRUCache(2048)
        self._ink = Ink(self)

    # What others ask.

    @property
    def rows(self) -> Sequence[Row]:
        """The rows shown, filtered and sorted."""
        return self._rows

    @property
    def total(self) -> int:
        """Rows before the filter."""
        return len(self._all)

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._rows[self._cursor] if self._cursor < len(self._rows) else None

    # What others tell it.

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows (in their own order unless sorted)."""
        self._all = rows
        self._arrange(by_user=False)

    def set_columns(self, columns: Sequence[Column[Row]]) -> None:
        self.columns = tuple(columns)
        self.sort_by = tuple(part for part in self.sort_by if part[0] in {c.id for c in columns})
        self._refit()
        self._arrange()

    def set_filter(self, text: str) -> None:
        """Filter by `text`; raises FilterError and keeps the old filter when it makes no sense."""
        self.filter = parse_filter(text, {column.id: column.value_of for column in self.columns})
        self._arrange()

    def sort(self, column_id: str, descending: bool | None = None) -> None:
        """Sort by a column; the column sorted by before becomes the second key."""
        column = next(column for column in self.columns if column.id == column_id)
        if descending is None:
            descending = column.descending
        rest = tuple(part for part in self.sort_by if part[0] != column_id)[:1]
        self.sort_by = ((column_id, descending), *rest)
        self._arrange()

    def unsort(self) -> None:
        self.sort_by = ()
        self._arrange()

    def to_csv(self) -> str:
        """All columns of the rows shown; text as it is on the screen (made safe)."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([column.id for column in self.columns])
        for row in self._rows:
            writer.writerow([safe(str(column.value_of(row))) for column in self.columns])
        return out.getvalue()

    # Order and cursor.

    def _arrange(self, by_user: bool = True) -> None:
        before = self.row
        keep_key = self._key(before) if before is not None else None
        rows: Sequence[Row] = self._all
        if self.filter:
            rows = [row for row in rows if self.filter.matches(row)]
        for column_id, descending in reversed(self.sort_by):
            column = next(column for column in self.columns if column.id == column_id)
            rows = sorted(rows, key=column.value_of, reverse=descending)
        self._rows = rows
        self._place_cursor(keep_key)
        self._announce(by_user)
        self._resize()
        if not self._same_in_view():
            self.refresh()

    def _same_in_view(self) -> bool:
        """Whether nothing that is on the screen has changed: then nothing need be painted."""
        top = self.scroll_offset.y
        view = (top, self._cursor, *self._rows[top : top + self.size.height])
        before, self._view = self._view, view
        if not self._rows or len(view) != len(before) or view[:2] != before[:2]:
            return False
        return all(new is old for new, old in zip(view[2:], before[2:], strict=True))

    def _place_cursor(self, keep_key: Hashable | None) -> None:
        last = max(0, len(self._rows) - 1)
        if self.following:
            self._cursor = last
        elif keep_key is not None and self._moved:
            self._cursor = self._find(keep_key, min(self._cursor, last))
        else:
            self._cursor = min(self._cursor, last)

    def _find(self, key: Hashable, near: int) -> int:
        """Index of the row with `key`: looked for near its old place first."""
        rows, key_of = self._rows, self._key
        for index in range(max(0, near - 200), min(len(rows), near + 200)):
            if key_of(rows[index]) == key:
                return index
        return next((index for index, row in enumerate(rows) if key_of(row) == key), near)

    def _announce(self, by_user: bool = True) -> None:
        row = self.row
        if row is not self._announced:
            self._announced = row
            if row is not None:
                self.post_message(self.Highlighted(self, row, by_user))

    def move_to(self, index: int) -> None:
        """Put the cursor on a row shown and bring it into view."""
        last = max(0, len(self._rows) - 1)
        self._moved = True
        self._cursor = max(0, min(index, last))
        self.following = self._follows and self._cursor == last
        self._show_cursor()
        self._announce()
        self.refresh()

    def _show_cursor(self) -> None:
        page = max(1, self.scrollable_content_region.height - HEADER)
        top = self.scroll_offset.y
        if self._cursor < top:
            top = self._cursor
        elif self._cursor >= top + page:
            top = self._cursor - page + 1
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)

    def _resize(self) -> None:
        """Take on the rows' height. Set directly it would lay out the whole screen, at each new row."""
        before, size = self.virtual_size, Size(self.scrollable_content_region.width, len(self._rows) + HEADER)
        if size != before:
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            self.scroll_y = self.validate_scroll_y(self.scroll_y)
            self.watch_virtual_size(before, size)
        self._show_cursor()

    def watch_virtual_size(self, _old: Size, _new: Size) -> None:
        """There are more rows, or fewer."""

    # Keys and mouse.

    def action_cursor(self, step: int) -> None:
        self.move_to(self._cursor + step)

    def action_page(self, pages: int) -> None:
        self.move_to(self._cursor + pages * max(1, self.scrollable_content_region.height - HEADER))

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(len(self._rows) - 1)

    def action_select(self) -> None:
        if self.row is not None:
            self.post_message(self.Selected(self, self.row))

    def action_sort_next(self) -> None:
        """Sort by the next visible column; past the last one, by none."""
        ids = [fitted.column.id for fitted in self._fitted]
        now = self.sort_by[0][0] if self.sort_by else None
        place = ids.index(now) + 1 if now in ids else 0
        if place < len(ids):
            self.sort(ids[place])
        else:
            self.unsort()

    def action_sort_turn(self) -> None:
        """Turn the direction of the sort round."""
        if self.sort_by:
            (column_id, descending), *rest = self.sort_by
            self.sort_by = ((column_id, not descending), *rest)
            self._arrange()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        if at is None:
            return
        if at.y < HEADER:
            self._sort_at(at.x)
            return
        index = at.y - HEADER + self.scroll_offset.y
        if index < len(self._rows):
            self.move_to(index)
            if event.chain == 2:
                self.action_select()

    def _sort_at(self, x: int) -> None:
        left = 0
        for fitted in self._fitted:
            if left <= x < left + fitted.width + GAP:
                turned = bool(self.sort_by) and self.sort_by[0][0] == fitted.column.id
                if turned:
                    self.action_sort_turn()
                else:
                    self.sort(fitted.column.id)
                return
            left += fitted.width + GAP

    # Painting.

    def on_resize(self) -> None:
        self._refit()
        self._resize()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._ink.forget()
        self._strips.clear()

    def _refit(self) -> None:
        self._fitted = fit(self.columns, self.scrollable_content_region.width)
        self._strips.clear()
        self.refresh()

    def refresh_lines_shown(self) -> None:
        """Forget what has been painted (a row's cells depend on more than the row)."""
        self._strips.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < HEADER:
            return self._header_line(width)
        index = y - HEADER + self.scroll_offset.y
        if index < len(self._rows):
            return self._row_line(self._rows[index], index, width)
        if not self._rows:
            return self._empty_line(y - HEADER, width)
        return Strip([Segment(" " * width, self.get_component_rich_style("vtable--row"))], width)

    def _empty_line(self, y: int, width: int) -> Strip:
        """Why there is no row, wrapped between words."""
        text = self.empty if not self._all else f"no row matches {self.filter.text}"
        texts = textwrap.wrap(safe(text), max(1, width))
        line = texts[y] if y < len(texts) else ""
        return Strip(
            [Segment(set_cell_size(line, width), self.get_component_rich_style("vtable--empty"))], width
        )

    def _header_line(self, width: int) -> Strip:
        base = self.get_component_rich_style("vtable--header")
        marked = base + self.get_component_rich_style("vtable--sorted")
        order = dict(self.sort_by[:1])
        segments = []
        for fitted in self._fitted:
            column = fitted.column
            title, style = column.title, base
            if column.id in order:
                title, style = f"{title}{'▾' if order[column.id] else '▴'}", marked
            segments.append(Segment(_padded(title, fitted.width, column.align), style))
            segments.append(Segment(" " * GAP, base))
        return Strip(segments).adjust_cell_length(width, base).simplify()

    def _row_line(self, row: Row, index: int, width: int) -> Strip:
        at_cursor = index == self._cursor
        state = (at_cursor, at_cursor and self.has_focus)
        cached = self._strips.get((id(row), state, width))
        if cached is not None and cached[0] is row:
            return cached[1]
        base = self.get_component_rich_style("vtable--row")
        if at_cursor:
            name = "vtable--cursor" if self.has_focus else "vtable--cursor-blurred"
            base = base + self.get_component_rich_style(name)
        segments: list[Segment] = []
        for fitted in self._fitted:
            segments += self._cell(row, fitted, base)
            segments.append(Segment(" " * GAP, base))
        strip = Strip(segments).adjust_cell_length(width, base).simplify()
        self._strips[(id(row), state, width)] = (row, strip)
        return strip

    def _cell(self, row: Row, fitted: Fitted[Row], base: Style) -> list[Segment]:
        cell = fitted.column.cell(row)
        parts = [(safe(text), base + self._ink(style)) for text, style in runs(cell)]
        length = sum(cell_len(text) for text, _ in parts)
        if length > fitted.width:
            return _cropped(parts, fitted.width)
        blank = Segment(" " * (fitted.width - length), base)
        segments = [Segment(text, style) for text, style in parts]
        return [blank, *segments] if fitted.column.align == "right" else [*segments, blank]

    def cell_text(self, row: Row) -> list[str]:
        """The texts of a row's visible cells, uncropped (for tests and exports)."""
        return [plain(fitted.column.cell(row)) for fitted in self._fitted]

    def cursor_region(self) -> Region:
        """Where the cursor's line is, in the widget's own coordinates."""
        return Region(0, self._cursor - self.scroll_offset.y + HEADER, self.size.width, 1)


def _padded(text: str, width: int, align: str) -> str:
    if align == "right":
        return text.rjust(width)[-width:] if len(text) <= width else text[:width]
    return set_cell_size(text, width)


def _cropped(parts: list[tuple[str, Style]], width: int) -> list[Segment]:
    """The runs cut to `width` cells, with an ellipsis in the last one."""
    segments: list[Segment] = []
    left = width
    for text, style in parts:
        length = cell_len(text)
        if length < left or (length == left and (text, style) == parts[-1]):
            segments.append(Segment(text, style))
            left -= length
            continue
        segments.append(Segment(set_cell_size(text, max(0, left - 1)) + "…", style))
        break
    return segments
