"""The base of charts: a title, an axis on the left, columns, and numbers in the frame."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content

from ktui.core.state import State
from ktui.core.traffic import History, TrafficWindow
from ktui.tui.charts.marks import marked, marks
from ktui.tui.charts.plot import Runs, columns_in
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import entitle, line, lines
from ktui.tui.widgets.panel import Panel

SPAN = 60  # seconds that a chart shows at least, if that many columns fit
AXIS = 5  # cells of the axis' labels
_CORNERS = 2  # cells by which a frame's text is shorter than the content
_STEPS = (1, 2, 3, 5, 6, 10, 15, 20, 30, 60)  # seconds per column


class Chart(Panel):
    """A chart painted once per column's time, so at most once a second.

    Subclasses define TITLE, `draw` and `legend`.
    """

    DEFAULT_CSS = """
    Chart { border-title-align: left; border-subtitle-align: right; min-height: 3; }
    """
    TITLE: ClassVar[str] = ""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(self.TITLE, id=id, classes=classes)
        self._seen: tuple[History, float] | None = None
        self._drawn: tuple[object, ...] = ()

    def show_state(self, state: State, *, paused: bool = False) -> None:
        """Paint the state's history; while paused only if it is another state's, after a jump in a replay."""
        if not paused or self._seen is None or self._seen[0] is not state.history:
            self._seen = (state.history, state.now)
            self._paint()

    def on_resize(self) -> None:
        self._paint()

    def _paint(self) -> None:
        size = self.content_size
        if self._seen is None or not size.width:
            return
        history, now = self._seen
        symbols = symbols_of(self)
        step, parts = span_for(size.width - AXIS - 1, symbols)
        stamp = (id(history), int(now) // step, history.late, size, symbols)
        if stamp == self._drawn:
            return
        self._drawn = stamp
        span = history.span(now, parts, step)
        entitle(self, title_content(self.TITLE, span), self.legend(span, size.width - _CORNERS))
        self.show(lambda width, height: self.content(span, width, height, symbols))

    def content(self, span: TrafficWindow, width: int, height: int, symbols: Symbols) -> Content:
        """Return the axis and the columns of a span."""
        if not any(part.routes for part in span.parts):
            return line((self.nothing(span), "$ink-muted"))
        cells = max(1, width - AXIS - 1)
        labels, rows = self.draw(span, cells, height, symbols)
        rows[0] = marked(rows[0], marks([part.marked for part in span.parts], cells, symbols), symbols)
        return lines(
            line((label.rjust(AXIS)[:AXIS] + " ", "$ink-muted"), *row)
            for label, row in zip(labels, rows, strict=True)
        )

    def nothing(self, span: TrafficWindow) -> str:
        return "no reads answered yet" if span.end <= span.seconds else f"no read in {span.seconds} s"

    def draw(
        self, span: TrafficWindow, width: int, height: int, symbols: Symbols
    ) -> tuple[list[str], list[Runs]]:
        """Return a label and a line of cells for each of `height` lines."""
        raise NotImplementedError

    def legend(self, span: TrafficWindow, width: int) -> Content:
        """Return the span's numbers for the frame's lower edge, in `width` cells."""
        raise NotImplementedError


def symbols_of(widget: Panel) -> Symbols:
    """Return the symbols that the widget's app draws charts with."""
    looks = getattr(widget.app, "looks", None)
    return looks.symbols if looks is not None else Symbols.BRAILLE


def span_for(cells: int, symbols: Symbols) -> tuple[int, int]:
    """Return seconds per column and the number of columns: SPAN seconds or a little more, over all cells."""
    columns = max(1, columns_in(cells, symbols))
    step = next((step for step in _STEPS if step * columns >= SPAN), _STEPS[-1])
    return step, columns


def title_content(title: str, span: TrafficWindow) -> Content:
    """Return `latency ms · 64 s`: the title with its unit, and the span."""
    return line((title, ""), (f" · {span.seconds} s", "$ink-muted"))


def edge_labels(top: str, bottom: str, height: int) -> list[str]:
    """Return the labels of the axis' two ends, with "" between them; of one line only the top's."""
    return [top, *[""] * (height - 2), bottom][:height] if height > 1 else [top]
