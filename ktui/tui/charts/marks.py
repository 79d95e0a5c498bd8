"""A ▼ above the columns in which a marker was set, a knob changed or a fault injected, with its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ktui.tui.charts.plot import Runs, columns_in
from ktui.tui.looks.symbols import Symbols

MARK = "▼"
ASCII_MARK = "v"
BLANK = " \u2800"  # nothing is drawn in these cells
SHORTEST = 5  # cells for a name that is cut


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


def named(row: Runs, names: Mapping[int, str]) -> Runs:
    """Return a line of cells with each name after the mark at its cell, up to the next mark.

    Only blank cells are overwritten: what is drawn there counts more.
    """
    if not names:
        return row
    cells = [(character, style) for text, style in row for character in text]
    places = sorted(names)
    for place, end in zip(places, [*places[1:], len(cells)], strict=True):
        room = 0
        while place + 1 + room < end and cells[place + 1 + room][0] in BLANK:
            room += 1
        room -= end < len(cells)  # a space before the next mark
        text = names[place]
        if room < len(text):
            text = f"{text[: room - 1]}…" if room >= SHORTEST else ""
        cells[place + 1 : place + 1 + len(text)] = [(character, "$ink-muted") for character in text]
    return cells
