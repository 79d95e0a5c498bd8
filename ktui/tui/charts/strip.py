"""The three charts of the traffic, side by side."""

from __future__ import annotations

import math
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from ktui.core.format import long_bytes, milliseconds, short_bytes, short_count
from ktui.core.routes import CACHE, ERROR, ETCD, SNAPSHOT, Badge
from ktui.core.state import State
from ktui.core.traffic import Second, TrafficWindow
from ktui.tui.charts.chart import Chart, edge_labels
from ktui.tui.charts.plot import Runs, Series, mirrored, round_top, stacked
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import line, longest_that_fits

# Bytes per second of reads: sent to clients above the line, read from etcd below it.

_LEAST = 1_000.0  # bytes/s at the axis' end


class BytesChart(Chart):
    """Both directions on one scale; the difference is what the caches saved etcd."""

    TITLE: ClassVar[str] = "bytes/s"

    def draw(
        self, span: TrafficWindow, width: int, height: int, symbols: Symbols
    ) -> tuple[list[str], list[Runs]]:
        sent = span.rates(lambda part: part.sent_bytes)
        read = span.rates(lambda part: part.etcd_bytes)
        top = round_top(max(*sent, *read), _LEAST)
        up, down = Series("#", "$chart-sent", sent), Series("E", "$route-etcd", read)
        label = _transfer_label(top)
        labels = edge_labels(f"↑{label}", f"↓{label}", height)
        return labels, mirrored(up, down, top, width, height, symbols)

    def legend(self, span: TrafficWindow, width: int) -> Content:
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


def _transfer_label(value: float) -> str:
    """Return bytes without a zero fraction: `20k`, `2M`."""
    return short_bytes(value).replace(".0", "")


# Reads answered per second, by route.

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


# How long reads took: median and maximum of each column.

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
