"""Bars of text cells: lengths to compare at a glance."""

from __future__ import annotations

FULL, HALF, TRACK = "━", "╸", "─"


def bar(share: float, width: int) -> str:
    """A bar of `share` (0 … 1) of `width` cells, in steps of half a cell.

    Anything above nothing shows: half a cell is the least.
    """
    if width <= 0 or share <= 0:
        return ""
    halves = max(1, round(min(share, 1.0) * width * 2))
    return FULL * (halves // 2) + HALF * (halves % 2)


def share_of(value: float, largest: float) -> float:
    """`value` as a share of the largest one; 0 when there is none."""
    return value / largest if largest > 0 else 0.0
