"""The most recent names, for completion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

KEPT = 5_000


class RecentNames:
    """A set that keeps the `KEPT` names added last."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            self._names.pop(name, None)
            self._names[name] = None
        while len(self._names) > KEPT:
            del self._names[next(iter(self._names))]

    def __iter__(self) -> Iterator[str]:
        """Iterate from the newest name to the oldest."""
        return reversed(self._names)
