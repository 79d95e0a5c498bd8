"""Bars of text cells."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.core.rows import CACHE, ERROR, ETCD, Badge

FULL, HALF, TRACK = "━", "╸", "─"


def bar(share: float, width: int) -> str:
    """Return a bar of `share` (0–1) of `width` cells, in steps of half a cell.

    A share above 0 takes at least half a cell.
    """
    if width <= 0 or share <= 0:
        return ""
    halves = max(1, round(min(share, 1.0) * width * 2))
    return FULL * (halves // 2) + HALF * (halves % 2)


def share_of(value: float, largest: float) -> float:
    """Return `value` as a share (0–1) of `largest`; 0 if that is 0."""
    return value / largest if largest > 0 else 0.0


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
