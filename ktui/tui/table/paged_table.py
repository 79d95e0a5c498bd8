"""Tables with more rows than have been read: they request the rows that come into view."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from textual.geometry import Size
from textual.message import Message

from ktui.core.table.filter import Filter, terms_of
from ktui.tui.table.painting import SortBy
from ktui.tui.table.view import HEADER
from ktui.tui.table.vtable import VTable

Row = TypeVar("Row")


class OnDemandTable(VTable[Row]):
    """A table whose owner reads rows on demand.

    With `sorted_by_owner` the owner sorts, as some rows are not here.
    `read_all` reads all rows, for an export. Raises ClientError.
    """

    read_all: Callable[[], Awaitable[Sequence[Any]]] | None = None
    sorted_by_owner = False

    @dataclass
    class Wanted(Message):
        """Rows `first` to `last` (inclusive) are in view or on the next page."""

        first: int
        last: int

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.want()

    def watch_virtual_size(self, _old: Size, _new: Size) -> None:
        self.want()

    def on_resize(self) -> None:
        super().on_resize()
        self.want()

    def want(self) -> None:
        """Post which rows are in view or on the next page."""
        page = max(1, self.scrollable_content_region.height - HEADER)
        top = self.scroll_offset.y
        self.post_message(self.Wanted(top, top + 2 * page))

    # Sorting.

    @dataclass
    class Sorted(Message):
        """The owner is to sort the rows by `column`; "" is their original order."""

        column: str
        descending: bool

    def sort(self, column_id: str, descending: bool | None = None, *, rank: int = 0) -> None:
        super().sort(column_id, descending, rank=0 if self.sorted_by_owner else rank)

    def sort_by_keys(self, keys_: SortBy) -> None:
        """The owner sorts by one column only."""
        if not self.sorted_by_owner:
            super().sort_by_keys(keys_)
            return
        self.sort_by = keys_[:1]
        column, descending = self.sort_by[0] if keys_ else ("", False)
        self.post_message(self.Sorted(column, descending))
        self.refresh()


class PagedTable(OnDemandTable[Row]):
    """A table of which only some pages are here: its owner sorts and filters."""

    sorted_by_owner = True
    filter_hint = "part of a name or namespace, searched by the server"

    @dataclass
    class Filtered(Message):
        """The owner is to apply another filter text."""

        text: str

    @property
    def hidden(self) -> int | None:
        return None

    def set_filter(self, text: str, carried: Sequence[str] = (), *, typing: bool = False) -> None:
        if text.strip() != self.filter.text:
            self.filter = Filter(text.strip(), terms=terms_of(text))
            self.post_message(self.Filtered(text.strip()))
            self.refresh_bindings()
