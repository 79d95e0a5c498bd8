"""Replacements for glyphs that a terminal lacks: braille, block or ASCII charts, and every glyph in ASCII.

The screens are written with Unicode glyphs. A terminal that cannot show them gets the
stand-ins of `ASCII_OF`, put in as lines are painted (`ktui.tui.looks.filters`), frames and
scroll bars included: so one table holds all glyphs, and a test finds one that is missing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

from rich.cells import cell_len

_FRAMES = {
    "-": "─═▔▁",
    "=": "━╸╺",
    ".": "┄┈╌╍",
    "|": "│┃╎┆┊╏║▏▕▎",
    "+": "┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛╔╗╚╝▗▖▝▘▛▜▙▟",
    "#": "█▉▊▋▆▇▅▄▀▐■▓▒",
    ":": "▌▍▃▂░",
}
_MARKS = {
    ">": "▸▶›→⟩▷",
    "<": "◂◀‹←⟨◁",
    "v": "▾▼↓",
    "^": "▴▲↑△",
    "*": "●•★◉⬤",
    "o": "○◌",
    "%": "◐◑◒◓",
    "&": "◆",
    "$": "◇",
    "x": "×✕✗",
    "@": "⊘",
    "!": "≠",
    ".": "·",
    "~": "…≈",
    "-": "−–—",
    "[": "□",
    '"': "“”",
    "'": "‘’",
    "y": "✓",
    "p": "‖",
    "r": "↻",
    "q": "≤",
    "g": "≥",
    "u": "µ",
    " ": "\u00a0",
    "f": "🔎",
    "e": "␛",
    "d": "␡",
    "+": "±",
}
# One stand-in for each glyph, of one cell.
ASCII_OF: dict[str, str] = {
    glyph: ascii_ for table in (_FRAMES, _MARKS) for ascii_, glyphs in table.items() for glyph in glyphs
}


class Symbols(StrEnum):
    """How charts are drawn; `ascii` holds for the whole screen."""

    BRAILLE = "braille"
    BLOCK = "block"
    ASCII = "ascii"


def choose(wanted: str, environ: Mapping[str, str]) -> Symbols:
    """What was asked for, else what the terminal can show by its name and locale.

    The Linux console's fonts lack most glyphs, a dumb terminal promises nothing, and
    a locale that is not UTF-8 cannot even name them. Raises ValueError for a word
    that is none of the three.
    """
    if wanted and wanted != "auto":
        return Symbols(wanted)
    if environ.get("TERM", "") in ("linux", "dumb", "unknown", "vt100", "vt220"):
        return Symbols.ASCII
    locale = next((environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), "")
    return Symbols.BRAILLE if "utf" in locale.lower() else Symbols.ASCII


@lru_cache(4096)
def in_ascii(text: str) -> str:
    """`text` in as many cells of plain ASCII; what has no stand-in becomes `?`."""
    return text if text.isascii() else "".join(_stand_in(char) for char in text)


def _stand_in(char: str) -> str:
    if char.isascii():
        return char
    known = ASCII_OF.get(char)
    if known is None:
        # `é` is an e to a reader; a letter of another script is not to be guessed.
        base = unicodedata.normalize("NFKD", char)[0]
        known = base if base.isascii() and base.isprintable() else "?"
    return known.ljust(cell_len(char))[: cell_len(char)]
