"""State of a watch cache, and its objects as pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ktui.contract.caches import CachedObject, ObjectPage
from ktui.core.state import CacheRow, CacheStatus

# Each state has its own glyph, not only its own colour.
GLYPHS = {
    "ready": "●",
    "initializing": "◐",
    "reinitializing": "↻",
    "cold": "○",
    "disabled": "⊘",
    "stale": "◌",
}


def is_loading(cache: CacheStatus) -> bool:
    return cache.state in ("initializing", "reinitializing")


def loaded_share(cache: CacheStatus) -> float | None:
    """Return the share loaded so far (0–1); None if it is not loading, or the total is unknown."""
    if not is_loading(cache) or cache.expected <= 0:
        return None
    return min(1.0, cache.loaded / cache.expected)


def window(row: CacheRow) -> int:
    """Return how many revisions before the current one a WATCH can start at; 0 without an event buffer."""
    return max(0, row.rv - row.cache.oldest_rv) if row.cache.oldest_rv else 0


class Unread(CachedObject, frozen=True):
    """Stands for the object in row `index` until its page has been read."""

    index: int = 0


class ObjectPages(Sequence[CachedObject]):
    """A long list of objects of which only the visited pages are held."""

    def __init__(self, page_size: int = 200, keep: int = 64) -> None:
        self.page_size = page_size
        self.total = 0
        self.rv = 0
        self._keep = keep
        self._pages: dict[int, list[CachedObject]] = {}
        self._stale: set[int] = set()
        self._requested: set[int] = set()

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, index: int) -> CachedObject: ...
    @overload
    def __getitem__(self, index: slice) -> list[CachedObject]: ...
    def __getitem__(self, index: int | slice) -> CachedObject | list[CachedObject]:
        """Return the object in row `index`, or an Unread if its page is not held."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self.total))]
        if not 0 <= index < self.total:
            raise IndexError(index)
        page = self._pages.get(index // self.page_size, [])
        at = index % self.page_size
        return page[at] if at < len(page) else Unread(index=index)

    def missing(self, first: int, last: int) -> list[int]:
        """Return the offsets of the pages for rows `first` to `last` that are neither held nor being read."""
        if self.total == 0:
            return []
        pages = range(max(0, first) // self.page_size, min(last, self.total - 1) // self.page_size + 1)
        here = self._pages.keys() - self._stale
        return [page * self.page_size for page in pages if page not in here and page not in self._requested]

    def begin(self, offset: int) -> bool:
        """Record that a page is being read. Return False if it already was."""
        number = offset // self.page_size
        if number in self._requested:
            return False
        self._requested.add(number)
        return True

    def fail(self, offset: int) -> None:
        """Record that reading a page has failed."""
        self._requested.discard(offset // self.page_size)

    def put(self, offset: int, page: ObjectPage) -> None:
        """Hold a page, and drop the one read longest ago if there are more than `keep`."""
        number = offset // self.page_size
        self._pages.pop(number, None)
        self._pages[number] = page.objects
        self._stale.discard(number)
        self._requested.discard(number)
        self.total, self.rv = page.total, page.revision
        while len(self._pages) > self._keep:
            del self._pages[next(iter(self._pages))]

    def mark_stale(self) -> None:
        """Have all pages read again when they are next visible; until then they are shown as they are."""
        self._stale.update(self._pages)
