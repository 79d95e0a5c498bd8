"""Reads answered per second, by route."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content

from ktui.core.format import short_count
from ktui.core.routes import CACHE, ERROR, ETCD, SNAPSHOT, Badge
from ktui.core.traffic import TrafficWindow
from ktui.tui.charts.chart import Chart, edge_labels
from ktui.tui.charts.plot import Runs, Series, round_top, stacked
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import line

# From the foot upwards: the cheapest route first, the rarest on top.
_ORDER = (CACHE, SNAPSHOT, ETCD, ERROR)


class RoutesChart(Chart):
    """Reads from the cache at the foot, from etcd above, errors on top; the legend counts each."""

    TITLE: ClassVar[str] = "reads/s"

    def draw(
        self, span: TrafficWindow, width: int, height: int, symbols: Symbols
    ) -> tuple[list[str], list[Runs]]:
        series = [_series(badge, span) for badge in _ORDER]
        top = round_top(max(map(sum, zip(*(item.values for item in series), strict=True))))
        return edge_labels(short_count(top), "0", height), stacked(series, top, width, height, symbols)

    def legend(self, span: TrafficWindow, width: int) -> Content:
        counts = span.whole.routes
        runs: list[tuple[str, str]] = []
        for badge in _ORDER:
            if count := counts[badge.letter]:
                runs += [
                    (" " if runs else "", ""),
                    (badge.letter, badge.style),
                    (short_count(count), "$foreground"),
                ]
        return line(*runs)


def _series(badge: Badge, span: TrafficWindow) -> Series:
    style = badge.style.removeprefix("bold ")
    values = span.rates(lambda part: part.routes[badge.letter])
    return Series(badge.letter, style, values, loud=badge is ERROR)
