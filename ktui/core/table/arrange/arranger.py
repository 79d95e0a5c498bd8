"""The rows of a table, filtered and sorted in steps that leave the loop free.

Rows that were there before are neither tested nor sorted again: what has changed is
found by identity, tested, and merged into the order. Where there is more to do than
fits into one step, the last arrangement stays until the next is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Generic, TypeVar

from ktui.core.table.arrange.alignment import align
from ktui.core.table.arrange.order import SortKey
from ktui.core.table.arrange.sieve import Sieve
from ktui.core.table.arrange.sorting import Sorting
from ktui.core.table.filter import Filter

Row = TypeVar("Row")

AT_ONCE = 500  # rows that are arranged in one go, whatever the clock says
FEW = 100  # rows that are tested within a frame
SCREENFUL = 50  # rows found that are worth showing before the rest is looked through …
PATIENCE = 0.25  # … and seconds after which fewer of them are, or none


class Arranger(Generic[Row]):
    """`rows` is what shows of `all`. After any change call `work` until it says True."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.all: Sequence[Row] = ()
        self.rows: Sequence[Row] = ()
        self.coalesced = 0  # states of the rows that a newer one replaced before they were arranged
        self._clock = clock
        self._sieve: Sieve[Row] = Sieve()
        self._sorting: Sorting[Row] = Sorting()
        self._show_found = False  # rows show as they are found, until the job is done
        self._shown_at = 0  # rows that had been tested when that was last done
        self._asked = False  # the job is the user's wish, not only rows that have come
        self._begun = 0.0  # when it was wished
        self._queued: Sequence[Row] | None = None
        self._job: Iterator[None] | None = None

    # What is wanted.

    def set_rows(self, rows: Sequence[Row]) -> None:
        if self._job is not None:
            self.coalesced += self._queued is not None
            self._queued = rows
        else:
            self._take(rows)

    def set_filter(self, wanted: Filter[Row]) -> None:
        self._sieve.set_filter(wanted)
        self._restart()

    @property
    def filter(self) -> Filter[Row]:
        """The one in force: of a tentative filter that no row passes, what it becomes."""
        return self._sieve.filter

    def set_keys(self, keys: Sequence[SortKey[Row]]) -> None:
        """Sort by these, the first one first; by none: as the rows come."""
        self._sorting.keys = tuple(keys)
        self._restart()

    # How far it is.

    @property
    def busy(self) -> bool:
        return self._job is not None

    @property
    def absent(self) -> int:
        """Rows shown without a value to be sorted by; they are the last."""
        return self._sorting.absent

    @property
    def little(self) -> bool:
        """Whether what is left to do is done before the user notices."""
        if len(self._sieve.rows) <= AT_ONCE:
            return True
        return not self._sorting.keys and self._sieve.untested <= FEW

    @property
    def progress(self) -> float:
        """The share of the rows that the present job has tested."""
        return self._sieve.tested / len(self._sieve.rows) if self._sieve.rows else 1.0

    @property
    def asked(self) -> bool:
        """Whether the user waits for it."""
        return self.busy and self._asked

    @property
    def lasts(self) -> bool:
        """Whether the user waits for it, and long enough to be told so."""
        return self.asked and self._waited

    @property
    def _waited(self) -> bool:
        return self._clock() - self._begun > PATIENCE

    # The work.

    def work(self, seconds: float) -> bool:
        """Go on for about so long; True when `rows` shows all that is known."""
        until = self._clock() + seconds
        while self._job is not None:
            for _ in self._job:
                if len(self._sieve.rows) > AT_ONCE and self._clock() > until:
                    self._show_more()
                    return False
            self._job = None
            if self._queued is not None:
                rows, self._queued = self._queued, None
                self._take(rows)
        return True

    def _show_more(self) -> None:
        """Rows show as they are found; each time twice as many have been tested, for it takes all rows.

        Until they fill a screen the last arrangement stays: a table must not be empty for a moment.
        """
        sieve = self._sieve
        if not self._show_found or sieve.tested < 2 * self._shown_at:
            return
        self._shown_at = sieve.tested
        found = sieve.found
        if not found and sieve.filter.tentative:
            return
        if len(found) >= SCREENFUL or self._waited:
            self.rows = found

    @property
    def _plain(self) -> bool:
        return not self._sieve.filter and not self._sorting.keys

    def _show_all(self) -> None:
        """Without a filter and keys there is nothing to do."""
        self.rows, self._job = self.all, None
        self._sieve.reset(())

    def _restart(self) -> None:
        """Begin again with the newest rows: the user has asked for something else."""
        self._sorting.forget()
        queued, self._queued = self._queued, None
        if queued is not None:
            self.all = queued
        if self._plain:
            self._show_all()
            return
        if queued is not None or not self._sieve.rows:
            self._sieve.reset(self.all)
        self._show_found, self._shown_at, self._begun = not self._sorting.keys, 0, self._clock()
        self._asked, self._sieve.tested = True, 0
        self._job = self._arrange()

    def _take(self, rows: Sequence[Row]) -> None:
        self.all = rows
        if self._plain:
            self._show_all()
            return
        now = list(rows)
        lies = align(self._sieve.rows, now)
        if lies is None:
            self._sorting.forget()
            self._sieve.carry_over(now)
        else:
            self._sorting.follow(self._sieve, len(now), lies)
            self._sieve.shift(now, lies)
        self._asked = self._show_found = False
        self._job = self._arrange()

    def _arrange(self) -> Iterator[None]:
        """The job."""
        wanted = self._sieve.filter
        yield from self._sieve.sift()
        if self._sieve.filter is not wanted:
            self._sorting.forget()
        if self._sorting.keys:
            yield from self._sorting.sort(self._sieve)
            self.rows = self._sorting.rows
        else:
            self.rows = self._sieve.found
