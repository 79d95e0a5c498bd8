"""The Cache screen's rows: caches, and resources without one yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import overload

from ktui.contract.cache_documents import CachedObject, ObjectPage
from ktui.core.state import CacheRow, CacheStatus, Prefix, State
from ktui.tui.cache.rv_progress import by_size

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


SHARE_STEPS = 28  # steps in which shares are drawn, so that one more byte does not repaint every line


@dataclass(frozen=True, slots=True, eq=False)
class CacheLine:
    """A cache, how far it is behind etcd's head, and what etcd holds under its prefix."""

    row: CacheRow
    lag: int
    prefix: Prefix | None = None
    per_second: float = 0.0  # recent events from etcd
    share: float = 0.0  # of the bytes of the largest (0–1)

    @property
    def cache(self) -> CacheStatus:
        return self.row.cache

    @property
    def resource(self) -> str:
        return self.row.resource

    @property
    def bytes(self) -> int:
        """Bytes that the cache holds, has loaded so far, or would read from etcd."""
        if is_loading(self.cache):
            return self.cache.loaded_bytes
        return self.prefix.bytes if not self.row.live and self.prefix is not None else self.cache.bytes


class CacheLines:
    """Builds the lines from the state, and reuses each line that has not changed."""

    def __init__(self) -> None:
        self._lines: dict[str, CacheLine] = {}
        self._cold: dict[str, CacheRow] = {}

    def of(self, state: State) -> list[CacheLine]:
        """Return a line for every cache, and for every resource in etcd without one (cold)."""
        prefixes = {prefix.resource: prefix for prefix in state.prefixes.values() if prefix.resource}
        rows = dict(state.caches)
        for resource in prefixes.keys() - rows.keys():
            rows[resource] = self._cold_row(resource)
        before, self._lines = self._lines, {}
        head = state.head.revision
        lines = [
            CacheLine(row, row.lag(head), prefixes.get(row.resource), state.events_per_second(row.resource))
            for row in rows.values()
        ]
        most = max((line.bytes for line in lines), default=0)
        lines = [replace(line, share=_share(line.bytes, most)) for line in lines]
        for line in sorted(lines, key=_order):
            self._lines[line.resource] = _same_or(before.get(line.resource), line)
        return list(self._lines.values())

    def _cold_row(self, resource: str) -> CacheRow:
        row = self._cold.get(resource)
        if row is None:
            row = self._cold[resource] = CacheRow(CacheStatus(resource=resource, state="cold"), rv=0)
        return row


def _order(line: CacheLine) -> tuple[int, int, str]:
    """Return the sort key: the largest caches first, as on the Overview; then prefixes without one."""
    if is_loading(line.cache) or line.cache.objects:
        return 0, *by_size(line.row)
    count = line.prefix.count if line.prefix is not None else 0
    return (1 if count else 2), -count, line.resource


def _share(size: int, most: int) -> float:
    """Return a share (0–1) rounded up to a step, so that a small one is still visible."""
    return ceil(size / most * SHARE_STEPS) / SHARE_STEPS if most else 0.0


def _same_or(before: CacheLine | None, now: CacheLine) -> CacheLine:
    if before is None or _shown(before) != _shown(now):
        return now
    return before


def _shown(line: CacheLine) -> tuple[object, ...]:
    return line.row, line.lag, line.prefix, line.per_second, line.share
