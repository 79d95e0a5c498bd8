"""A scrollable view of coloured lines that paints only what is visible."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ktui.core.object_lines import Line
from ktui.tui.keys import bindings as keys

_HIT = Style(reverse=True)
_COLOURS = {
    "key": "$primary", "string": "$foreground", "number": "$accent", "literal": "$warning",
    "punct": "$ink-muted", "dim": "$ink-muted", "plain": "$foreground", "added": "$success",
    "removed": "$error",
}  # fmt: skip


class LineView(ScrollView, can_focus=True):
    """Lines of spans with roles; the component class `lines--ROLE` has a role's colour."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"lines--{role}" for role in _COLOURS}
    DEFAULT_CSS = "LineView { scrollbar-size: 0 1; }\n" + "\n".join(
        f"LineView .lines--{role} {{ color: {colour}; }}" for role, colour in _COLOURS.items()
    )
    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["texts"]

    class Searched(Message):
        """The view has gone to the next match."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.lines: list[Line] = []
        self._search_text = ""  # in lower case
        self._matches: list[int] = []  # lines that contain the query
        self._at = -1  # index in `_matches` of the line last gone to

    @property
    def text(self) -> str:
        """All lines as plain text, as they are shown."""
        return "\n".join("".join(span.text for span in line) for line in self.lines)

    def show(self, lines: list[Line]) -> None:
        """Replace the lines and scroll to the first."""
        self.lines = lines
        self._find_matches()
        self.virtual_size = Size(max(map(_width, lines), default=0), len(lines))
        self.scroll_to(0, 0, animate=False)
        self.refresh()

    def extend(self, lines: list[Line], *, instead: bool) -> None:
        """Add lines at the end without scrolling; `instead` replaces the last line by them."""
        if instead:
            self.lines.pop()
            self._matches = [row for row in self._matches if row < len(self.lines)]
        first = len(self.lines)
        self.lines += lines
        self._matches += self._rows_with(lines, first)
        width = max(self.virtual_size.width, *(_width(line) for line in lines))
        self.virtual_size = Size(width, len(self.lines))
        self.refresh()

    # Searching.

    def search(self, text: str) -> str:
        """Mark `text` in all lines, go to the first match below the top, and return `search_status`."""
        self._search_text = text.lower()
        self._find_matches()
        if not text:
            self.refresh()
            return ""
        top = self.scroll_offset.y
        self._at = next((place for place, row in enumerate(self._matches) if row >= top), 0) - 1
        return self.action_next_match(1)

    def _find_matches(self) -> None:
        self._matches = self._rows_with(self.lines)
        self._at = -1

    def _rows_with(self, lines: list[Line], first: int = 0) -> list[int]:
        """Return the rows of `lines`, numbered from `first`, that contain the query."""
        texts = ("".join(span.text for span in line).lower() for line in lines) if self._search_text else ()
        return [row for row, text in enumerate(texts, first) if self._search_text in text]

    def action_next_match(self, step: int) -> str:
        """Go to the next match (`step` -1: the previous one), from the last to the first."""
        if self._matches:
            self._at = (self._at + step) % len(self._matches)
            row, height = self._matches[self._at], self.scrollable_content_region.height
            if not 0 <= row - self.scroll_offset.y < height:
                self.scroll_to(y=max(0, row - height // 3), animate=False)
        self.refresh()
        self.post_message(self.Searched())
        return self.search_status

    @property
    def search_status(self) -> str:
        """`line 3 of 12 that match`; "found further on" before the first step; "" without a search."""
        if not self._search_text:
            return ""
        if not self._matches:
            return "not found"
        at, of = self._at + 1, len(self._matches)
        return f"line {at} of {of} that match" if at else "found further on"

    def _marked(self, row: int) -> list[tuple[str, str, bool]]:
        """Return a line's (text, role, matches?) spans, cut where matches begin and end."""
        line = self.lines[row]
        text = "".join(span.text for span in line).lower()
        wanted = re.escape(self._search_text)
        cuts = [match.span() for match in re.finditer(wanted, text)] if wanted else []
        pieces, start = [], 0
        for span in line:
            edges = {0, len(span.text)}
            edges |= {edge - start for cut in cuts for edge in cut if 0 < edge - start < len(span.text)}
            for left, right in pairwise(sorted(edges)):
                hit = any(begin <= start + left < end for begin, end in cuts)
                pieces.append((span.text[left:right], span.role, hit))
            start += len(span.text)
        return pieces

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        width, base = self.scrollable_content_region.width, self.rich_style
        row = top + y
        if row >= len(self.lines):
            return Strip.blank(width, base)
        segments = []
        for text, role, hit in self._marked(row):
            style = base + self.get_component_rich_style(f"lines--{role}", partial=True)
            segments.append(Segment(text, style + _HIT if hit else style))
        return Strip(segments).crop_extend(left, left + width, base)


def _width(line: Line) -> int:
    return sum(cell_len(span.text) for span in line)
