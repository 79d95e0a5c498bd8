"""A ▼ above the columns in which a marker was set, a knob changed or a fault injected."""

from __future__ import annotations

from collections.abc import Sequence

from ktui.tui.charts.plot import Runs, columns_in
from ktui.tui.looks.symbols import Symbols

MARK = "▼"
ASCII_MARK = "v"


def marks(flags: Sequence[bool], cells: int, symbols: Symbols) -> set[int]:
    """Return the cells of the columns with a flag; the newest column is at the right."""
    per_cell = columns_in(1, symbols)
    blank = cells - -(-len(flags) // per_cell)
    return {blank + place // per_cell for place, flag in enumerate(flags) if flag}


def marked(row: Runs, places: set[int], symbols: Symbols) -> Runs:
    """Return a line of cells with a mark at the cells `places`, in place of what is there."""
    if not places:
        return row
    glyph = ASCII_MARK if symbols is Symbols.ASCII else MARK
    found, at = [], 0
    for text, style in row:
        for character in text:
            found.append((glyph, "bold $accent") if at in places else (character, style))
            at += 1
    return found
