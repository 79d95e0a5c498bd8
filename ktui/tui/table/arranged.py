"""Sorted and filtered rows, arranged in steps so that a key is never delayed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from textual import events
from textual.timer import Timer

from ktui.core.format import integer
from ktui.core.table.arrange import Arranger, SortKey
from ktui.core.table.columns import Column
from ktui.core.table.filter import Filter, fields_of, parse_filter
from ktui.tui.table.grid import GridView
from ktui.tui.table.painting import SortBy

Row = TypeVar("Row")

STEP = 0.004  # seconds of arranging between two looks at what else there is to do
REST = 0.012  # seconds left to others between steps without a waiting user
BREATH = 0.004  # and between those with one


class ArrangedView(GridView[Row]):
    """A GridView over an Arranger."""

    def __init__(self, columns: Sequence[Column[Row]], **named: Any) -> None:
        super().__init__(columns, **named)
        self.filter: Filter[Row] = Filter("")
        self._arranger: Arranger[Row] = Arranger()
        self._going_on: Timer | None = None
        self._view: tuple[Any, ...] = ()  # what was last on the screen: top, cursor, rows

    def _mark(self) -> None:
        """What is said of the table may have changed."""

    # What others ask.

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
        """Rows before the filter."""
        return len(self._arranger.all)

    @property
    def arranging(self) -> bool:
        """Whether rows are still being filtered or sorted."""
        return self._arranger.busy

    @property
    def doing(self) -> str:
        """What keeps the user waiting: `sifting 40%`, `sorting`; nothing that is soon done."""
        if not self._arranger.lasts:
            return ""
        share = int(self._arranger.progress * 10) * 10  # in few steps: each is painted
        return f"filtering {share}%" if self.filter and share < 100 else "sorting"

    @property
    def absent(self) -> str:
        """`12 without ms: last`: rows that a sort can only put at the end."""
        absent = self._arranger.absent
        return f"{integer(absent)} without {self.sort_by[0][0]}: last" if absent else ""

    @property
    def hidden(self) -> int | None:
        """Rows that the filter hides; None when that is not known here."""
        return len(self._arranger.all) - len(self._rows)

    # Called from outside.

    def set_columns(self, columns: Sequence[Column[Row]]) -> None:
        """Other columns; a sort by one that is gone ends."""
        self.columns = tuple(columns)
        self._refit()
        self._sort_by(tuple(part for part in self.sort_by if part[0] in {c.id for c in columns}))

    def set_filter(self, text: str, carried: Sequence[str] = (), *, typing: bool = False) -> None:
        """Filter by `text`; raises FilterError and keeps the old filter when it makes no sense.

        Terms among `carried` are idle where they name no column of this table. While the user is
        `typing`, half a term does not empty the table.
        """
        self.filter = parse_filter(text, fields_of(self.columns), carried, typing=typing)
        self._arranger.set_filter(self.filter)
        if self._arranger.little:
            self._go_on()
            return
        # What was typed is painted first. So are further letters: they begin all this again.
        self._stop_going_on()
        self._mark()
        self.call_after_refresh(self._go_on)

    def sort(self, column_id: str, descending: bool | None = None, *, rank: int = 0) -> None:
        """Sort by a column, as the first key or (`rank` 1) the second.

        As the first key it makes the column sorted by before the second one; without
        `descending`, a column that has the rank already turns round.
        """
        column = next(column for column in self.columns if column.id == column_id)
        if descending is None:
            now = dict(self.sort_by[rank : rank + 1])
            descending = not now[column_id] if column_id in now else column.descending
        rest = [part for part in self.sort_by if part[0] != column_id]
        rest.insert(min(rank, len(rest)), (column_id, descending))
        self._sort_by(tuple(rest[:2]))

    def unsort(self) -> None:
        self._sort_by(())

    def _sort_by(self, keys_: SortBy) -> None:
        if keys_ != self.sort_by:
            self._turn_to_top(bool(keys_))
            self.sort_by = keys_
            by_id = {column.id: column for column in self.columns}
            self._arranger.set_keys([SortKey(by_id[each].value_of, turned) for each, turned in keys_])
        self._go_on()

    def _turn_to_top(self, is_sorted: bool) -> None:
        """A log that is sorted shows its top, whatever comes there; unsorted, it follows again."""
        if self._follows and bool(self.sort_by) is not is_sorted:
            self.following = not is_sorted
            if is_sorted:
                self._cursor, self._moved = 0, False

    # Arranging.

    def _go_on(self, by_user: bool = True) -> None:
        """Arrange for as long as a frame may wait; what is left is done between other things."""
        done = self._arranger.work(STEP)
        if self._arranger.filter.aside is not None:
            self.filter = self._arranger.filter
        if self._arranger.rows is not self._rows:
            self._replace_rows(self._arranger.rows)
        self._announce(by_user)
        if not self._same_in_view():
            self.refresh()
        self._mark()
        if done or by_user:
            self._stop_going_on()
        if not done and self._going_on is None:
            rest = BREATH if by_user else REST
            self._going_on = self.set_timer(rest, lambda: self._resume(by_user))

    def _stop_going_on(self) -> None:
        if self._going_on is not None:
            self._going_on.stop()
            self._going_on = None

    def _resume(self, by_user: bool) -> None:
        self._going_on = None
        self._go_on(by_user)

    def _same_in_view(self) -> bool:
        """Whether nothing that is on the screen has changed: then nothing need be painted."""
        top = self.scroll_offset.y
        empty = "" if self._rows else self._why_empty()
        view = (top, self._cursor, empty, *self._rows[top : top + self.size.height])
        before, self._view = self._view, view
        if len(view) != len(before) or view[:3] != before[:3]:
            return False
        return all(new is old for new, old in zip(view[3:], before[3:], strict=True))

    def action_sort_turn(self) -> None:
        """Turn the direction of the sort round."""
        if self.sort_by:
            column_id, descending = self.sort_by[0]
            self.sort(column_id, not descending)

    def _header_clicked(self, x: int, event: events.Click) -> None:
        """A click sorts by the column, again turns it round; with shift or ctrl it is the second key."""
        if (column := self.painter.column_at(x)) is not None:
            self.sort(column.id, rank=int((event.shift or event.ctrl) and bool(self.sort_by)))
