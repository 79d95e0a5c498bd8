"""What a watch cache is doing, and its objects and events page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ktui.contract.caches import CachedObject, ObjectPage
from ktui.core.state import CacheRow, CacheStatus

# A shape beside every colour, so that neither has to be told apart by hue.
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
    """Share loaded so far, 0 … 1; None when it is not loading or the total is not known."""
    if not is_loading(cache) or cache.expected <= 0:
        return None
    return min(1.0, cache.loaded / cache.expected)


def window(row: CacheRow) -> int:
    """Revisions that a WATCH may go back from here; 0 while there is no window."""
    return max(0, row.rv - row.cache.oldest_rv) if row.cache.oldest_rv else 0


class Unread(CachedObject, frozen=True):
    """Stands for the object in row `index` until its page is here."""

    index: int = 0


class ObjectPages(Sequence[CachedObject]):
    """A window onto a long list of which only the pages that were looked at are here."""

    def __init__(self, page_size: int = 200, keep: int = 64) -> None:
        self.page_size = page_size
        self.total = 0
        self.rv = 0
        self._keep = keep
        self._pages: dict[int, list[CachedObject]] = {}
        self._stale: set[int] = set()
        self._asked: set[int] = set()

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, index: int) -> CachedObject: ...
    @overload
    def __getitem__(self, index: slice) -> list[CachedObject]: ...
    def __getitem__(self, index: int | slice) -> CachedObject | list[CachedObject]:
        """The object in row `index`, or an Unread while its page is not here."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self.total))]
        if not 0 <= index < self.total:
            raise IndexError(index)
        page = self._pages.get(index // self.page_size, [])
        at = index % self.page_size
        return page[at] if at < len(page) else Unread(index=index)

    def missing(self, first: int, last: int) -> list[int]:
        """Offsets of the pages that rows `first` … `last` need and that are not being read yet."""
        if self.total == 0:
            return []
        pages = range(max(0, first) // self.page_size, min(last, self.total - 1) // self.page_size + 1)
        here = self._pages.keys() - self._stale
        return [page * self.page_size for page in pages if page not in here and page not in self._asked]

    def begin(self, offset: int) -> bool:
        """Note that a page is being read; False when it is already."""
        number = offset // self.page_size
        if number in self._asked:
            return False
        self._asked.add(number)
        return True

    def fail(self, offset: int) -> None:
        """The page did not come."""
        self._asked.discard(offset // self.page_size)

    def put(self, offset: int, page: ObjectPage) -> None:
        """Keep a page; the one read longest ago goes when there are too many."""
        number = offset // self.page_size
        self._pages.pop(number, None)
        self._pages[number] = page.objects
        self._stale.discard(number)
        self._asked.discard(number)
        self.total, self.rv = page.total, page.revision
        while len(self._pages) > self._keep:
            del self._pages[next(iter(self._pages))]

    def outdate(self) -> None:
        """The list has changed: pages stay to be seen, and are read again when they are looked at."""
        self._stale.update(self._pages)
