"""Cache transcoded pieces, as much of a cluster's data repeats byte for byte.

The pods of a ReplicaSet share containers, tolerations, conditions and the fieldsV1 of their managers, so an
encoded piece is looked up before it is decoded. All caches of a codec share one budget of bytes; when it is
spent they are cleared together.
"""

from collections.abc import Callable
from typing import Any

from ktui.wire.pieces import Pieces

OVERHEAD = 220
"""Bytes that a dict entry and two bytes objects take in addition to their contents."""


class Budget:
    """Limits the bytes of all registered caches together; beyond it they are cleared."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._memos: list[dict[bytes, Any]] = []

    def register(self, memo: dict[bytes, Any]) -> None:
        self._memos.append(memo)

    def spend(self, size: int) -> None:
        self.held += size
        if self.held > self.limit:
            self.clear()
            self.held = size

    def clear(self) -> None:
        self.held = 0
        for memo in self._memos:
            memo.clear()


class TranscodeCache(dict[bytes, bytes]):
    """`cache[encoded]` is the JSON text; on a miss `make` computes it."""

    __slots__ = ("_budget", "_make")

    def __init__(self, make: Callable[[bytes], bytes], budget: Budget) -> None:
        super().__init__()
        self._make = make
        self._budget = budget
        budget.register(self)

    def __missing__(self, encoded: bytes) -> bytes:
        text = self._make(encoded)
        self._budget.spend(len(encoded) + len(text) + OVERHEAD)
        self[encoded] = text
        return text


class ShortTranscodeCache(TranscodeCache):
    """A cache for short pieces only, as long strings hardly ever repeat."""

    __slots__ = ()
    LONGEST = 512

    def __missing__(self, encoded: bytes) -> bytes:
        if len(encoded) > self.LONGEST:
            return self._make(encoded)
        return super().__missing__(encoded)


class PiecesCache(dict[bytes, Pieces]):
    """A cache for JSON text in pieces."""

    __slots__ = ("_budget", "_make")

    def __init__(self, make: Callable[[bytes], Pieces], budget: Budget) -> None:
        super().__init__()
        self._make = make
        self._budget = budget
        budget.register(self)

    def __missing__(self, encoded: bytes) -> Pieces:
        pieces = self._make(encoded)
        self._budget.spend(len(encoded) + sum(map(len, pieces)) + OVERHEAD)
        self[encoded] = pieces
        return pieces
