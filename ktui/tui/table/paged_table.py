"""A table with more rows than have been read: it requests those that it is about to show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from textual.geometry import Size
from textual.message import Message

from ktui.core.table.filter import Filter
from ktui.core.table.filter.terms import terms_of
from ktui.tui.table.view import HEADER
from ktui.tui.table.vtable import VTable

Row = TypeVar("Row")


class WantingTable(VTable[Row]):
    """Rows come from elsewhere, page by page: it says which it shows or is about to.

    `sorted_by_owner`: some rows are not here, so that only their owner can sort them all.
    `read_all` reads all rows that it stands for, for a file. Raises ClientError.
    """

    read_all: Callable[[], Awaitable[Sequence[Any]]] | None = None
    sorted_by_owner = False

    class Wanted(Message):
        """Rows `first` … `last` (inclusive) are in view or about to be."""

        def __init__(self, table: WantingTable[Any], first: int, last: int) -> None:
            super().__init__()
            self.table = table
            self.first = first
            self.last = last

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.want()

    def watch_virtual_size(self, _old: Size, _new: Size) -> None:
        self.want()

    def on_resize(self) -> None:
        super().on_resize()
        self.want()

    def want(self) -> None:
        """Say which rows are in view, a page ahead of them too."""
        page = max(1, self.scrollable_content_region.height - HEADER)
        top = self.scroll_offset.y
        self.post_message(self.Wanted(self, top, top + 2 * page))

    # Sorting.

    class Sorted(Message):
        """Another order is wanted: the owner of the rows has them sorted. `column` "": their own order."""

        def __init__(self, table: WantingTable[Any], column: str, descending: bool) -> None:
            super().__init__()
            self.table = table
            self.column = column
            self.descending = descending

    def sort(self, column_id: str, descending: bool | None = None, *, rank: int = 0) -> None:
        """Have all rows sorted by their owner, by one column; again: the other way round."""
        if not self.sorted_by_owner:
            super().sort(column_id, descending, rank=rank)
            return
        column = next(each for each in self.columns if each.id == column_id)
        if descending is None:
            again = bool(self.sort_by) and self.sort_by[0][0] == column_id
            descending = not self.sort_by[0][1] if again else column.descending
        self._sorted(column_id, descending)

    def unsort(self) -> None:
        if self.sorted_by_owner:
            self._sorted("", False)
        else:
            super().unsort()

    def action_sort_turn(self) -> None:
        if not self.sorted_by_owner:
            super().action_sort_turn()
        elif self.sort_by:
            self._sorted(self.sort_by[0][0], not self.sort_by[0][1])

    def _sorted(self, column: str, descending: bool) -> None:
        self.sort_by = ((column, descending),) if column else ()
        self.post_message(self.Sorted(self, column, descending))
        self.refresh()


class PagedTable(WantingTable[Row]):
    """Only some pages are here: sorting and filtering are the other side's business."""

    sorted_by_owner = True

    class Filtered(Message):
        """Another filter text was set: the owner of the rows applies it."""

        def __init__(self, table: PagedTable[Any], text: str) -> None:
            super().__init__()
            self.table = table
            self.text = text

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.filter_hint = "part of a name or namespace, searched by the server"

    @property
    def hidden(self) -> int | None:
        return None

    def set_filter(self, text: str, carried: Sequence[str] = (), *, typing: bool = False) -> None:
        if text.strip() != self.filter.text:
            self.filter = Filter(text.strip(), terms=terms_of(text))
            self.post_message(self.Filtered(self, text.strip()))
            self.refresh_bindings()
