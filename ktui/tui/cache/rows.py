"""The Cache screen's rows: caches, and resources without one yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from ktui.core.state import CacheRow, CacheStatus, Prefix, State
from ktui.tui.cache.objects import is_loading
from ktui.tui.cache.rv_progress import by_size

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
