"""The report of `ktui observe` as text: verdict, resources, levels, users, then findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ktui.cli.printing import ReportColumn, number
from ktui.core.format import (
    duration,
    frequency,
    integer,
    long_bytes,
    many,
    percent,
    short_bytes,
    short_count,
    short_milliseconds,
    times,
)
from ktui.core.live.findings import Finding, Severity, findings, verdict
from ktui.core.live.live_state import LiveState, all_routes
from ktui.core.live.processes import level_rows
from ktui.core.live.resource_routes import ResourceRoutes, checks_of, saving_text

UNKNOWN, NONE = "?", "·"
LEAST, BETWEEN = 18, 3  # cells of a column of names at least, and between columns
_STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow", Severity.NOTICE: "default"}


def _count(value: float | None) -> str:
    return UNKNOWN if value is None else short_count(value)


def _size(value: float | None) -> str:
    return UNKNOWN if value is None else short_bytes(value)


def _mean(value: float | None, count: float | None) -> str:
    """Format a mean in ms; NONE if nothing was counted, UNKNOWN if it is not reported."""
    if value is None:
        return NONE if count == 0 else UNKNOWN
    return short_milliseconds(value)


_RESOURCES = (
    ReportColumn("resource", lambda row: row.resource),
    number("LIST/s", lambda row: _rate(row, row.answered)),
    number("429", lambda row: _count(row.list_rejected), narrowest=70),
    number("cache", lambda row: _count(row.cache.lists)),
    number("etcd", lambda row: _count(row.etcd.lists)),
    number("read C", lambda row: _count(row.cache.fetched), narrowest=90),
    number("read E", lambda row: _count(row.etcd.fetched)),
    number("returned", lambda row: _count(row.returned), narrowest=90),
    number("read ÷", lambda row: times(row.amplification) if row.amplification else UNKNOWN, narrowest=80),
    number("bytes", lambda row: _size(row.bytes)),
    number("ms", lambda row: _mean(row.list_ms, row.lists)),
    number("fallback", lambda row: _count(row.consistent_fallback), narrowest=100),
    number("wait ms", lambda row: _mean(row.wait_ms, row.waits), narrowest=150),
    number("watches", lambda row: _count(row.watches), narrowest=90),
    number("objects", lambda row: _count(row.objects), narrowest=130),
)
_LEVELS = (
    ReportColumn("level", lambda row: row.level),
    number("nominal", lambda row: _count(row.nominal), narrowest=70),
    number("current", lambda row: _count(row.current)),
    number("executing", lambda row: _count(row.executing)),
    number("queued", lambda row: _count(row.queued)),
    number("dispatched", lambda row: _count(row.dispatched)),
    number("429", lambda row: _count(row.rejected)),
    number("wait p50", lambda row: _mean(row.wait_p50, row.waits), narrowest=96),
    number("p99 ms", lambda row: _mean(row.wait_p99, row.waits), narrowest=96),
)
_USERS = (
    ReportColumn("user", lambda row: row.user),
    ReportColumn("level", lambda row: row.level),
    number("seats", lambda row: f"{row.seats:.1f}"),
    number("executing", lambda row: f"{row.executing:.1f}"),
    number("queued", lambda row: f"{row.queued:.1f}"),
    ReportColumn("most often", lambda row: row.path, narrowest=90),
)


def print_report(live: LiveState, console: Console, top: int) -> None:
    routes = all_routes(live)
    console.print(Text(verdict(routes), style="bold"))
    console.print(Text(_scope(live, routes)))
    busy = [row for row in routes if row.lists or row.served]
    _table(console, "LISTs of clients by resource, from metrics", _RESOURCES, busy[:top])
    if len(busy) > top:
        console.print(Text(f"and {many(len(busy) - top, 'resource')} more (--top)"))
    if (checks := checks_of(routes)) is not None:
        _table(console, "what kube-apiserver reads on its own account", _CHECKS, [checks])
        console.print(Text(saving_text(checks), style="dim"))
    levels = level_rows(live)
    levels = [row for row in levels if row.dispatched or row.executing or row.queued or row.rejected]
    _table(console, "priority levels, from metrics", _LEVELS, levels)
    samples = len(live.dumps)
    _table(console, f"who held seats, mean of {many(samples, 'dump')}", _USERS, live.users()[:top])
    _findings(console, findings(live))
    if (status := live.status) is not None:
        source = (
            "Prometheus" if live.server is not None and live.server.origin == "prometheus" else "the server"
        )
        received, spent = long_bytes(status.received_bytes), f"{status.busy_ms / 1000:.1f} s of answers"
        load = f"ktui's load on {source}: {integer(status.requests)} GETs, {received}, {spent}"
        console.print(Text(load, style="dim"))


def _scope(live: LiveState, routes: Sequence[ResourceRoutes]) -> str:
    server, seconds = live.server, max((row.seconds for row in routes), default=0.0)
    reached = len(live.present)
    expected = max(server.expected or 0, reached) if server is not None else reached
    version = f"kube-apiserver {server.version}, " if server is not None and server.version else ""
    return f"{version}{reached} of {many(expected, 'replica')}, over {duration(seconds)}"


def _rate(row: ResourceRoutes, value: float | None) -> str:
    rate = row.per_second(value)
    return UNKNOWN if rate is None else frequency(rate) if rate else "0"


def _table(console: Console, title: str, columns: Sequence[ReportColumn], rows: Iterable[Any]) -> None:
    rows = list(rows)
    if not rows:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold")
    shown = [column for column in columns if column.narrowest <= console.width]
    widths = {each.title: max(len(each.title), *(len(each.cell(row)) for row in rows)) for each in shown}

    def width() -> int:
        cells = (widths[each.title] if each.right else min(LEAST, widths[each.title]) for each in shown)
        return sum(cells) + BETWEEN * (len(shown) - 1)

    while width() > console.width and len(shown) > 2:
        shown.remove(max(shown[1:], key=lambda column: (column.narrowest, shown.index(column))))
    room = console.width - sum(widths[column.title] + BETWEEN for column in shown if column.right)
    names = [column for column in shown if not column.right]
    for column in shown:
        title, widest = column.title, widths[column.title]
        if column.right:  # numbers are never cut
            table.add_column(title, justify="right", overflow="ellipsis", no_wrap=True, min_width=widest)
            continue
        share = max(1, (room + BETWEEN) // len(names) - BETWEEN)
        names, room = names[1:], room - min(share, widest) - BETWEEN
        table.add_column(title, overflow="ellipsis", no_wrap=True, max_width=share)
    for row in rows:
        table.add_row(*(Text(str(column.cell(row))) for column in shown))
    console.print(table)


def _findings(console: Console, found: Sequence[Finding]) -> None:
    if not found:
        console.print(Text("no findings"))
        return
    console.print(Text("findings, most urgent and most expensive first", style="bold"))
    for item in found:
        head = Text(f"{item.severity.name.lower():<9}", style=_STYLES[item.severity])
        console.print(head + Text(f"{item.subject}: {item.text}"))
        console.print(Padding(Text(item.advice), (0, 0, 0, 9)))
        console.print(Padding(Text(f"metric: {item.metric}", style="dim"), (0, 0, 0, 9)))


_CHECKS = (
    ReportColumn("", lambda row: row.resource),
    number("count", lambda row: _count(row.checks)),
    number("pages", lambda row: _count(row.etcd.lists), narrowest=90),
    number("objects", lambda row: _count(row.etcd.fetched)),
    number("bytes", lambda row: _size(row.bytes)),
    number("share of etcd", lambda row: NONE if row.share is None else percent(row.share)),
    number("differ", lambda row: _count(row.checks_failed)),
    number("errors", lambda row: _count(row.checks_errored)),
)
