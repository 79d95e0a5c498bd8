"""Which rows pass the filter: each row is tested once, and its verdict kept as long as it is valid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, count, repeat
from operator import is_, not_
from typing import Any, Generic, TypeVar

from msgspec import Struct

from ktui.core.table.arrange.order import STEP, Entry, Order, SortKey
from ktui.core.table.filter import Filter

_ALIKE = 0.75  # share of the overlapping rows that must be the same


class Alignment(Struct, frozen=True):
    """`new[i]` is `old[i + shift]` for each index i of `new` from `first` to `last`, except in `changed`."""

    shift: int  # > 0: rows were removed at the front; < 0: rows were added there
    first: int  # of new: the overlap's begin …
    last: int  # … and end (exclusive)
    changed: tuple[int, ...]


def align(old: Sequence[Any], new: Sequence[Any]) -> Alignment | None:
    """The alignment of `new` to `old`; None if they have too little in common."""
    shift = _shift(old, new)
    if shift is None:
        return None
    first, last = max(0, -shift), min(len(new), len(old) - shift)
    same = list(map(is_, new[first:last], old[first + shift : last + shift]))
    if sum(same) < _ALIKE * len(same):
        return None
    changed = () if all(same) else tuple(compress(range(first, last), map(not_, same)))
    return Alignment(shift, first, last, changed)


def _shift(old: Sequence[Any], new: Sequence[Any]) -> int | None:
    """Return the shift, from a row that both lists have; any single row may have been replaced."""
    places: list[int] = [*range(min(3, len(new))), len(new) // 2]
    for place in places:
        if place < len(new):
            at: int | None = next(compress(count(), map(is_, old, repeat(new[place]))), None)
            if at is not None:
                return at - place
    return None


Row = TypeVar("Row")


class Sieve(Generic[Row]):
    """`verdicts[i]` is for `rows[i]`, None if not tested yet. `sift` tests the rest."""

    def __init__(self) -> None:
        self.filter: Filter[Row] = Filter("")
        self.rows: list[Row] = []
        self.verdicts: list[bool | None] = []
        self.tested = 0  # rows that the current run has tested

    @property
    def untested(self) -> int:
        return self.verdicts.count(None)

    @property
    def found(self) -> list[Row]:
        return list(compress(self.rows, self.verdicts))

    @property
    def places(self) -> list[int]:
        return list(compress(range(len(self.rows)), self.verdicts))

    @property
    def _unknown(self) -> bool | None:
        """The verdict on an untested row: without a filter it passes."""
        return None if self.filter else True

    # Input.

    def reset(self, rows: Sequence[Row]) -> None:
        """Replace all rows and forget all verdicts."""
        self.rows = list(rows)
        self.forget()

    def forget(self) -> None:
        """Forget all verdicts, so that all rows are tested again."""
        self.verdicts = [self._unknown] * len(self.rows)

    def set_filter(self, wanted: Filter[Row]) -> None:
        """Set the filter. Rows that did not pass a wider filter are not tested again."""
        narrower = bool(self.filter) and wanted.narrows(self.filter)
        self.filter = wanted
        if narrower:
            self.verdicts = [False if verdict is False else None for verdict in self.verdicts]
        else:
            self.forget()

    def carry_over(self, now: list[Row]) -> None:
        """Replace the rows; the verdicts of rows that are in both lists are kept."""
        known = dict(zip(map(id, self.rows), self.verdicts, strict=True))
        unknown = self._unknown
        self.verdicts = [known.get(key, unknown) for key in map(id, now)]
        self.rows = now

    def shift(self, now: list[Row], alignment: Alignment) -> None:
        """Replace the rows by `now`, aligned with the old ones; verdicts of unchanged rows are kept."""
        first, last, unknown = alignment.first, alignment.last, self._unknown
        kept = self.verdicts[first + alignment.shift : last + alignment.shift]
        self.verdicts = [unknown] * first + kept + [unknown] * (len(now) - last)
        for place in alignment.changed:
            self.verdicts[place] = unknown
        self.rows = now

    # Sifting.

    def sift(self) -> Iterator[None]:
        """Test the untested rows; may be abandoned after each yield.

        A tentative term is ignored as long as no row passes it.
        """
        if self.filter:
            yield from self._test()
        if self.filter.tentative and self.rows and not any(self.verdicts):
            self.filter = self.filter.otherwise
            self.forget()
            yield from self._test()

    def _test(self) -> Iterator[None]:
        """Test each row without a verdict; `list.index` finds the next one quickly."""
        verdicts, rows, test = self.verdicts, self.rows, self.filter.test
        place, tested = 0, 0
        while True:
            try:
                place = verdicts.index(None, place)
            except ValueError:
                self.tested = len(verdicts)
                return
            verdicts[place] = test(rows[place])
            tested += 1
            if not tested % STEP:
                self.tested = place
                yield


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
        return self._order.rows if self._order is not None else ()

    def _merged(self, sieve: Sieve[Row]) -> bool:
        """Merge added and removed rows into the order; False if all rows have to be sorted again."""
        if self._order is None:
            return False
        come = [(sieve.rows[place], self._base + place) for place in self._come if sieve.verdicts[place]]
        return self._order.exchange(self._gone, come)
