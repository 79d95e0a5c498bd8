"""Cache transcoded pieces, as much of a cluster's data repeats byte for byte.

The pods of a ReplicaSet share containers, tolerations, conditions and the fieldsV1 of their managers, so an
encoded piece is looked up before it is decoded. All caches of a codec share one budget of bytes. What is seen
for the first time is not kept: most of it (names, times, counters) is never seen again. When half of the
budget is spent on new pieces, and when a server says so (`age`), those that were not used since the last time
are dropped.
"""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar
from weakref import WeakSet

from ktui.wire.pieces import Pieces

OVERHEAD = 220
"""Bytes that a dict entry and two bytes objects take in addition to their contents."""

_MARKS = 1 << 16
_MOST_MARKED = _MARKS // 4

T = TypeVar("T", bytes, Pieces)

_BUDGETS: "WeakSet[Budget]" = WeakSet()


def age() -> Iterator[int]:
    """Drop the pieces that were not used since the last call, one cache a step; yield how many bytes go."""
    for budget in list(_BUDGETS):
        yield from budget.age()


class Budget:
    """Limits the bytes of all registered caches together: half for the new pieces, half for older ones."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0  # by the new pieces
        self._old = 0  # by the older ones
        self._drops: list[Callable[[], None]] = []
        self._marks = bytearray(_MARKS)
        self._marked = 0
        _BUDGETS.add(self)

    def register(self, drop: Callable[[], None]) -> None:
        """Add a cache; `drop` drops its older pieces, and makes the new ones older."""
        self._drops.append(drop)

    def spend(self, size: int) -> None:
        self.held += size
        if self.held > self.limit // 2:
            self.drop()
            self.held = size

    def drop(self) -> None:
        """Drop the older pieces, and make the new ones older."""
        self._old, self.held = self.held, 0
        for drop in self._drops:
            drop()

    def age(self) -> Iterator[int]:
        """The same, one cache a step. The first value is the bytes of the older pieces, the others are 0."""
        dropped, self._old, self.held = self._old, self.held, 0
        if not dropped and not self._old:
            return
        for drop in self._drops:
            drop()
            yield dropped
            dropped = 0

    def is_new(self, number: int) -> bool:
        """Mark a hash; return whether it was not marked before (sometimes wrongly False)."""
        at = number & _MARKS - 1
        if self._marks[at]:
            return False
        self._marks[at] = 1
        self._marked += 1
        if self._marked > _MOST_MARKED:
            self._marks, self._marked = bytearray(_MARKS), 0
        return True


class TranscodeCache(dict[bytes, T], Generic[T]):
    """`cache[encoded]`; on a miss `make` computes it."""

    __slots__ = ("_budget", "_make", "_older")
    _make: Callable[[bytes], T]

    def __init__(self, make: Callable[[bytes], T], budget: Budget) -> None:
        super().__init__()
        self._make = make
        self._budget = budget
        self._older: dict[bytes, T] = {}
        budget.register(self._drop)

    def __missing__(self, encoded: bytes) -> T:
        found = self._older.get(encoded)
        if found is None:
            found = self._make(encoded)
            if self._budget.is_new(hash(encoded) ^ id(self) >> 4):
                return found
        self._budget.spend(len(encoded) + self._size(found) + OVERHEAD)
        self[encoded] = found
        return found

    def _size(self, found: T) -> int:
        return len(found)

    def _drop(self) -> None:
        self._older = dict(self)
        self.clear()


class ShortTranscodeCache(TranscodeCache[bytes]):
    """A cache for short pieces only, as long strings hardly ever repeat."""

    __slots__ = ()
    LONGEST = 512

    def __missing__(self, encoded: bytes) -> bytes:
        if len(encoded) > self.LONGEST:
            return self._make(encoded)
        return super().__missing__(encoded)


class PiecesCache(TranscodeCache[Pieces]):
    """A cache for JSON text in pieces."""

    __slots__ = ()

    def _size(self, found: Pieces) -> int:
        return sum(map(len, found))
