"""A bar of several parts, each with its letter: shares of a whole."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.core.routes import CACHE, ERROR, ETCD, Badge
from ktui.tui.charts.bars import FULL

Part = tuple[Badge, float]


def stacked(parts: Sequence[Part], width: int) -> list[tuple[str, str]]:
    """Return the runs of a bar of `width` cells, `E━━━━━━C━━`; a part above 0 shows at least its letter."""
    shown = [(badge, value) for badge, value in parts if value > 0]
    total = sum(value for _, value in shown)
    if not shown or width < len(shown):
        return [(" " * max(0, width), "")]
    cells = [1 + int((width - len(shown)) * value / total) for _, value in shown]
    largest = max(range(len(shown)), key=lambda place: shown[place][1])
    cells[largest] += width - sum(cells)
    return [
        (badge.letter + FULL * (count - 1), badge.style)
        for (badge, _), count in zip(shown, cells, strict=True)
    ]


def by_route(etcd: float, cache: float, refused: float = 0.0) -> tuple[Part, ...]:
    """Return the parts of requests, or of bytes, by what serves them: etcd, the cache, or an error."""
    return (ETCD, etcd), (CACHE, cache), (ERROR, refused)
