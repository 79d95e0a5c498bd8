"""The rows that pass in the order that was asked for: what comes and goes is merged into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from ktui.core.table.arrange.alignment import Alignment
from ktui.core.table.arrange.order import Entry, Order, SortKey
from ktui.core.table.arrange.sieve import Sieve

Row = TypeVar("Row")

MANY = 0.2  # changes of that share of the rows are sorted again, not merged


class Sorting(Generic[Row]):
    """By `keys`, the first one first. Tell it of each shift of the rows before the sieve makes it."""

    def __init__(self) -> None:
        self.keys: tuple[SortKey[Row], ...] = ()
        self._order: Order[Row] | None = None
        self._base = 0  # serial of the first row
        self._gone: list[Entry[Row]] = []  # rows of the order that are no longer there
        self._come: Sequence[int] = ()  # places of rows that are new since the last arrangement

    @property
    def absent(self) -> int:
        """Rows without a value to be sorted by; they are the last."""
        return self._order.absent if self._order is not None and self._order.rows else 0

    def forget(self) -> None:
        """Sort all of them again."""
        self._order = None
        self._gone = []

    def follow(self, sieve: Sieve[Row], size: int, lies: Alignment) -> None:
        """Take down which rows go and which come when the sieve's become `size` that lie so."""
        shift, first, last = lies.shift, lies.first, lies.last
        if self._order is not None:
            old = [*range(max(0, shift)), *range(last + shift, len(sieve.rows))]
            old += [place + shift for place in lies.changed]
            new = size - (last - first) + len(lies.changed)
            if len(old) + new > MANY * size:
                self.forget()
            else:
                self._gone = [(sieve.rows[i], self._base + i) for i in old if sieve.verdicts[i]]
        self._base += shift
        self._come = [*range(first), *lies.changed, *range(last, size)]

    def sort(self, sieve: Sieve[Row]) -> Iterator[None]:
        """Bring what the sieve has found into order; may be left alone after each yield."""
        if not self._merged(sieve):
            order = Order(self.keys)
            yield from order.fill(sieve.found, [self._base + place for place in sieve.places])
            self._order = order
        self._gone, self._come = [], ()

    @property
    def rows(self) -> Sequence[Row]:
        """As `sort` has left them."""
        return self._order.rows if self._order is not None else ()

    def _merged(self, sieve: Sieve[Row]) -> bool:
        """Whether the order could be kept."""
        if self._order is None:
            return False
        come = [(sieve.rows[place], self._base + place) for place in self._come if sieve.verdicts[place]]
        return self._order.exchange(self._gone, come)
