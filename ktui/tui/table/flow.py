"""Whether a table follows new rows or keeps still while the user reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import Generic, TypeVar

from msgspec import Struct

Row = TypeVar("Row")


class Mood(Enum):
    """How a table shows new rows."""

    LIVE = "live"  # as they arrive
    FOLLOWING = "following"  # as they arrive, with the cursor on the last row
    LEFT = "left"  # below, out of view: the user has moved up
    HELD = "held"  # after the user resumes the table


class Waiting(Struct, Generic[Row]):
    """The rows that a held table does not show yet, and the number of new ones among them."""

    key: Callable[[Row], Hashable]
    held: Sequence[Row]
    newest: Sequence[Row] | None = None
    new: int = 0

    def take(self, rows: Sequence[Row]) -> None:
        self.newest = rows
        self.new = newer(rows, self.held, self.key)


def newer(rows: Sequence[Row], known: Sequence[Row], key: Callable[[Row], Hashable]) -> int:
    """Count the rows that are not in `known`; for appended rows in time proportional to their number."""
    if known and rows:
        count = _appended(rows, key(known[-1]), key)
        if count is not None:
            return count
    keys = set(map(key, known))
    return sum(key(row) not in keys for row in rows)


def _appended(rows: Sequence[Row], last: Hashable, key: Callable[[Row], Hashable]) -> int | None:
    """Count the rows after the one with the key `last`; None if it is not near the end."""
    for count in range(min(len(rows), 50_000)):
        if key(rows[len(rows) - 1 - count]) == last:
            return count
    return None
