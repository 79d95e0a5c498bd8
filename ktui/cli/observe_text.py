"""The report of `ktui observe` as text: verdict, resources, levels, users, then findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

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
from ktui.core.live.resource_routes import ROW, ResourceRoutes, checks_of, saving_text

UNKNOWN, NONE = "?", "·"
LEAST, BETWEEN = 18, 3  # cells of a column of names at least, and between columns
_STYLES = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow", Severity.NOTICE: "default"}


class ObserveColumn(NamedTuple):
    """One column; `narrowest` is the least width of the terminal at which it is shown.

    Where the values are long, columns that need a wider terminal are left out first.
    """

    title: str
    cell: Callable[[Any], str]
    right: bool = True
    narrowest: int = 0


def _count(value: float | None) -> str:
    return UNKNOWN if value is None else short_count(value)


def _size(value: float | None) -> str:
    return UNKNOWN if value is None else short_bytes(value)


def _mean(value: float | None, count: float | None) -> str:
    """Format a mean in ms; NONE if nothing was counted, UNKNOWN if it is not reported."""
    if value is None:
        return NONE if count == 0 else UNKNOWN
    return short_milliseconds(value)


_RESOURCES: Sequence[ObserveColumn] = (
    ObserveColumn("resource", lambda row: row.resource, right=False),
    ObserveColumn("LIST/s", lambda row: _rate(row, row.answered)),
    ObserveColumn("429", lambda row: _count(row.rejected), narrowest=70),
    ObserveColumn("cache", lambda row: _count(row.cache.lists)),
    ObserveColumn("etcd", lambda row: _count(row.etcd.lists)),
    ObserveColumn("read C", lambda row: _count(row.cache.fetched), narrowest=90),
    ObserveColumn("read E", lambda row: _count(row.etcd.fetched)),
    ObserveColumn("returned", lambda row: _count(row.returned), narrowest=90),
    ObserveColumn(
        "read ÷", lambda row: times(row.amplification) if row.amplification else UNKNOWN, narrowest=80
    ),
    ObserveColumn("bytes", lambda row: _size(row.bytes)),
    ObserveColumn("ms", lambda row: _mean(row.ms, row.lists)),
    ObserveColumn("fallback", lambda row: _count(row.fallback), narrowest=100),
    ObserveColumn("wait ms", lambda row: _mean(row.wait_ms, row.waits), narrowest=150),
    ObserveColumn("watches", lambda row: _count(row.watches), narrowest=90),
    ObserveColumn("objects", lambda row: _count(row.objects), narrowest=130),
)
_LEVELS: Sequence[ObserveColumn] = (
    ObserveColumn("level", lambda row: row.level, right=False),
    ObserveColumn("nominal", lambda row: _count(row.nominal), narrowest=70),
    ObserveColumn("current", lambda row: _count(row.current)),
    ObserveColumn("executing", lambda row: _count(row.executing)),
    ObserveColumn("queued", lambda row: _count(row.queued)),
    ObserveColumn("dispatched", lambda row: _count(row.dispatched)),
    ObserveColumn("429", lambda row: _count(row.rejected)),
    ObserveColumn("wait p50", lambda row: _mean(row.wait_p50, row.waits), narrowest=96),
    ObserveColumn("p99 ms", lambda row: _mean(row.wait_p99, row.waits), narrowest=96),
)
_USERS: Sequence[ObserveColumn] = (
    ObserveColumn("user", lambda row: row.user, right=False),
    ObserveColumn("level", lambda row: row.level, right=False),
    ObserveColumn("seats", lambda row: f"{row.seats:.1f}"),
    ObserveColumn("executing", lambda row: f"{row.executing:.1f}"),
    ObserveColumn("queued", lambda row: f"{row.queued:.1f}"),
    ObserveColumn("most often", lambda row: row.path, right=False, narrowest=90),
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


def _table(console: Console, title: str, columns: Sequence[ObserveColumn], rows: Iterable[Any]) -> None:
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
        table.add_row(*(Text(column.cell(row)) for column in shown))
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


_CHECKS: Sequence[ObserveColumn] = (
    ObserveColumn("", lambda row: ROW, right=False),
    ObserveColumn("count", lambda row: _count(row.count)),
    ObserveColumn("pages", lambda row: _count(row.lists), narrowest=90),
    ObserveColumn("objects", lambda row: _count(row.objects)),
    ObserveColumn("bytes", lambda row: _size(row.bytes)),
    ObserveColumn("share of etcd", lambda row: NONE if row.share is None else percent(row.share)),
    ObserveColumn("differ", lambda row: _count(row.failed)),
    ObserveColumn("errors", lambda row: _count(row.errored)),
)
