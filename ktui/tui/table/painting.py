"""Paint rows as strips of styled cells, cached until the row changes."""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip
from textual.widget import Widget

from ktui.core.format import safe
from ktui.core.table.columns import GAP, Column, Fitted, fit, runs
from ktui.tui.widgets.lines import Runs

Row = TypeVar("Row")
SortBy = tuple[tuple[str, bool], ...]  # (column id, descending), first key first
_RANKS = "¹²³"
MOST_STRIPS = 256  # per table: a few screens; each has about 20 objects for the garbage collector


class Painter(Generic[Row]):
    """Paints the lines of one table, for the columns that fit."""

    def __init__(self, widget: Widget) -> None:
        self.fitted: tuple[Fitted[Row], ...] = ()
        self.strips: LRUCache[tuple[Hashable, ...], tuple[Row, Strip]] = LRUCache(MOST_STRIPS)
        self._header: tuple[tuple[SortBy, int], Strip] | None = None
        self._style = widget.get_component_rich_style
        self._widget = widget
        self._inks: dict[str, Style] = {}

    def _ink(self, name: str) -> Style:
        """Return the style of a name such as `bold $route-cache`, parsed once per theme."""
        style = self._inks.get(name)
        if style is None:
            parsed = self._widget.app.stylesheet.parse_style(name) if name else None
            style = self._inks[name] = parsed.rich_style if parsed is not None else Style.null()
        return style

    def fit(self, columns: Sequence[Column[Row]], width: int) -> None:
        # Leave a blank before the scrollbar, unless that would cost a column.
        airy, tight = fit(columns, width - GAP), fit(columns, width)
        self.fitted = airy if len(airy) == len(tight) else tight
        self.forget_strips()

    def forget_styles(self) -> None:
        self._inks.clear()
        self.forget_strips()

    def forget_strips(self) -> None:
        self.strips.clear()
        self._header = None

    def column_at(self, x: int) -> Column[Row] | None:
        """Return the column painted at cell `x`; None right of the last."""
        left = 0
        for fitted in self.fitted:
            if left <= x < left + fitted.width + GAP:
                return fitted.column
            left += fitted.width + GAP
        return None

    # Lines.

    def blank(self, width: int) -> Strip:
        return Strip([Segment(" " * width, self._style("vtable--row"))], width)

    def empty(self, text: str, y: int, width: int) -> Strip:
        """Return line `y` of the text of an empty table, wrapped between words."""
        texts = textwrap.wrap(safe(text), max(1, width))
        line = texts[y] if y < len(texts) else ""
        return Strip([Segment(set_cell_size(line, width), self._style("vtable--empty"))], width)

    def foot(self, phrase: Runs, width: int) -> Strip:
        """Return the line below the rows, aligned to the right."""
        base = self._style("vtable--header")
        parts = [(safe(text), base + self._ink(style)) for text, style in phrase]
        length = sum(cell_len(text) for text, _ in parts)
        if length > width:
            return Strip(_cropped(parts, width), width)
        return Strip([Segment(" " * (width - length), base), *(Segment(*part) for part in parts)], width)

    def header(self, sort_by: SortBy, width: int) -> Strip:
        wanted = (sort_by, width)
        if self._header is None or self._header[0] != wanted:
            self._header = (wanted, self._paint_header(*wanted))
        return self._header[1]

    def _paint_header(self, sort_by: SortBy, width: int) -> Strip:
        base = self._style("vtable--header")
        marked = base + self._style("vtable--sorted")
        segments = []
        for fitted in self.fitted:
            column = fitted.column
            mark = sort_mark(column.id, sort_by)
            # The mark takes the gap's cell rather than a letter of the title.
            room = fitted.width + (GAP if fitted is not self.fitted[-1] else 0)
            room = max(0, room - cell_len(mark))
            title = (
                column.title if cell_len(column.title) <= room else set_cell_size(column.title, room)
            ) + mark
            wide = max(fitted.width, cell_len(title))
            title = title.rjust(wide) if column.align == "right" else set_cell_size(title, wide)
            segments.append(Segment(title, marked if mark else base))
            segments.append(Segment(" " * (fitted.width + GAP - wide), base))
        return Strip(segments).adjust_cell_length(width, base).simplify()

    def row(self, row: Row, cursor: str, width: int) -> Strip:
        """Return a row's line; `cursor` is the cursor's component class on its row, else ""."""
        key = (id(row), cursor, width)
        cached = self.strips.get(key)
        if cached is not None and cached[0] is row:
            return cached[1]
        base = self._style("vtable--row")
        if cursor:
            base = base + self._style(cursor)
        segments: list[Segment] = []
        for fitted in self.fitted:
            segments += self._cell(row, fitted, base)
            segments.append(Segment(" " * GAP, base))
        strip = Strip(segments).adjust_cell_length(width, base).simplify()
        self.strips[key] = (row, strip)
        return strip

    def _cell(self, row: Row, fitted: Fitted[Row], base: Style) -> list[Segment]:
        parts = [(safe(text), base + self._ink(style)) for text, style in runs(fitted.column.cell(row))]
        length = sum(cell_len(text) for text, _ in parts)
        if length > fitted.width:
            return (_ends if fitted.column.tail else _cropped)(parts, fitted.width)
        blank = Segment(" " * (fitted.width - length), base)
        segments = [Segment(text, style) for text, style in parts]
        return [blank, *segments] if fitted.column.align == "right" else [*segments, blank]


def sort_mark(column_id: str, sort_by: SortBy) -> str:
    """Return `▾` (descending) or `▴`, with its rank among several keys; "" if not sorted by it."""
    for rank, (sorted_by, descending) in enumerate(sort_by):
        if sorted_by == column_id:
            return ("▾" if descending else "▴") + (_RANKS[rank] if len(sort_by) > 1 else "")
    return ""


def _cropped(parts: list[tuple[str, Style]], width: int) -> list[Segment]:
    """Cut the runs to `width` cells, with an ellipsis at the end."""
    segments: list[Segment] = []
    left = width
    for text, style in parts:
        length = cell_len(text)
        if length < left or (length == left and (text, style) == parts[-1]):
            segments.append(Segment(text, style))
            left -= length
            continue
        segments.append(Segment(set_cell_size(text, max(0, left - 1)) + "…", style))
        break
    return segments


def _ends(parts: list[tuple[str, Style]], width: int) -> list[Segment]:
    """Cut the runs to `width` cells by replacing their middle with an ellipsis."""
    left = (width - 1) // 2
    ends: list[Segment] = []
    for text, style in reversed(parts):
        end = text[max(0, len(text) - left) :]
        while cell_len(end) > left:
            end = end[1:]
        ends.insert(0, Segment(end, style))
        left -= cell_len(end)
        if end != text:
            break
    return [*_cropped(parts, width - sum(segment.cell_length for segment in ends)), *ends]
