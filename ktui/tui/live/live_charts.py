"""Charts of LISTs over the past hour: LISTs per second, and the objects that they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from ktui.core.format import duration, short_count
from ktui.core.live.window import PART, WHOLE, ListHistory, ListRates
from ktui.core.rows import CACHE, ETCD
from ktui.tui.charts.chart import AXIS, route_counts, route_series, symbols_of, with_axis
from ktui.tui.charts.plot import columns_in, round_top, stacked
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Panel

Pair = Callable[[ListRates], tuple[float, float]]  # from the cache, from etcd
_FIGURES: tuple[tuple[str, str, Pair], ...] = (
    ("chart-lists", "LISTs/s", lambda rates: (rates.cache, rates.etcd)),
    ("chart-read", "objects read/s", lambda rates: (rates.read_cache, rates.read_etcd)),
)


class LiveCharts(Horizontal):
    """Both charts, of all resources or of one."""

    DEFAULT_CSS = """
    LiveCharts { height: 6; }
    LiveCharts Panel { width: 1fr; height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        for name, title, _ in _FIGURES:
            yield Panel(title, id=name, classes="box")

    def show_history(self, history: ListHistory, resource: str = WHOLE) -> None:
        """Paint the charts, again only after another part of the time or a change of `resource`."""
        if not self.display:
            return
        for name, title, pair in _FIGURES:
            panel = self.query_one(f"#{name}", Panel)
            over = f" · {duration(history.span * PART)}" if history.span else ""
            of = f" {resource}" if resource else ""
            entitle(panel, line(title, (of + over, "$ink-muted")), legend(history, resource, pair))
            symbols = symbols_of(panel)
            paint = partial(chart_content, history, resource, pair, symbols=symbols)
            panel.show(paint, (id(history), int(history.ended // PART), resource, symbols))


def chart_content(
    history: ListHistory, resource: str, pair: Pair, width: int, height: int, symbols: Symbols
) -> Content:
    """Return the chart: the cache at the foot, etcd above, the newest at the right."""
    cells = max(1, width - AXIS - 1)
    values = _resampled([pair(rates) for rates in history.per_second(resource)], columns_in(cells, symbols))
    if not values:
        return line((f"after {PART:.0f} s of scrapes", "$ink-muted"))
    cache, etcd = zip(*values, strict=True)
    series = [route_series(CACHE, cache), route_series(ETCD, etcd)]
    top = round_top(max(map(sum, values)), 0.1)
    rows = stacked(series, top, cells, height, symbols)
    return with_axis(f"{top:.1f}" if top < 1 else short_count(top), "0", rows)


def legend(history: ListHistory, resource: str, pair: Pair) -> Content:
    """Return how many the chart shows, of whole parts of the time only: `shown C123 E10`, or nothing."""
    rates = [pair(part) for part in history.per_second(resource)]
    cache, etcd = (round(PART * sum(values[place] for values in rates)) for place in (0, 1))
    counts = route_counts([(CACHE, cache), (ETCD, etcd)])
    return line(("shown ", "$ink-muted")) + counts if counts.plain else counts


def _resampled(values: Sequence[tuple[float, float]], columns: int) -> list[tuple[float, float]]:
    """Return a value per column: the mean of the parts in it, or the part that it is in."""
    found = []
    for column in range(columns if values else 0):
        low = column * len(values) // columns
        within = values[low : max(low + 1, (column + 1) * len(values) // columns)]
        first, second = (sum(value[place] for value in within) / len(within) for place in (0, 1))
        found.append((first, second))
    return found
