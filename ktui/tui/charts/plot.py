"""Columns of dots in braille, blocks or ASCII: stacked, or two series above and below a middle line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle, groupby

from msgspec import Struct

from ktui.tui.looks.symbols import Symbols

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_HANGING = " ▔▔▀▀▀▀██"  # hanging eighths: few fonts have them all
# A braille cell's dots from its foot upwards: left column, right column.
_DOTS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
_BRAILLE = 0x2800
_DOT_ROWS = {Symbols.BRAILLE: 4, Symbols.BLOCK: 8, Symbols.ASCII: 1}

Runs = list[tuple[str, str]]  # text, style


class Series(Struct, frozen=True):
    """One value per column, oldest first; `mark` is its letter in ASCII.

    A cell shared by several series has the colour of the greatest; a `loud` one takes precedence.
    """

    mark: str
    style: str
    values: Sequence[float]
    loud: bool = False


def columns_in(cells: int, symbols: Symbols) -> int:
    """Return the columns that fit into `cells`: braille has two in each."""
    return cells * 2 if symbols is Symbols.BRAILLE else cells


def round_top(value: float, least: float = 1.0) -> float:
    """Return the first of 1, 2, 5, 10 … times `least` that holds `value`: a steady end for an axis."""
    top, steps = least, cycle((2.0, 2.5, 2.0))
    while top < value:
        top *= next(steps)
    return top


def stacked(series: Sequence[Series], top: float, width: int, height: int, symbols: Symbols) -> list[Runs]:
    """Return `height` lines of `width` cells with the first series at the foot and `top` at the upper edge.

    A value above 0 takes at least one dot. Where not all columns fit, the newest are drawn.
    """
    dots, room = height * _DOT_ROWS[symbols], columns_in(width, symbols)
    places = range(min((len(item.values) for item in series), default=0))[-room:]
    piles = [_pile([item.values[place] for item in series], top, dots) for place in places]
    return [_line(series, piles, row, width, symbols) for row in reversed(range(height))]


def mirrored(up: Series, down: Series, top: float, width: int, height: int, symbols: Symbols) -> list[Runs]:
    """Return lines with `up` rising from the middle line and `down` hanging from it, on one scale."""
    above = height // 2
    rising = stacked([up], top, width, above, symbols)
    hanging = stacked([down], top, width, height - above, symbols)[::-1]
    return rising + [[(_turned(text, symbols), style) for text, style in runs] for runs in hanging]


def _pile(values: Sequence[float], top: float, dots: int) -> list[int]:
    """Return the index of the series that each dot of a column belongs to, from the foot upwards."""
    shown = [(index, value) for index, value in enumerate(values) if value > 0]
    if not shown:
        return []
    total = sum(value for _, value in shown)
    height = min(dots, max(len(shown), round(total / top * dots)))
    counts = [max(1, int(height * value / total)) for _, value in shown]
    greatest = max(range(len(shown)), key=lambda place: shown[place][1])
    counts[greatest] += max(1 - counts[greatest], height - sum(counts))
    pile = [index for (index, _), count in zip(shown, counts, strict=True) for _ in range(count)]
    return pile[-dots:]  # keep the rare series, on top, where there are more series than dots


def _line(
    series: Sequence[Series], piles: Sequence[list[int]], row: int, width: int, symbols: Symbols
) -> Runs:
    per_cell, rows = columns_in(1, symbols), _DOT_ROWS[symbols]
    cells: Runs = []
    blank = width - -(-len(piles) // per_cell)
    for first in range(0, len(piles), per_cell):
        stacks = [pile[row * rows : (row + 1) * rows] for pile in piles[first : first + per_cell]]
        owners = Counter(owner for stack in stacks for owner in stack)
        if not owners:
            cells.append((" ", ""))
            continue
        owner = max(owners, key=lambda item: (series[item].loud, owners[item], item))
        glyph = series[owner].mark if symbols is Symbols.ASCII else _EIGHTHS[len(stacks[0])]
        if symbols is Symbols.BRAILLE:
            columns = zip(_DOTS, stacks, strict=False)
            glyph = chr(_BRAILLE + sum(dot for column, stack in columns for dot in column[: len(stack)]))
        cells.append((glyph, series[owner].style))
    # Neighbouring cells of one style are one run.
    runs = groupby([(" " * blank, "")] * (blank > 0) + cells, key=lambda cell: cell[1])
    return [("".join(text for text, _ in group), style) for style, group in runs]


def _turned(text: str, symbols: Symbols) -> str:
    """Return a line of cells upside down."""
    if symbols is Symbols.ASCII:
        return text
    if symbols is Symbols.BLOCK:
        return text.translate(dict(zip(map(ord, _EIGHTHS), _HANGING, strict=True)))
    mirrors = [pair for column in _DOTS for pair in zip(column, reversed(column), strict=True)]
    lit = [0 if char == " " else ord(char) - _BRAILLE for char in text]
    turned = [sum(dot for dot, other in mirrors if cell & other) for cell in lit]
    return "".join(chr(_BRAILLE + cell) if cell else " " for cell in turned)


# Stands above a column in which a marker was set, a knob changed or a fault injected, with its name.
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
