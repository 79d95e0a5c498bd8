"""Bytes per second of reads: sent to clients above the line, read from etcd below it."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content

from ktui.core.format import long_bytes, short_bytes
from ktui.core.traffic import TrafficWindow
from ktui.tui.charts.chart import Chart, edge_labels
from ktui.tui.charts.plot import Runs, Series, mirrored, round_top
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import line, longest_that_fits

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
        label = _label(top)
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


def _label(value: float) -> str:
    """Return bytes without a zero fraction: `20k`, `2M`."""
    return short_bytes(value).replace(".0", "")
