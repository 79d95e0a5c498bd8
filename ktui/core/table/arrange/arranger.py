"""The rows of a table, filtered and sorted in steps that do not block the event loop.

Rows of the previous list are neither tested nor sorted again: new rows are found by identity,
tested, and merged into the order. If one step is not enough, the previous arrangement is shown
until the next one is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Generic, TypeVar

from ktui.core.table.arrange.order import SortKey
from ktui.core.table.arrange.sieve import Sieve, Sorting, align
from ktui.core.table.filter import Filter

Row = TypeVar("Row")

AT_ONCE = 500  # rows that are arranged in one go, regardless of time
FEW = 100  # rows that are tested within a frame
SCREENFUL = 50  # matching rows to show before the rest is tested …
PATIENCE = 0.25  # … and seconds after which fewer of them are shown, or none


class Arranger(Generic[Row]):
    """`rows` are the rows of `all` to show. After any change call `work` until it returns True."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.all: Sequence[Row] = ()
        self.rows: Sequence[Row] = ()
        self.coalesced = 0  # lists passed to `set_rows` that a newer list replaced before they were arranged
        self._clock = clock
        self._sieve: Sieve[Row] = Sieve()
        self._sorting: Sorting[Row] = Sorting()
        self._show_found = False  # rows are shown as they are found, until the job is done
        self._shown_at = 0  # rows tested when found rows were last shown
        self._requested = False  # the user requested the job; False: new rows caused it
        self._begun = 0.0  # when the user requested it
        self._queued: Sequence[Row] | None = None
        self._job: Iterator[None] | None = None

    # Requests.

    def set_rows(self, rows: Sequence[Row]) -> None:
        if self._job is not None:
            self.coalesced += self._queued is not None
            self._queued = rows
        else:
            self._arrange_rows(rows)

    def set_filter(self, wanted: Filter[Row]) -> None:
        self._sieve.set_filter(wanted)
        self._restart()

    @property
    def filter(self) -> Filter[Row]:
        """The current filter, or its alternative if it is tentative and no row passes it."""
        return self._sieve.filter

    def set_keys(self, keys: Sequence[SortKey[Row]]) -> None:
        """Sort by `keys`, the first one decides first; without keys in the order of arrival."""
        self._sorting.keys = tuple(keys)
        self._restart()

    # Progress.

    @property
    def busy(self) -> bool:
        return self._job is not None

    @property
    def absent(self) -> int:
        """Rows shown without a value for the sort key; they come last."""
        return self._sorting.absent

    @property
    def little(self) -> bool:
        """True if the rest of the work takes less time than a user notices."""
        if len(self._sieve.rows) <= AT_ONCE:
            return True
        return not self._sorting.keys and self._sieve.untested <= FEW

    @property
    def progress(self) -> float:
        """The share of the rows that the current job has tested."""
        return self._sieve.tested / len(self._sieve.rows) if self._sieve.rows else 1.0

    @property
    def asked(self) -> bool:
        """True if the user waits for the result of a filter or sort."""
        return self.busy and self._requested

    @property
    def lasts(self) -> bool:
        """True if the user has waited long enough to be shown progress."""
        return self.asked and self._waited

    @property
    def _waited(self) -> bool:
        return self._clock() - self._begun > PATIENCE

    # The work.

    def work(self, seconds: float) -> bool:
        """Continue for about `seconds`; True once `rows` is complete."""
        until = self._clock() + seconds
        while self._job is not None:
            for _ in self._job:
                if len(self._sieve.rows) > AT_ONCE and self._clock() > until:
                    self._show_more()
                    return False
            self._job = None
            if self._queued is not None:
                rows, self._queued = self._queued, None
                self._arrange_rows(rows)
        return True

    def _show_more(self) -> None:
        """Show the rows found so far. Done after twice as many tests each time, as it visits all rows.

        Until they fill a screen the previous arrangement is shown, so that the table is never briefly empty.
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
        """Show all rows: there is neither a filter nor a sort key."""
        self.rows, self._job = self.all, None
        self._sieve.reset(())

    def _restart(self) -> None:
        """Start again with the newest rows: the user requested something else."""
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
        self._requested, self._sieve.tested = True, 0
        self._job = self._arrange()

    def _arrange_rows(self, rows: Sequence[Row]) -> None:
        self.all = rows
        if self._plain:
            self._show_all()
            return
        now = list(rows)
        alignment = align(self._sieve.rows, now)
        if alignment is None:
            self._sorting.forget()
            self._sieve.carry_over(now)
        else:
            self._sorting.follow(self._sieve, len(now), alignment)
            self._sieve.shift(now, alignment)
        self._requested = self._show_found = False
        self._job = self._arrange()

    def _arrange(self) -> Iterator[None]:
        """Filter and sort; may be abandoned after each yield."""
        wanted = self._sieve.filter
        yield from self._sieve.sift()
        if self._sieve.filter is not wanted:
            self._sorting.forget()
        if self._sorting.keys:
            yield from self._sorting.sort(self._sieve)
            self.rows = self._sorting.rows
        else:
            self.rows = self._sieve.found
