"""How long reads took: median and maximum of each column."""

from __future__ import annotations

import math
from typing import ClassVar

from textual.content import Content

from ktui.core.format import milliseconds
from ktui.core.traffic import Second, TrafficWindow
from ktui.tui.charts.chart import Chart, edge_labels
from ktui.tui.charts.plot import Runs, Series, stacked
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import line

FOOT = 0.1  # ms at the foot of the axis
_LEAST_DECADES = 2


class LatencyChart(Chart):
    """A logarithmic axis, on which both 1 ms and 1 s can be read."""

    TITLE: ClassVar[str] = "latency ms"

    def draw(
        self, span: TrafficWindow, width: int, height: int, symbols: Symbols
    ) -> tuple[list[str], list[Runs]]:
        decades = max(_LEAST_DECADES, math.ceil(_above_foot(span.whole.most_ms)))
        middle = span.values(lambda part: _above_foot(_p50(part)))
        most = span.values(lambda part: _above_foot(part.most_ms) - _above_foot(_p50(part)))
        series = [Series("#", "$chart-typical", middle), Series("|", "$chart-most", most)]
        labels = edge_labels(_label(FOOT * 10**decades), _label(FOOT), height)
        return labels, stacked(series, decades, width, height, symbols)

    def legend(self, span: TrafficWindow, width: int) -> Content:
        whole = span.whole
        if not whole.answers:
            return Content("")
        return line(
            ("p50 ", "$chart-typical"),
            (milliseconds(_p50(whole)), "$foreground"),
            (" max ", "$chart-most"),
            (milliseconds(whole.most_ms), "$ink-strong"),
        )


def _p50(second: Second) -> float:
    return second.quantile(0.5)


def _above_foot(ms: float) -> float:
    """Return the decades above the axis' foot, at least 0.01 for a read that took any time."""
    return max(0.01, math.log10(ms / FOOT)) if ms > 0 else 0.0


def _label(ms: float) -> str:
    return f"{ms:g}" if ms < 1000 else f"{ms / 1000:g}s"
