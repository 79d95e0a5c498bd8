"""Every request that was counted, in 35 bytes: to find those that were logged more than once.

A request may be in two logs of its apiserver, as an audit Event and as an httplog line; a record may be in
two files, or in one file twice (exports overlap, and shippers deliver at least once). Which are the same is
decided when all is read, so that it does not depend on the order of files or on who read which.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise

from ktui.audit.formats.record import LoggedRequest, Spent

MOST = 1 << 21
"""Requests that are remembered: 73 MB."""
EVENT, STARTED, LINE = 0, 1, 2
NO_GROUP = -1
_ALL_BITS = (1 << 64) - 1


class Journal:
    """Columns of requests in the order in which they were read. `group` is an index of the Tally's."""

    COLUMNS = (
        ("id", "Q"), ("content", "I"), ("at", "q"), ("took", "q"), ("code", "h"), ("kind", "B"), ("group",
        "i"),
    )  # fmt: skip

    SLOW = 7  # numbers of a slow request: its row, and the fields of Spent
    LEARNED = 3  # numbers of an httplog line: its row, seats, initial latency

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self.id, self.content = array("Q"), array("I")
        self.at, self.took = array("q"), array("q")
        self.code, self.kind, self.group = array("h"), array("B"), array("i")
        self.slow, self.learned = array("q"), array("q")
        self.lost = 0

    def __len__(self) -> int:
        return len(self.id)

    @property
    def full(self) -> bool:
        return len(self.id) >= self._most

    def add(self, request: LoggedRequest, kind: int, group: int, content: int) -> None:
        """Remember a request; one that does not fit is counted in `lost`.

        `content`: a checksum of its user agent and URI.
        """
        row = len(self.id)
        if row >= self._most:
            self.lost += 1
            return
        self.id.append(_number(request.id))
        self.content.append(content)
        self.at.append(request.at)
        self.took.append(request.took)
        self.code.append(request.code)
        self.kind.append(kind)
        self.group.append(group)
        if (spent := request.spent) is not None:
            self.slow.extend(
                (row, spent.total, spent.queue, spent.etcd, spent.encode, spent.write, spent.other)
            )
        if kind == LINE and (request.seats >= 0 or request.init >= 0):
            self.learned.extend((row, request.seats, request.init))

    def extend(self, other: Journal, groups: list[int]) -> None:
        """Append another journal; `groups` gives the index here of each of its groups."""
        first = len(self.id)
        kept = max(0, min(len(other.id), self._most - first))
        for name, _ in self.COLUMNS:
            if name != "group":
                getattr(self, name).extend(getattr(other, name)[:kept])
        self.group.extend(groups[old] if old >= 0 else old for old in other.group[:kept])
        for mine, theirs, width in (
            (self.slow, other.slow, Journal.SLOW),
            (self.learned, other.learned, Journal.LEARNED),
        ):
            for start in range(0, len(theirs), width):
                if theirs[start] < kept:
                    mine.append(first + theirs[start])
                    mine.extend(theirs[start + 1 : start + width])
        self.lost += other.lost + len(other.id) - kept

    def slow_rows(self) -> dict[int, Spent]:
        return {row[0]: Spent(*row[1:]) for row in _rows(self.slow, Journal.SLOW)}

    def learned_rows(self) -> dict[int, tuple[int, int]]:
        """Seats and initial latency of httplog lines."""
        return {row[0]: (row[1], row[2]) for row in _rows(self.learned, Journal.LEARNED)}

    def repeated_ids(self) -> dict[int, list[int]]:
        """Rows by audit-ID, where there are several; in their order."""
        again = {one for one, next_one in pairwise(sorted(self.id)) if one == next_one and one}
        found: dict[int, list[int]] = {}
        if again:
            for row, number in enumerate(self.id):
                if number in again:
                    found.setdefault(number, []).append(row)
        return found

    def same(self, row: int) -> tuple[int, ...]:
        """What two records of one request in the same format have in common."""
        return self.id[row], self.content[row], self.at[row], self.took[row], self.code[row], self.kind[row]


def _rows(numbers: array[int], width: int) -> Iterator[tuple[int, ...]]:
    for start in range(0, len(numbers), width):
        yield tuple(numbers[start : start + width])


def _number(audit_id: str) -> int:
    """64 bits of an audit-ID, the same in every process; 0 for none."""
    if not audit_id:
        return 0
    if len(audit_id) == 36:  # a UUID, but that a client may send any text
        try:
            return int(audit_id[:8] + audit_id[24:32], 16) & _ALL_BITS or 1
        except ValueError:
            pass
    return int.from_bytes(blake2b(audit_id.encode("utf-8", "replace"), digest_size=8).digest(), "little") | 1
