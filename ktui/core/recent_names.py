"""The most recent names, newest first, bounded: offered by completion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

KEPT = 5_000


class RecentNames:
    """A bounded set in order of arrival."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def add(self, names: Iterable[str]) -> None:
        for name in names:
            self._names.pop(name, None)
            self._names[name] = None
        while len(self._names) > KEPT:
            del self._names[next(iter(self._names))]

    def __iter__(self) -> Iterator[str]:
        """Newest first."""
        return reversed(self._names)
