"""Sorted and filtered rows, arranged in steps so that no key waits for them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, TypeVar

from msgspec.structs import replace
from textual import events
from textual.content import Content
from textual.strip import Strip
from textual.timer import Timer

from ktui.core.format import integer
from ktui.core.table.arrange.arranger import Arranger
from ktui.core.table.arrange.order import SortKey
from ktui.core.table.columns import Column
from ktui.core.table.filter import Filter, fields_of, parse_filter
from ktui.tui.table.painting import Painter, SortBy
from ktui.tui.table.view import HEADER, CursorView
from ktui.tui.widgets.lines import Runs

Row = TypeVar("Row")


STEP = 0.004  # seconds of arranging before other work has its turn
REST = 0.012  # seconds for other work between two steps while no user waits
BREATH = 0.004  # the same while a user waits


class ArrangedView(CursorView[Row]):
    """Rows in columns below a header, filtered and sorted by an Arranger.

    It chooses the columns that fit, and the text that is copied.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"vtable--{part}" for part in ("header", "sorted", "row", "cursor", "cursor-blurred", "empty")
    }
    DEFAULT_CSS = """
    ArrangedView {
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
        self.filter: Filter[Row] = Filter("")
        self._arranger: Arranger[Row] = Arranger()
        self._next_step: Timer | None = None

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

    def _mark(self) -> None:
        """Called when the text in the table's frame may have changed."""

    # Properties.

    @property
    def rows(self) -> Sequence[Row]:
        """The rows shown, filtered and sorted."""
        return self._rows

    @property
    def all_rows(self) -> Sequence[Row]:
        """The rows before the filter."""
        return self._arranger.all

    @property
    def total(self) -> int:
        return len(self._arranger.all)

    @property
    def arranging(self) -> bool:
        return self._arranger.busy

    @property
    def doing(self) -> str:
        """`filtering 40%` or `sorting` while a long arrangement runs, else ""."""
        if not self._arranger.lasts:
            return ""
        share = int(self._arranger.progress * 10) * 10  # in steps of 10%: each is painted
        return f"filtering {share}%" if self.filter and share < 100 else "sorting"

    @property
    def absent(self) -> str:
        """`12 without ms: last`: rows without a value to sort by; "" if all have one."""
        absent = self._arranger.absent
        return f"{integer(absent)} without {self.sort_by[0][0]}: last" if absent else ""

    @property
    def hidden(self) -> int | None:
        """Number of rows that the filter hides; None if unknown."""
        return len(self._arranger.all) - len(self._rows)

    # Setting rows, columns, filter and sort.

    def set_columns(self, columns: Sequence[Column[Row]]) -> None:
        """Replace the columns; a sort by a removed column ends."""
        self.columns = tuple(columns)
        self._refit()
        self.sort_by_keys(tuple(part for part in self.sort_by if part[0] in {c.id for c in columns}))

    def set_filter(self, text: str, carried: Sequence[str] = (), *, typing: bool = False) -> None:
        """Filter by `text`. Raises FilterError for invalid text and keeps the old filter.

        Terms of `carried` that name no column of this table have no effect here. With `typing`, an
        unfinished term does not empty the table.
        """
        self.filter = parse_filter(text, fields_of(self.columns), carried, typing=typing)
        self._arranger.set_filter(self.filter)
        if self._arranger.little:
            self._arrange_rows()
            return
        # Paint the typed letter first; a further letter starts this again.
        self._cancel_next_step()
        self._mark()
        self.call_after_refresh(self._arrange_rows)

    def sort(self, column_id: str, descending: bool | None = None, *, rank: int = 0) -> None:
        """Sort by a column, as the first key or, with `rank` 1, as the second.

        A new first key makes the previous first key the second. Without `descending`, a column that
        has the rank already reverses its direction.
        """
        column = next(column for column in self.columns if column.id == column_id)
        if descending is None:
            now = dict(self.sort_by[rank : rank + 1])
            descending = not now[column_id] if column_id in now else column.descending
        rest = [part for part in self.sort_by if part[0] != column_id]
        rest.insert(min(rank, len(rest)), (column_id, descending))
        self.sort_by_keys(tuple(rest[:2]))

    def unsort(self) -> None:
        self.sort_by_keys(())

    def sort_by_keys(self, keys_: SortBy) -> None:
        if keys_ != self.sort_by:
            # A log that becomes sorted shows its top and is not followed; unsorted, it is again.
            if self._follows and bool(self.sort_by) is not bool(keys_):
                self.following = not keys_
                if keys_:
                    self._cursor, self._moved = 0, False
            self.sort_by = keys_
            by_id = {column.id: column for column in self.columns}
            self._arranger.set_keys([SortKey(by_id[each].read, reverse) for each, reverse in keys_])
            self.refresh()  # the mark in the header
        self._arrange_rows()

    # Arranging.

    def _arrange_rows(self, by_user: bool = True) -> None:
        """Arrange rows for up to STEP seconds and schedule the rest."""
        done = self._arranger.work(STEP)
        if self._arranger.filter.aside is not None:
            self.filter = self._arranger.filter
        if self._arranger.rows is not self._rows:
            self._replace_rows(self._arranger.rows)
        self._announce(by_user)
        self.refresh_changes()
        self._mark()
        if done or by_user:
            self._cancel_next_step()
        if not done and self._next_step is None:
            rest = BREATH if by_user else REST
            self._next_step = self.set_timer(rest, lambda: self._resume(by_user))

    def _cancel_next_step(self) -> None:
        if self._next_step is not None:
            self._next_step.stop()
            self._next_step = None

    def _resume(self, by_user: bool) -> None:
        self._next_step = None
        self._arrange_rows(by_user)

    def action_sort_turn(self) -> None:
        if self.sort_by:
            column_id, descending = self.sort_by[0]
            self.sort(column_id, not descending)

    def _header_clicked(self, x: int, event: events.Click) -> None:
        """Sort by the clicked column or reverse it; with shift or ctrl as the second key."""
        if (column := self.painter.column_at(x)) is not None:
            self.sort(column.id, rank=int((event.shift or event.ctrl) and bool(self.sort_by)))
