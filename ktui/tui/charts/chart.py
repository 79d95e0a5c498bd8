"""The three charts of the traffic: a title, an axis on the left, columns, and numbers in the frame."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from ktui.core.format import long_bytes, milliseconds, short_bytes, short_count
from ktui.core.rows import CACHE, ERROR, ETCD, SNAPSHOT, Badge
from ktui.core.state import State
from ktui.core.traffic import History, TrafficWindow
from ktui.tui.charts.plot import Runs, Series, columns_in, marked, marks, mirrored, round_top, stacked
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import entitle, line, lines, longest_that_fits
from ktui.tui.widgets.panel import Panel

SPAN = 60  # seconds that a chart shows at least, if that many columns fit
AXIS = 5  # cells of the axis' labels
_CORNERS = 2  # cells by which a frame's text is shorter than the content
_STEPS = (1, 2, 3, 5, 6, 10, 15, 20, 30, 60)  # seconds per column


Drawn: TypeAlias = tuple[str, str, list[Runs]]  # the labels of the axis' ends, and the lines of cells


class TrafficFigure(Struct, frozen=True):
    """What a chart shows of a span.

    `draw` takes the width and height in cells, and the symbols; `legend` returns the span's numbers for the
    frame's lower edge, in as many cells as it is given.
    """

    title: str
    draw: Callable[[TrafficWindow, int, int, Symbols], Drawn]
    legend: Callable[[TrafficWindow, int], Content]


class Chart(Panel):
    """A chart painted once per column's time, so at most once a second."""

    DEFAULT_CSS = """
    Chart { border-title-align: left; border-subtitle-align: right; min-height: 3; }
    """

    def __init__(self, figure: TrafficFigure, *, classes: str | None = None) -> None:
        super().__init__(figure.title, classes=classes)
        self.figure = figure
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
        title = line(self.figure.title, (f" · {span.seconds} s", "$ink-muted"))
        entitle(self, title, self.figure.legend(span, size.width - _CORNERS))
        self.show(lambda width, height: self.content(span, width, height, symbols))

    def content(self, span: TrafficWindow, width: int, height: int, symbols: Symbols) -> Content:
        """Return the axis and the columns of a span."""
        if not any(part.routes for part in span.parts):
            early = span.end <= span.seconds
            return line(("no reads answered yet" if early else f"no read in {span.seconds} s", "$ink-muted"))
        cells = max(1, width - AXIS - 1)
        top, bottom, rows = self.figure.draw(span, cells, height, symbols)
        rows[0] = marked(rows[0], marks([part.marked for part in span.parts], cells, symbols), symbols)
        return with_axis(top, bottom, rows)


def symbols_of(widget: Panel) -> Symbols:
    """Return the symbols that the widget's app draws charts with."""
    looks = getattr(widget.app, "looks", None)
    return looks.symbols if looks is not None else Symbols.BRAILLE


def span_for(cells: int, symbols: Symbols) -> tuple[int, int]:
    """Return seconds per column and the number of columns: SPAN seconds or a little more, over all cells."""
    columns = max(1, columns_in(cells, symbols))
    step = next((step for step in _STEPS if step * columns >= SPAN), _STEPS[-1])
    return step, columns


def with_axis(top: str, bottom: str, rows: Sequence[Runs]) -> Content:
    """Return lines of cells after the axis, whose ends are labelled; of one line only the top's."""
    labels = [top, *[""] * (len(rows) - 2), bottom][: len(rows)]
    return lines(
        line((label.rjust(AXIS)[:AXIS] + " ", "$ink-muted"), *row)
        for label, row in zip(labels, rows, strict=True)
    )


def route_series(badge: Badge, values: Sequence[float]) -> Series:
    """Return the series of a route, in its colour; errors take precedence."""
    return Series(badge.letter, badge.style.removeprefix("bold "), values, loud=badge is ERROR)


def route_counts(counts: Iterable[tuple[Badge, int]]) -> Content:
    """Return `C93 S29 E9`: the routes with answers."""
    shown = [(badge, count) for badge, count in counts if count]
    return line(" ").join(
        [line((badge.letter, badge.style), (short_count(count), "$foreground")) for badge, count in shown]
    )


_LEAST = 1_000.0  # bytes/s at the axis' end


def _draw_bytes(span: TrafficWindow, width: int, height: int, symbols: Symbols) -> Drawn:
    """Return bytes sent to clients above the line, read from etcd below it, on one scale.

    The difference is what the caches saved etcd.
    """
    sent = span.rates(lambda part: part.sent_bytes)
    read = span.rates(lambda part: part.etcd_bytes)
    top = round_top(max(*sent, *read), _LEAST)
    up, down = Series("#", "$chart-sent", sent), Series("E", "$route-etcd", read)
    label = short_bytes(top).replace(".0", "")
    return f"↑{label}", f"↓{label}", mirrored(up, down, top, width, height, symbols)


def _bytes_legend(span: TrafficWindow, width: int) -> Content:
    whole = span.whole
    if not whole.answers:
        return Content("")
    sent, read = long_bytes(whole.sent_bytes), long_bytes(whole.etcd_bytes)
    up = [("↑", "$chart-sent"), (f"{sent} ", "$ink-strong")]
    down = [("↓", "$route-etcd"), (read, "$ink-strong")]
    forms = [
        line(("sent ", "$chart-sent"), *up, ("etcd ", "$route-etcd"), *down),
        line(*up, ("E ", "bold $route-etcd"), *down),
    ]
    return longest_that_fits(forms, width)


# From the foot upwards: the cheapest route first, the rarest on top.
ROUTES = (CACHE, SNAPSHOT, ETCD, ERROR)


def _draw_routes(span: TrafficWindow, width: int, height: int, symbols: Symbols) -> Drawn:
    """Return reads from the cache at the foot, from etcd above, errors on top."""

    def reads(badge: Badge) -> Series:
        return route_series(badge, span.rates(lambda part: part.routes[badge.letter]))

    series = [reads(badge) for badge in ROUTES]
    top = round_top(max(map(sum, zip(*(item.values for item in series), strict=True))))
    return short_count(top), "0", stacked(series, top, width, height, symbols)


FOOT = 0.1  # ms at the foot of the axis
_LEAST_DECADES = 2


def _draw_latency(span: TrafficWindow, width: int, height: int, symbols: Symbols) -> Drawn:
    """Return the median and maximum of each column on a logarithmic axis: both 1 ms and 1 s can be read."""
    decades = max(_LEAST_DECADES, math.ceil(decades_above_foot(span.whole.most_ms)))
    middle = span.values(lambda part: decades_above_foot(part.quantile(0.5)))
    most = span.values(lambda part: decades_above_foot(part.most_ms) - decades_above_foot(part.quantile(0.5)))
    series = [Series("#", "$chart-typical", middle), Series("|", "$chart-most", most)]
    rows = stacked(series, decades, width, height, symbols)
    return _label(FOOT * 10**decades), _label(FOOT), rows


def _latency_legend(span: TrafficWindow, width: int) -> Content:
    whole = span.whole
    if not whole.answers:
        return Content("")
    p50, most = (milliseconds(ms) for ms in (whole.quantile(0.5), whole.most_ms))
    return line(
        ("p50 ", "$chart-typical"), (p50, "$foreground"), (" max ", "$chart-most"), (most, "$ink-strong")
    )


def decades_above_foot(ms: float) -> float:
    """Return the decades above the axis' foot, at least 0.01 for a read that took any time."""
    return max(0.01, math.log10(ms / FOOT)) if ms > 0 else 0.0


def _label(ms: float) -> str:
    return f"{ms:g}" if ms < 1000 else f"{ms / 1000:g}s"


READS = TrafficFigure(
    "reads/s", _draw_routes,
    lambda span, _: route_counts((badge, span.whole.routes[badge.letter]) for badge in ROUTES),
)  # fmt: skip
LATENCY = TrafficFigure("latency ms", _draw_latency, _latency_legend)
BYTES = TrafficFigure("bytes/s", _draw_bytes, _bytes_legend)


class ChartStrip(Horizontal):
    """Reads by route, their latency, and the bytes they moved."""

    DEFAULT_CSS = """
    ChartStrip { height: 6; }
    ChartStrip Chart { width: 1fr; height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        for figure in (READS, LATENCY, BYTES):
            yield Chart(figure, classes="box")

    def show_state(self, state: State, *, paused: bool = False) -> None:
        """Paint the charts, unless the strip is hidden for lack of room."""
        if self.display:
            for chart in self.query(Chart):
                chart.show_state(state, paused=paused)
