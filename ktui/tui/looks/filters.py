"""Filters of painted lines for a terminal without colours, or without Unicode."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from ktui.tui.looks.symbols import in_ascii


class AsciiFilter(LineFilter):
    """Every glyph replaced by its ASCII stand-in, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(in_ascii(text), style, control) for text, style, control in segments]


class ColourlessFilter(LineFilter):
    """No colour at all, as NO_COLOR asks: the terminal's own two, and attributes for what must show.

    Textual's own filter leaves greys, which are colours to a terminal. Here the cursor's
    row turns to reverse video and what is written faintly to dim.
    """

    def __init__(self) -> None:
        super().__init__()
        self._raised: frozenset[str] = frozenset()
        self._faint: frozenset[str] = frozenset()

    def follow(self, *, raised: frozenset[str], faint: frozenset[str]) -> None:
        """The theme's backgrounds that set something off, and its faint inks (both `#rrggbb`)."""
        self._raised, self._faint = raised, faint
        _plain.cache_clear()

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        raised, faint = self._raised, self._faint
        return [
            Segment(text, style and _plain(style, raised, faint), control)
            for text, style, control in segments
        ]


@lru_cache(2048)
def _plain(style: Style, raised: frozenset[str], faint: frozenset[str]) -> Style:
    plain = style.without_color
    if style.meta:
        plain += Style.from_meta(style.meta)  # what a click on it does
    if style.bgcolor is not None and style.bgcolor.name in raised:
        return plain + Style(reverse=True)
    if style.color is not None and style.color.name in faint and not style.bold:
        return plain + Style(dim=True)
    return plain
