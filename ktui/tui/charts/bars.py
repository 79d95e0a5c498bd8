"""Bars of text cells."""

from __future__ import annotations

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
