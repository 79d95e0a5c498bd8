"""Which rows pass the filter: each row is tested once, and its verdict kept as long as it is valid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Generic, TypeVar

from ktui.core.table.arrange.alignment import Alignment
from ktui.core.table.arrange.order import STEP
from ktui.core.table.filter import Filter

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
        """The rows known to pass."""
        return list(compress(self.rows, self.verdicts))

    @property
    def places(self) -> list[int]:
        """The indexes of the rows known to pass."""
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
