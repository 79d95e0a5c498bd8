"""The Cache screen's rows: each cache with its lag, and resources that nobody has asked for yet."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.tui.model.cache_view import is_loading
from ktui.tui.model.state import CacheRow, CacheState, Prefix, State


@dataclass(frozen=True, slots=True, eq=False)
class CacheLine:
    """A cache, how far etcd's head is ahead of it, and what etcd holds under its prefix."""

    row: CacheRow
    lag: int
    prefix: Prefix | None = None

    @property
    def cache(self) -> CacheState:
        return self.row.cache

    @property
    def resource(self) -> str:
        return self.row.resource


class CacheLines:
    """Makes the lines anew from the state, keeping each one that has not changed."""

    def __init__(self) -> None:
        self._lines: dict[str, CacheLine] = {}
        self._cold: dict[str, CacheRow] = {}

    def of(self, state: State) -> list[CacheLine]:
        """Every cache, then (cold) every resource that etcd holds and that has no cache yet."""
        prefixes = {prefix.resource: prefix for prefix in state.prefixes.values() if prefix.resource}
        rows = dict(state.caches)
        for resource in prefixes.keys() - rows.keys():
            rows[resource] = self._cold_row(resource)
        before, self._lines = self._lines, {}
        head = state.head.revision
        lines = [CacheLine(row, row.lag(head), prefixes.get(row.resource)) for row in rows.values()]
        for line in sorted(lines, key=_order):
            self._lines[line.resource] = _same_or(before.get(line.resource), line)
        return list(self._lines.values())

    def _cold_row(self, resource: str) -> CacheRow:
        row = self._cold.get(resource)
        if row is None:
            row = self._cold[resource] = CacheRow(CacheState(resource=resource, state="cold"), rv=0)
        return row


def _order(line: CacheLine) -> tuple[int, str]:
    """What is being filled or holds something first, then what etcd holds, then the empty; by name."""
    if is_loading(line.cache) or line.cache.objects:
        return 0, line.resource
    return (1 if line.prefix is not None and line.prefix.count else 2), line.resource


def _same_or(before: CacheLine | None, now: CacheLine) -> CacheLine:
    if before is None or (before.row, before.lag, before.prefix) != (now.row, now.lag, now.prefix):
        return now
    return before
