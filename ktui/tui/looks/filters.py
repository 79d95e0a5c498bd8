"""Filters of painted lines for a terminal without colours, or without Unicode."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from ktui.tui.looks.symbols import in_ascii


class AsciiFilter(LineFilter):
    """Replaces every glyph by its ASCII stand-in, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(in_ascii(text), style, control) for text, style, control in segments]


class ColourlessFilter(LineFilter):
    """Removes all colours, as NO_COLOR requires, and shows the important ones by attributes.

    Textual's own filter leaves greys, which terminals treat as colours. Here the cursor's
    row becomes reverse video, and faint text dim.
    """

    def __init__(self) -> None:
        super().__init__()
        self._raised: frozenset[str] = frozenset()
        self._faint: frozenset[str] = frozenset()

    def follow(self, *, raised: frozenset[str], faint: frozenset[str]) -> None:
        """Set the theme's backgrounds that highlight, and its faint text colours (both `#rrggbb`)."""
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
        plain += Style.from_meta(style.meta)  # the action of a click
    if style.bgcolor is not None and style.bgcolor.name in raised:
        return plain + Style(reverse=True)
    if style.color is not None and style.color.name in faint and not style.bold:
        return plain + Style(dim=True)
    return plain
