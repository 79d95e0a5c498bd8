"""The matching rows in the requested order: added and removed rows are merged in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from ktui.core.table.arrange.alignment import Alignment
from ktui.core.table.arrange.order import Entry, Order, SortKey
from ktui.core.table.arrange.sieve import Sieve

Row = TypeVar("Row")

MANY = 0.2  # if more than this share of the rows changed, they are sorted again, not merged


class Sorting(Generic[Row]):
    """The rows that pass, sorted by `keys`. Call `follow` before each `Sieve.shift`."""

    def __init__(self) -> None:
        self.keys: tuple[SortKey[Row], ...] = ()
        self._order: Order[Row] | None = None
        self._base = 0  # serial of the first row
        self._gone: list[Entry[Row]] = []  # rows removed since the last arrangement
        self._come: Sequence[int] = ()  # indexes of rows added since the last arrangement

    @property
    def absent(self) -> int:
        """Rows without a value for the sort key; they come last."""
        return self._order.absent if self._order is not None and self._order.rows else 0

    def forget(self) -> None:
        """Drop the order, so that all rows are sorted again."""
        self._order = None
        self._gone = []

    def follow(self, sieve: Sieve[Row], size: int, alignment: Alignment) -> None:
        """Record which of the sieve's rows are removed and added by a list of `size` rows so aligned."""
        shift, first, last = alignment.shift, alignment.first, alignment.last
        if self._order is not None:
            old = [*range(max(0, shift)), *range(last + shift, len(sieve.rows))]
            old += [place + shift for place in alignment.changed]
            new = size - (last - first) + len(alignment.changed)
            if len(old) + new > MANY * size:
                self.forget()
            else:
                self._gone = [(sieve.rows[i], self._base + i) for i in old if sieve.verdicts[i]]
        self._base += shift
        self._come = [*range(first), *alignment.changed, *range(last, size)]

    def sort(self, sieve: Sieve[Row]) -> Iterator[None]:
        """Sort the rows that the sieve found; may be abandoned after each yield."""
        if not self._merged(sieve):
            order = Order(self.keys)
            yield from order.fill(sieve.found, [self._base + place for place in sieve.places])
            self._order = order
        self._gone, self._come = [], ()

    @property
    def rows(self) -> Sequence[Row]:
        """The rows as last sorted."""
        return self._order.rows if self._order is not None else ()

    def _merged(self, sieve: Sieve[Row]) -> bool:
        """Merge added and removed rows into the order; False if all rows have to be sorted again."""
        if self._order is None:
            return False
        come = [(sieve.rows[place], self._base + place) for place in self._come if sieve.verdicts[place]]
        return self._order.exchange(self._gone, come)
