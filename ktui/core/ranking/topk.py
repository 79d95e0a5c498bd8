"""A bounded number of groups, whatever the number of clients and shapes in a log."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, Protocol, TypeVar


class Counted(Protocol):
    @property
    def count(self) -> int:
        """Requests."""
        ...

    @property
    def cost(self) -> int:
        """Their cost: microseconds in a log, bytes in live traffic."""
        ...


K = TypeVar("K", bound=Hashable)
G = TypeVar("G", bound=Counted)


class TopGroups(Generic[K, G]):
    """Groups by key. At `most` groups, the smaller half is passed to `fold` and dropped.

    The largest by count and the largest by cost are kept. A dropped group that appears again
    starts from zero, so its numbers are then too low.
    """

    def __init__(self, most: int, fold: Callable[[G], None]) -> None:
        self._most = max(4, most)
        self._fold = fold
        self._groups: dict[K, G] = {}
        self.folded = 0

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[G]:
        return iter(self._groups.values())

    def get(self, key: K) -> G | None:
        return self._groups.get(key)

    def add(self, key: K, group: G) -> G:
        if len(self._groups) >= self._most:
            self._prune()
        self._groups[key] = group
        return group

    def _prune(self) -> None:
        quarter = self._most // 4
        items = sorted(self._groups.items(), key=lambda item: item[1].count, reverse=True)
        kept = dict(items[:quarter])
        rest = sorted(items[quarter:], key=lambda item: item[1].cost, reverse=True)
        kept.update(rest[:quarter])
        for _, group in rest[quarter:]:
            self._fold(group)
        self.folded += len(rest) - quarter
        self._groups = kept
