"""The charts of a run: requests by route, bytes from etcd, latency, and how long reads waited."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.content import Content

from ktui.core.format import milliseconds, short_bytes, short_count
from ktui.tui.charts.chart import AXIS, FOOT, ROUTES, decades_above_foot, edge_labels, route_series, with_axis
from ktui.tui.charts.plot import Series, columns_in, marked, marks, named, round_top, stacked
from ktui.tui.looks.symbols import Symbols
from ktui.tui.widgets.lines import line
from ktui.workloads.running.summary import LiveSecond

Seconds = Sequence[LiveSecond]


@dataclass(frozen=True, slots=True)
class LiveChart:
    """A chart of seconds: its series from the foot upwards, `label` for the axis' upper end."""

    id: str
    title: str
    series: Callable[[Seconds], list[Series]]
    label: Callable[[float], str]
    newest: Callable[[LiveSecond], str]
    logarithmic: bool = False


def _routes(seconds: Seconds) -> list[Series]:
    return [
        route_series(badge, [float(second.routes.get(badge.letter, 0)) for second in seconds])
        for badge in ROUTES
    ]


def _latency(seconds: Seconds) -> list[Series]:
    middle = [decades_above_foot(second.p50) for second in seconds]
    high = [decades_above_foot(second.p95) - low for second, low in zip(seconds, middle, strict=True)]
    return [Series("#", "$chart-typical", middle), Series("|", "$chart-most", high)]


def _top_label(ms: float) -> str:
    """Return ms, or seconds where ms would not fit the axis."""
    return milliseconds(ms) if ms < 10_000 else f"{ms / 1000:g} s"


CHARTS = (
    LiveChart("routes", "requests/s", _routes, short_count,
              lambda second: " ".join(f"{letter} {count}" for letter, count in sorted(second.routes.items()))
              or "0"),
    LiveChart("etcd", "etcd bytes/s",
              lambda seconds: [Series("#", "$route-etcd", [float(second.etcd_bytes) for second in seconds])],
              short_bytes, lambda second: f"{short_bytes(second.etcd_bytes)} in {second.etcd_rpcs} RPCs"),
    LiveChart("latency", "latency ms", _latency, lambda top: _top_label(FOOT * 10**top),
              lambda second: f"p50 {milliseconds(second.p50)} p95 {milliseconds(second.p95)}",
              logarithmic=True),
    LiveChart("waits", "cache lag: longest wait ms",
              lambda seconds: [Series("#", "$route-wait", [second.wait_ms for second in seconds])],
              milliseconds, lambda second: milliseconds(second.wait_ms)),
)  # fmt: skip


def chart_content(chart: LiveChart, seconds: Seconds, symbols: Symbols, width: int, height: int) -> Content:
    """Return an axis and a column per second, the newest at the right; ▼ marks a knob or a fault."""
    if not seconds:
        return line(("nothing runs", "$ink-muted"))
    cells = max(1, width - AXIS - 1)
    shown = list(seconds)[-columns_in(cells, symbols) :]
    series = chart.series(shown)
    most = max((sum(values) for values in zip(*(item.values for item in series), strict=True)), default=0.0)
    top = float(max(2, math.ceil(most))) if chart.logarithmic else round_top(most)
    rows = stacked(series, top, cells, height, symbols)
    rows[0] = marked(rows[0], marks([bool(second.marker) for second in shown], cells, symbols), symbols)
    rows[0] = named(rows[0], mark_names(shown, cells, symbols))
    labels = edge_labels(chart.label(top), milliseconds(FOOT) if chart.logarithmic else "0", height)
    return with_axis(labels, rows)


def mark_names(shown: Seconds, cells: int, symbols: Symbols) -> dict[int, str]:
    """Return the text of the marks at each cell: knobs and faults of these seconds."""
    found: dict[int, list[str]] = {}
    for place, second in enumerate(shown):
        if second.marker:
            (cell,) = marks([at == place for at in range(len(shown))], cells, symbols)
            found.setdefault(cell, []).append(second.marker)
    return {cell: " ".join(texts) for cell, texts in found.items()}


def busiest(seconds: Seconds) -> LiveSecond:
    """Return the newest second with answers, or else the newest."""
    return next((second for second in reversed(seconds) if second.routes), seconds[-1])
