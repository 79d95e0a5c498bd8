"""Compare an old and a new list of rows by identity: a shift, and the rows that changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, count, repeat
from operator import is_, not_
from typing import Any

from msgspec import Struct

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
        if place < len(new) and (found := _find(old, new[place])) is not None:
            return found - place
    return None


def _find(rows: Sequence[Any], row: Any) -> int | None:
    places: Iterator[int] = compress(count(), map(is_, rows, repeat(row)))
    return next(places, None)
