"""A screen as a picture (SVG) that looks the same wherever it is drawn.

Rich's SVG relies on what only browsers do. librsvg (Linux desktops, converters) drops spaces at the ends
of a text, ignores `textLength`, and lets a character that the font lacks push what follows out of its
column. And `!=` and its like become one glyph, in browsers too.
"""

from __future__ import annotations

import html
import re

from rich.cells import cell_len

_ROOT = '<svg class="rich-terminal"'
_CELLS = ("font-size: 20px;", "font-size: 19.825px;")  # Fira Code is 0.6154 em wide, a cell of Rich's 12.2 px
_MARK = r"[!#$%&*+\-./:;<=>?\\^_|~]"  # of which Fira Code makes one glyph
_APART = rf"[\u2800-\u28ff▸▾◂▴⊘✕]|{_MARK}(?={_MARK})"  # what Fira Code lacks, and what it would join
_GAP = r"\xa0{2,}"  # between columns: what follows has a place of its own, whatever the font's width
_PIECES = re.compile(f"{_GAP}|{_APART}|(?:(?!{_GAP}|{_APART}).)+", re.DOTALL)
_TEXT = re.compile(r'(<text [^>]*)x="([\d.]+)"( [^>]*)textLength="([\d.]+)"([^>]*>)([^<]+)</text>')


def portable(svg: str) -> str:
    """Rich's picture, its spaces, columns and characters held in place."""
    svg = svg.replace(_ROOT, f'{_ROOT} xml:space="preserve"', 1).replace(*_CELLS, 1)
    return _TEXT.sub(_set_apart, svg)


def _set_apart(text: re.Match[str]) -> str:
    head, x, middle, length, tail, escaped = text.groups()
    content = html.unescape(escaped)
    pieces = _PIECES.findall(content)
    if len(pieces) == 1:
        return text[0]
    width = float(length) / len(content)  # Rich counts a wide character's length, not its place, as one cell
    column, elements = 0, []
    for piece in pieces:
        if piece.isspace():  # backgrounds are rectangles
            column += len(piece)
            continue
        at, wide = float(x) + column * width, cell_len(piece) * width
        elements.append(
            f'{head}x="{at:.10g}"{middle}textLength="{wide:.10g}"{tail}{html.escape(piece)}</text>'
        )
        column += cell_len(piece)
    return "".join(elements)
