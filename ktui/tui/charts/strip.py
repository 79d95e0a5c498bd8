"""The three charts of the traffic, side by side."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal

from ktui.core.state import State
from ktui.tui.charts.chart import Chart
from ktui.tui.charts.latency import LatencyChart
from ktui.tui.charts.routes import RoutesChart
from ktui.tui.charts.transfer import BytesChart


class ChartStrip(Horizontal):
    """Reads by route, their latency, and the bytes they moved."""

    DEFAULT_CSS = """
    ChartStrip { height: 6; }
    ChartStrip Chart { width: 1fr; height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        yield RoutesChart(classes="box")
        yield LatencyChart(classes="box")
        yield BytesChart(classes="box")

    def show_state(self, state: State, *, paused: bool = False) -> None:
        """Paint the charts, unless the strip is hidden for lack of room."""
        if self.display:
            for chart in self.query(Chart):
                chart.show_state(state, paused=paused)
