"""Replacements for glyphs that a terminal lacks: charts in braille, blocks or ASCII, other glyphs in ASCII.

Screens are written with Unicode glyphs. For a terminal that cannot show them, `ktui.tui.looks.looks`
replaces them in painted lines, frames and scroll bars included, by those of `ASCII_OF`. A test finds
glyphs that are missing here.
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
    " ": "\u00a0\u2800",
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
    """Return the symbols that were requested, or those that the terminal can show by its TERM and locale.

    ASCII is for the Linux console, whose fonts lack most glyphs, for dumb terminals, and for
    locales that are not UTF-8. Raises ValueError if `wanted` is none of "", "auto", "braille", "block"
    and "ascii".
    """
    if wanted and wanted != "auto":
        return Symbols(wanted)
    if environ.get("TERM", "") in ("linux", "dumb", "unknown", "vt100", "vt220"):
        return Symbols.ASCII
    locale = next((environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), "")
    return Symbols.BRAILLE if "utf" in locale.lower() else Symbols.ASCII


@lru_cache(4096)
def in_ascii(text: str) -> str:
    """Return `text` in as many cells of ASCII; a character without a stand-in becomes `?`."""
    found = []
    for char in text:
        known = char if char.isascii() else ASCII_OF.get(char, "")
        if not known:
            # `é` can be read as e; a letter of another script has no such base.
            base = unicodedata.normalize("NFKD", char)[0]
            known = base if base.isascii() and base.isprintable() else "?"
        found.append(known if char.isascii() else known.ljust(cell_len(char))[: cell_len(char)])
    return "".join(found)
