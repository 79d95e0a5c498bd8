"""A table of rows: sorted, filtered, paused, with a choice of columns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct
from textual import events
from textual.binding import BindingType
from textual.message import Message

from ktui.core.format import integer
from ktui.core.table.arrange.arranger import Arranger
from ktui.core.table.arrange.order import SortKey
from ktui.core.table.columns import Column
from ktui.core.table.filter import Filter, fields_of, parse_filter
from ktui.tui.compat import call_after
from ktui.tui.keys import bindings as keys
from ktui.tui.table.marks import Marks, Mood
from ktui.tui.table.painting import SortBy
from ktui.tui.table.view import HEADER, RowsView

Row = TypeVar("Row")

STEP = 0.004  # seconds of arranging before other work has its turn
REST = 0.012  # seconds for other work between two steps while no user waits
BREATH = 0.004  # the same while a user waits


class Waiting(Struct, Generic[Row]):
    """The rows that a held table does not show yet, and the number of new ones among them."""

    held: Sequence[Row]
    newest: Sequence[Row] | None = None
    new: int = 0


def newer(rows: Sequence[Row], known: Sequence[Row], key: Callable[[Row], Hashable]) -> int:
    """Count the rows that are not in `known`; for appended rows in time proportional to their number."""
    last = key(known[-1]) if known else None
    for count in range(min(len(rows), 50_000) if known else 0):
        if key(rows[len(rows) - 1 - count]) == last:
            return count
    keys = set(map(key, known))
    return sum(key(row) not in keys for row in rows)


class VTable(RowsView[Row], can_focus=True, inherit_bindings=False):
    """A table that an Arranger filters and sorts, in steps so that no key waits for them.

    `key` returns a row's identity: once the user has moved the cursor, it stays on that row.
    With `follow` the cursor keeps to the last row until it is moved, and again once it is moved
    there. Tables with `share` share one filter. With `reuse`, a row that equals the former one with its
    key is that one, whose line is painted already.
    """

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["tables"]
    filter_hint = ""  # shown instead of the grammar, where the filter has another one

    class Highlighted(Message):
        """The cursor is on another row, or on a newer state of the same row.

        `by_user` is False if the data changed under the cursor, or the program moved it.
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

    class Arranged(Message):
        """The text in the table's frame has changed (`table.marks`)."""

        def __init__(self, table: VTable[Any]) -> None:
            super().__init__()
            self.table = table

    class FilterCleared(Arranged):
        """The user has cleared the filter."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        *,
        key: Callable[[Row], Hashable],
        empty: str = "nothing yet",
        follow: bool = False,
        share: bool = False,
        reuse: bool = False,
        **names: str,  # Textual's name, id, classes
    ) -> None:
        super().__init__(columns, key=key, follow=follow, **names)
        self.empty = empty
        self.share = share
        self._known: dict[Hashable, Row] | None = {} if reuse else None  # the rows before, by key
        self.filter: Filter[Row] = Filter("")
        self.marks = Marks()
        self._arranger: Arranger[Row] = Arranger()
        self._next_step: asyncio.TimerHandle | None = None
        self._waiting: Waiting[Row] | None = None  # set while the table is held
        self._left: tuple[Row, ...] = ()  # the last row at the moment when the user stopped following
        self._announced: Row | None = None
        self._shown_for: tuple[object, ...] = ()

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

    @property
    def held(self) -> bool:
        """True while new rows are held back."""
        return self._waiting is not None

    @property
    def mood(self) -> Mood:
        if self.held:
            return Mood.HELD
        if self._follows and not self.sort_by and self._rows:
            return Mood.FOLLOWING if self.following else Mood.LEFT
        return Mood.LIVE

    # Setting rows, columns and filter, holding and sorting them.

    def outdated(self, *stamp: object) -> bool:
        """Return True, once, if `stamp` is another one than at the last call: what the rows are made of."""
        before, self._shown_for = self._shown_for, stamp
        return stamp != before

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows (in their order unless sorted), or keep them while the table is held."""
        if self._known is not None:
            before, keyed = self._known, {self._key(row): row for row in rows}
            self._known = {key: old if (old := before.get(key)) == row else row for key, row in keyed.items()}
            rows = list(self._known.values())
        if self._waiting is not None:
            self._waiting.newest = rows
            self._waiting.new = newer(rows, self._waiting.held, self._key)
            self._mark()
            return
        self._arranger.set_rows(rows)
        self._arrange_rows(by_user=False)

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
        else:  # paint the typed letter first; a further letter starts this again
            self._cancel_next_step()
            self.call_after_refresh(self._arrange_rows)
        self._left = ()  # the last row may be another one
        self._mark()
        self.refresh_bindings()

    def hold(self, held: bool = True) -> None:
        if held and self._waiting is None:
            self._waiting = Waiting(self.all_rows)
        elif not held and self._waiting is not None:
            newest, self._waiting = self._waiting.newest, None
            if newest is not None:
                self.set_rows(newest)
        self._mark()

    def action_follow(self) -> None:
        """Hold the table; if it is held or its end was left, show new rows again."""
        before = self.mood
        if before in (Mood.LIVE, Mood.FOLLOWING):
            self.hold()
            return
        self.hold(False)
        if self._follows and not self.sort_by:
            self.action_last()

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
            self._next_step = call_after(self, rest, lambda: self._resume(by_user))

    def _cancel_next_step(self) -> None:
        if self._next_step is not None:
            self._next_step.cancel()
            self._next_step = None

    def _resume(self, by_user: bool) -> None:
        self._next_step = None
        self._arrange_rows(by_user)

    # Messages to the frame.

    def on_resize(self) -> None:
        self.post_message(self.Arranged(self))  # its frame may have appeared or disappeared

    def _announce(self, by_user: bool = True) -> None:
        row = self.row
        if row is not self._announced:
            self._announced = row
            if row is not None:
                self.post_message(self.Highlighted(self, row, by_user))
        if by_user:
            self._mark()

    def _mark(self) -> None:
        """Post `Arranged` if the text in the frame has changed."""
        mood = self.mood
        if mood is Mood.FOLLOWING or not self._left:
            self._left = tuple(self._rows[-1:])
        wanted, arranged = self.filter, self.filter or self.sort_by
        marks = Marks(
            wanted.terms, wanted.idle, wanted.foreign,
            self.hidden if wanted else None, len(self._rows) if wanted else 0,
            mood, self._new(mood), self.doing, self._arranger.coalesced if arranged else 0, self.absent,
        )  # fmt: skip
        if marks != self.marks:
            self.marks = marks
            self.post_message(self.Arranged(self))

    def _new(self, mood: Mood) -> int:
        if self._waiting is not None:
            return self._waiting.new
        return newer(self._rows, self._left, self._key) if mood is Mood.LEFT and self._left else 0

    # Keys and mouse.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "clear_filter":
            return bool(self.filter.text)
        return super().check_action(action, parameters)

    def on_click(self, event: events.Click) -> None:
        """Sort by a clicked title, with shift or ctrl as the second key; or go to a row, twice: open it."""
        at = event.get_content_offset(self)
        if at is None:
            return
        if at.y < HEADER:
            if (column := self.painter.column_at(at.x)) is not None:
                self.sort(column.id, rank=int((event.shift or event.ctrl) and bool(self.sort_by)))
            return
        index = at.y - HEADER + self.scroll_offset.y
        if index < len(self._rows) and at.y < HEADER + self.page:
            self.move_to(index)
            if event.chain == 2:
                self.action_select()

    def action_clear_filter(self) -> None:
        self.set_filter("")
        self.post_message(self.FilterCleared(self))

    def action_select(self) -> None:
        if self.row is not None:
            self.post_message(self.Selected(self, self.row))

    def _why_empty(self) -> str:
        if not self.total:
            return self.empty
        if self._arranger.asked:
            return f"no match yet: {self.doing}" if self.doing else "searching …"
        return f"no rows match {self.filter.text} — / changes the filter, esc clears it"
