"""Whether a table follows new rows, or stands still while the user reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import Enum
from typing import Generic, TypeVar

from msgspec import Struct

Row = TypeVar("Row")


class Mood(Enum):
    """How a table takes new rows."""

    LIVE = "live"  # they show as they come
    FOLLOWING = "following"  # … and the cursor goes with the last one
    LEFT = "left"  # they show below, out of view
    HELD = "held"  # they wait


class Waiting(Struct, Generic[Row]):
    """The rows that a held table does not show yet, and how many of them are new."""

    key: Callable[[Row], Hashable]
    held: Sequence[Row]
    newest: Sequence[Row] | None = None
    new: int = 0

    def take(self, rows: Sequence[Row]) -> None:
        self.newest = rows
        self.new = newer(rows, self.held, self.key)


def newer(rows: Sequence[Row], known: Sequence[Row], key: Callable[[Row], Hashable]) -> int:
    """Rows that came after `known`: where rows are appended that takes as long as there are new ones."""
    if known and rows:
        count = _appended(rows, key(known[-1]), key)
        if count is not None:
            return count
    keys = set(map(key, known))
    return sum(key(row) not in keys for row in rows)


def _appended(rows: Sequence[Row], last: Hashable, key: Callable[[Row], Hashable]) -> int | None:
    """Rows after the one with the key `last`; None when it is not near the end."""
    for count in range(min(len(rows), 50_000)):
        if key(rows[len(rows) - 1 - count]) == last:
            return count
    return None
