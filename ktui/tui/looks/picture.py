"""A screen as an SVG that looks the same in every viewer.

Rich's SVG relies on browsers. librsvg (Linux desktops, converters) drops spaces at the ends of a text,
ignores `textLength`, and a character missing in the font shifts all that follow. In browsers too, Fira
Code joins `!=` and other pairs into one glyph.
"""

from __future__ import annotations

import re

from rich.cells import cell_len

_ROOT = '<svg class="rich-terminal"'
_CELLS = ("font-size: 20px;", "font-size: 19.825px;")  # Fira Code is 0.6154 em wide, a cell of Rich's 12.2 px
_MARK = r"[!#$%&*+\-./:;<=>?\\^_|~]"  # Fira Code joins neighbours of these into one glyph
_APART = rf"[\u2800-\u28ff▸▾◂▴⊘✕]|{_MARK}(?={_MARK})"  # glyphs that Fira Code lacks, or would join
_GAP = r"\xa0{2,}"  # between columns: the text after it is placed on its own, whatever the font's width
_PIECES = re.compile(f"{_GAP}|{_APART}|(?:(?!{_GAP}|{_APART}).)+", re.DOTALL)
_TEXT = re.compile(r'(<text [^>]*)x="([\d.]+)"( [^>]*)textLength="([\d.]+)"([^>]*>)([^<]+)</text>')


def portable(svg: str) -> str:
    """Return Rich's SVG with every text at its own place: no space, column or character can shift."""
    svg = svg.replace(_ROOT, f'{_ROOT} xml:space="preserve"', 1).replace(*_CELLS, 1)
    return _TEXT.sub(_set_apart, svg)


def _set_apart(text: re.Match[str]) -> str:
    import html  # start-up time

    head, x, middle, length, tail, escaped = text.groups()
    content = html.unescape(escaped)
    pieces = _PIECES.findall(content)
    if len(pieces) == 1:
        return text[0]
    width = float(length) / len(content)  # for Rich a wide character has one cell
    column, elements = 0, []
    for piece in pieces:
        if piece.isspace():  # backgrounds are rectangles, not texts
            column += len(piece)
            continue
        at, wide = float(x) + column * width, cell_len(piece) * width
        elements.append(
            f'{head}x="{at:.10g}"{middle}textLength="{wide:.10g}"{tail}{html.escape(piece)}</text>'
        )
        column += cell_len(piece)
    return "".join(elements)
