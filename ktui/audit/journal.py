"""All counted requests, 35 bytes each, to find those that were logged more than once.

A request may be in two logs of its apiserver, as an audit Event and as an httplog line. A record may be in
two files, or twice in one file (exports overlap, and shippers deliver at least once). Duplicates are found
once all logs are read, so the result does not depend on the order of files or on which process read them.
"""

from __future__ import annotations

import sys
from array import array
from binascii import unhexlify
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import compress
from typing import ClassVar

import msgspec

from ktui.audit import observed
from ktui.audit.formats.log_record import READS, LoggedRequest, Spent

MOST = 1 << 21
"""Most requests in a journal: 73 MB."""
EVENT, STARTED, LINE, TRACE, TRACE_LINE = 0, 1, 2, 3, 4
NO_GROUP = -1
_PARTS = 8
_HEX, _UUID, _DASHES = 32, 36, (8, 13, 18, 23)


class Journal:
    """Columns of requests in the order in which they were read. `group` is an index of the Tally's."""

    COLUMNS: ClassVar = {
        "id": "Q", "content": "I", "at": "q", "took": "q", "code": "h", "kind": "B", "group": "i",
    }  # fmt: skip
    # How many numbers some requests have, the first of them the row: then of a slow one those of Spent, of an
    # httplog line its seats and init latency (-1 if unknown), of a trace what is added up of it.
    SIDES: ClassVar = {"slow": 1 + len(Spent.__struct_fields__), "learned": 3, "traced": 1 + observed.WIDTH}
    CODES: ClassVar = {**COLUMNS, **dict.fromkeys(SIDES, "q")}

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self.id, self.content = array("Q"), array("I")
        self.at, self.took = array("q"), array("q")
        self.code, self.kind, self.group = array("h"), array("B"), array("i")
        self.slow, self.learned, self.traced = array("q"), array("q"), array("q")
        self.lost = 0

    def __len__(self) -> int:
        return len(self.id)

    @property
    def full(self) -> bool:
        return len(self) >= self._most

    def add(
        self, requests: Sequence[LoggedRequest], kinds: Sequence[int], groups: Sequence[int],
        contents: Sequence[int],
    ) -> None:  # fmt: skip
        """Add requests with their `kind_of` and checksums; those that do not fit are counted in `lost`."""
        first = len(self)
        kept = max(0, self._most - first)
        self.lost += max(0, len(requests) - kept)
        requests = requests[:kept]
        self.id.extend(_numbers([request.id for request in requests]))
        self.content.extend(contents[:kept])
        self.at.extend([request.at for request in requests])
        self.took.extend([request.took for request in requests])
        self.code.extend([request.code for request in requests])
        self.group.extend(groups[:kept])
        self.kind.extend(kinds[:kept])
        for row, (request, kind) in enumerate(zip(requests, kinds, strict=False), first):
            if (spent := request.spent) is not None:
                self.slow.extend((row, *msgspec.structs.astuple(spent)))
            if request.traced is not None:
                self.traced.extend((row, *observed.numbers_of(request.traced)))
            if (kind == LINE or request.traced is not None) and (request.seats >= 0 or request.init >= 0):
                self.learned.extend((row, request.seats, request.init))

    def extend(self, other: Journal, groups: list[int]) -> None:
        """Append another journal; `groups` maps its group indexes to those of this journal."""
        first = len(self.id)
        kept = max(0, min(len(other.id), self._most - first))
        for name in self.COLUMNS:
            if name != "group":
                getattr(self, name).extend(getattr(other, name)[:kept])
        self.group.extend(groups[old] if old >= 0 else old for old in other.group[:kept])
        for side, width in self.SIDES.items():
            mine, theirs = getattr(self, side), getattr(other, side)
            for start in range(0, len(theirs), width):
                if theirs[start] < kept:
                    mine.extend((first + theirs[start], *theirs[start + 1 : start + width]))
        self.lost += other.lost + len(other.id) - kept

    def by_row(self, side: str) -> dict[int, array[int]]:
        """Return the further numbers of requests that have any, by row; `side` is one of SIDES."""
        numbers, width = getattr(self, side), self.SIDES[side]
        starts = range(0, len(numbers), width)
        return {numbers[start]: numbers[start + 1 : start + width] for start in starts}

    def repeated_ids(self) -> list[list[int]]:
        """Return the rows of each audit-ID that is in several records of a kind, or in both logs."""
        kinds = self.kind.tobytes()
        if any(kind in kinds for kind in (LINE, TRACE, TRACE_LINE)):
            again = _repeated(self.id)
        else:  # start and end of a WATCH are no duplicates
            chosen = (kinds.translate(_only(kind)) for kind in (EVENT, STARTED))
            again = set().union(*(_repeated(array("Q", compress(self.id, mask))) for mask in chosen))
        found: dict[int, list[int]] = {}
        if again:
            for row, number in enumerate(self.id):
                if number in again:
                    found.setdefault(number, []).append(row)
        return list(found.values())

    def identity(self, row: int) -> tuple[int, ...]:
        """Return the values that two records of one request in the same format share."""
        return self.id[row], self.content[row], self.at[row], self.took[row], self.code[row], self.kind[row]


def kind_of(request: LoggedRequest) -> int:
    """Return EVENT, STARTED (an Event of a WATCH that began), LINE (of httplog), TRACE or TRACE_LINE.

    TRACE_LINE is a trace without the query: klog's, or spans without the server's.
    """
    if request.traced is not None:
        return TRACE if request.query else TRACE_LINE
    if request.verb not in READS:  # httplog has verbs in capitals
        return LINE
    return EVENT if request.done else STARTED


def _repeated(numbers: array[int]) -> set[int]:
    """Return the numbers that appear more than once, except 0.

    One part of the numbers at a time, because a set takes 60 bytes per number.
    """
    found = set[int]()
    last = numbers.tobytes()[7::8]
    for part in range(_PARTS):
        some = list(compress(numbers, last.translate(_only(part))))
        if len(set(some)) < len(some):
            found.update(number for number, count in Counter(some).items() if count > 1)
    return found - {0}


def _only(value: int) -> bytes:
    """Return a table for `bytes.translate`: 1 for bytes that equal `value` modulo _PARTS, else 0."""
    return bytes(byte % _PARTS == value for byte in range(256))


def _numbers(ids: Sequence[str]) -> Iterator[int]:
    """Return 64 bits of each audit-ID, equal in every process; 0 without an ID."""
    text = "".join(ids)
    lengths = set(map(len, ids))
    if lengths == {_UUID} and all(text[at::_UUID].count("-") == len(ids) for at in _DASHES):
        text = text.replace("-", "")
    if len(text) == _HEX * len(ids) and lengths in ({_UUID}, {_HEX}):
        try:
            numbers = _folded(unhexlify(text))
        except ValueError:
            pass
        else:
            if 0 not in numbers:
                return iter(numbers)
    return map(_number, ids)


def _folded(bits: bytes) -> array[int]:
    """XOR both halves of each 128 bits: IDs that differ in one half differ in the result."""
    halves = array("Q", bits)
    first, second = (int.from_bytes(halves[side::2].tobytes(), sys.byteorder) for side in (0, 1))
    return array("Q", (first ^ second).to_bytes(len(bits) // 2, sys.byteorder))


def _number(audit_id: str) -> int:
    if not audit_id:
        return 0
    bare = audit_id.replace("-", "")
    if len(bare) == _HEX:  # may still be no UUID: a client can send any text
        try:
            return _folded(unhexlify(bare))[0] or 1
        except ValueError:
            pass
    return int.from_bytes(blake2b(audit_id.encode("utf-8", "replace"), digest_size=8).digest(), "little") | 1
