"""Sorted rows: added rows are merged in and removed rows taken out without sorting all again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from operator import attrgetter
from types import NoneType
from typing import Any, Generic, TypeVar

from msgspec import Struct

Row = TypeVar("Row")
Item = TypeVar("Item")
Entry = tuple[Row, int]  # a row and its serial: its index among all rows

STEP = 128  # rows between two checks of the clock
_NUMBERS = frozenset((int, float, bool, NoneType))
_ABSENT = inf  # replaces None among numbers: last in either direction
_RUN = 4096  # rows that are sorted between two checks


class SortKey(Struct, Generic[Row], frozen=True):
    value: Callable[[Row], Any]
    descending: bool = False


class _Edit(Struct, Generic[Row]):
    """A row to insert before `place`, or to remove there."""

    place: int
    enters: bool = False
    values: tuple[Any, ...] = ()
    serial: int = 0
    row: Row | None = None


def comparable(value: Any, descending: bool = False) -> tuple[int, Any]:
    """Return a sort key for mixed types: numbers before texts, None at the end in both directions."""
    if value is None:
        return (-1 if descending else 2, 0)
    return (0, value) if isinstance(value, int | float) else (1, str(value))


class Order(Generic[Row]):
    """Sorted by one or more keys; rows with equal keys stay in the order of their serials."""

    def __init__(self, keys: Sequence[SortKey[Row]]) -> None:
        self.rows: list[Row] = []
        self._keys = tuple(keys)
        self._descending = [key.descending for key in keys]  # by key: its stored values descend
        self._numbers: set[int] = set()  # keys whose values are numbers or None
        self._negated: set[int] = set()  # descending keys among them: stored negated, so that they ascend
        self._values: list[list[Any]] = [[] for _ in keys]  # one list per key, parallel to `rows`
        self._serials: list[int] = []
        self._mixed: set[int] = set()  # keys whose values cannot be compared as they are

    @property
    def absent(self) -> int:
        """Number of rows without a value for the first key; they come last."""
        values = self._values[0]
        absent = _ABSENT if 0 in self._numbers else comparable(None, self._descending[0])
        return len(values) - bisect_left(values, True, key=lambda value: bool(value == absent))

    def fill(self, rows: Sequence[Row], serials: Sequence[int]) -> Iterator[None]:
        """Sort all rows again; may be abandoned after each yield."""
        values: list[list[Any]] = []
        for key in self._keys:
            found: list[Any] = []
            for start in range(0, len(rows), STEP):
                found.extend(map(key.value, rows[start : start + STEP]))
                yield
            values.append(found)
        order = list(range(len(rows)))
        for place in reversed(range(len(self._keys))):
            yield from self._sort(order, values, place)
            yield
        self.rows = list(map(rows.__getitem__, order))
        yield
        self._serials = list(map(serials.__getitem__, order))
        for place, each in enumerate(values):
            yield
            self._values[place] = list(map(each.__getitem__, order))

    def _sort(self, order: list[int], values: list[list[Any]], place: int) -> Iterator[None]:
        """Sort by one key: first in runs, one per step, so that the last step only merges them."""
        self._prepare(values, place)
        try:
            for start in range(0, len(order), _RUN):
                order[start : start + _RUN] = self._sorted(order[start : start + _RUN], values, place)
                yield
            order[:] = self._sorted(order, values, place)
        except TypeError:
            self._mixed.add(place)
            values[place] = [comparable(value, self._descending[place]) for value in values[place]]
            order[:] = self._sorted(order, values, place)

    def _prepare(self, values: list[list[Any]], place: int) -> None:
        """Store numbers so that they ascend, which bisect needs."""
        if not all(map(_NUMBERS.__contains__, map(type, values[place]))):
            return
        self._numbers.add(place)
        if self._descending[place]:
            self._descending[place] = False
            self._negated.add(place)
        if place in self._negated or None in values[place]:
            values[place] = [self._number(place, value) for value in values[place]]

    def _number(self, place: int, value: Any) -> Any:
        """Return a number (or None) as it is stored."""
        if value is None:
            return _ABSENT
        return -value if place in self._negated else value

    def _sorted(self, order: list[int], values: list[list[Any]], place: int) -> list[int]:
        return sorted(order, key=values[place].__getitem__, reverse=self._descending[place])

    def exchange(self, gone: Sequence[Entry[Row]], come: Sequence[Entry[Row]]) -> bool:
        """Remove rows and insert others; False if that is not possible (then call `fill`)."""
        try:
            edits: list[_Edit[Row]] = [_Edit(self._place_of(entry)) for entry in gone]
            for row, serial in come:
                entering = self._values_of(row)
                edits.append(_Edit(self._position(entering, serial), True, entering, serial, row))
            edits = self._in_order(edits)
        except (LookupError, TypeError):
            return False
        self.rows = _spliced(self.rows, edits, (edit.row for edit in edits))
        self._serials = _spliced(self._serials, edits, (edit.serial for edit in edits))
        for key, values in enumerate(self._values):
            self._values[key] = _spliced(values, edits, (edit.enters and edit.values[key] for edit in edits))
        return True

    def _in_order(self, edits: list[_Edit[Row]]) -> list[_Edit[Row]]:
        """Sort edits by position; rows inserted at the same position by their keys."""
        entering = sorted((edit for edit in edits if edit.enters), key=attrgetter("serial"))
        for key in reversed(range(len(self._keys))):
            entering.sort(key=lambda edit: edit.values[key], reverse=self._descending[key])
        return sorted([*entering, *(edit for edit in edits if not edit.enters)], key=attrgetter("place"))

    def _values_of(self, row: Row) -> tuple[Any, ...]:
        """Return a row's values as they are stored. Raises TypeError for a value of another type."""
        values = [key.value(row) for key in self._keys]
        for place in self._numbers:
            values[place] = self._number(place, values[place])
        for place in self._mixed:
            values[place] = comparable(values[place], self._descending[place])
        return tuple(values)

    def _place_of(self, entry: Entry[Row]) -> int:
        """Return the index of a row. Raises LookupError if it is not at the place of its values."""
        place = self._position(self._values_of(entry[0]), entry[1])
        if place >= len(self.rows) or self._serials[place] != entry[1]:
            raise LookupError(entry[1])
        return place

    def _position(self, values: tuple[Any, ...], serial: int) -> int:
        """Return the first index whose row does not precede a row with these values and serial."""
        low, high = 0, len(self.rows)
        if not self._descending[0]:
            low = bisect_left(self._values[0], values[0])
            high = bisect_right(self._values[0], values[0], low)
        while low < high:
            middle = (low + high) // 2
            if self._precedes(middle, values, serial):
                low = middle + 1
            else:
                high = middle
        return low

    def _precedes(self, place: int, values: tuple[Any, ...], serial: int) -> bool:
        for column, value, descending in zip(self._values, values, self._descending, strict=True):
            here = column[place]
            if here != value:
                return bool((here > value) if descending else (here < value))
        return self._serials[place] < serial


def _spliced(old: list[Item], edits: Sequence[_Edit[Row]], items: Iterable[Any]) -> list[Item]:
    """Return `old` with the edits applied; `items` has what each inserts."""
    out: list[Item] = []
    start = 0
    for edit, item in zip(edits, items, strict=True):
        out += old[start : edit.place]
        start = edit.place
        if edit.enters:
            out.append(item)
        else:
            start += 1
    return out + old[start:]
