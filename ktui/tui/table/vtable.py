"""A table of rows: sorted, filtered, paused, with a choice of columns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from ktui.core.format import integer, many, safe
from ktui.core.table.columns import Column
from ktui.core.table.filter import Term
from ktui.tui.keys import bindings as keys
from ktui.tui.table.arranged import ArrangedView
from ktui.tui.widgets.lines import Runs

Row = TypeVar("Row")


class Mood(Enum):
    """How a table shows new rows: it follows them, or keeps still while the user reads."""

    LIVE = "live"  # as they arrive
    FOLLOWING = "following"  # as they arrive, with the cursor on the last row
    LEFT = "left"  # below, out of view: the user has moved up
    HELD = "held"  # after the user resumes the table


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


def reused(
    rows: Iterable[Row], before: Mapping[Hashable, Row], key: Callable[[Row], Hashable]
) -> dict[Hashable, Row]:
    """Return the rows by key; one that equals an earlier row is that row, whose line is painted already."""
    found = {}
    for row in rows:
        old = before.get(key(row))
        found[key(row)] = old if old is not None and old == row else row
    return found


_IDLE = "strike $ink-faint"


class Marks(Struct, frozen=True):
    """The text in a table's frame: its filter, hidden rows, and whether it follows."""

    terms: tuple[Term, ...] = ()
    idle: frozenset[str] = frozenset()
    foreign: tuple[str, ...] = ()  # columns of idle terms, which this table does not have
    hidden: int | None = None  # rows; None without a filter, or if unknown
    shown: int = 0
    mood: Mood = Mood.LIVE
    new: int = 0
    doing: str = ""  # progress while rows are being arranged
    folded: int = 0  # states of rows that were replaced before they could be arranged
    absent: str = ""  # how many rows have no value to sort by

    @property
    def needs_line(self) -> bool:
        """True for text that a table without a frame shows in a line below its rows."""
        return bool(self.terms) or self.mood in (Mood.HELD, Mood.LEFT) or bool(self.doing or self.absent)

    def runs(self) -> Runs:
        absent = [(self.absent, "$ink-muted")] if self.absent else []
        doing = [(self.doing, "$warning")] if self.doing else []
        folded = [(f"{many(self.folded, 'update')} folded", "$ink-muted")] if self.folded else []
        parts = [part for part in (self._filter(), absent, doing, folded, self._mood()) if part]
        return [run for part in parts for run in (("  ", ""), *part)][1:]

    def content(self) -> Content:
        return Content.assemble(*((safe(text), style) for text, style in self.runs()))

    def _filter(self) -> Runs:
        """`/route:E ms>10  12 shown, 2,988 hidden`; terms that have no effect here are struck out."""
        if not self.terms:
            return []
        runs = [("/", "$accent")]
        for place, term in enumerate(self.terms):
            idle = term.text in self.idle
            runs += [(" " if place else "", ""), (term.text, _IDLE if idle else "$accent")]
        if self.foreign:
            runs.append((f"  no {', '.join(self.foreign)} here", "$ink-muted"))
        if self.hidden is not None:
            runs.append((f"  {integer(self.shown)} shown, {integer(self.hidden)} hidden", "$ink-muted"))
        return runs

    def _mood(self) -> Runs:
        if self.mood is Mood.FOLLOWING:
            return [("following", "$ink-muted")]
        if self.mood is Mood.HELD:
            new = f" · {integer(self.new)} new" if self.new else ""
            return [(f"‖ paused{new}", "bold $warning")]
        if self.mood is Mood.LEFT:
            left = f"{integer(self.new)} new below" if self.new else "not following"
            return [(f"{left} · ", "$ink-muted"), ("end", "$accent"), (" follows", "$ink-muted")]
        return []


class VTable(ArrangedView[Row], can_focus=True, inherit_bindings=False):
    """A sortable, filterable table with a cursor.

    `key` returns a row's identity: once the user has moved the cursor, it stays on that row.
    With `follow` the cursor keeps to the last row until it is moved, and again once it is moved
    there. Tables with `share` share one filter.
    """

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["tables"]

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
        **names: str,  # Textual's name, id, classes
    ) -> None:
        super().__init__(columns, key=key, follow=follow, **names)
        self.empty = empty
        self.share = share
        self.filter_hint = ""  # shown instead of the grammar, where the filter has another one
        self.marks = Marks()
        self._waiting: Waiting[Row] | None = None  # set while the table is held
        self._left: tuple[Row, ...] = ()  # the last row at the moment when the user stopped following
        self._announced: Row | None = None
        self._shown_for: tuple[object, ...] = ()

    # Properties.

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

    # Setting rows and filter, holding them.

    def outdated(self, *stamp: object) -> bool:
        """Return True, once, if `stamp` is another one than at the last call: what the rows are made of."""
        before, self._shown_for = self._shown_for, stamp
        return stamp != before

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these rows (in their order unless sorted), or keep them while the table is held."""
        if self._waiting is not None:
            self._waiting.newest = rows
            self._waiting.new = newer(rows, self._waiting.held, self._key)
            self._mark()
            return
        self._arranger.set_rows(rows)
        self._arrange_rows(by_user=False)

    def set_filter(self, text: str, carried: Sequence[str] = (), *, typing: bool = False) -> None:
        super().set_filter(text, carried, typing=typing)
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
