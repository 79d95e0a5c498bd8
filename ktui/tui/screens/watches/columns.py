"""Columns of the Watches screen."""

from __future__ import annotations

from ktui.tui.model.format import integer, rate
from ktui.tui.model.routes import badge_of_route
from ktui.tui.model.watch_lines import Health, WatchLine, scope_of
from ktui.tui.widgets.columns import Cell, Column

# A shape beside every colour, so that neither has to be told apart by hue.
GLYPHS = {
    Health.CATCHING_UP: "◐",
    Health.LIVE: "●",
    Health.SLOW: "▲",
    Health.FULL: "▲",
    Health.CUT_OFF: "✕",
    Health.CLOSED: "○",
}
STYLES = {
    Health.CATCHING_UP: "$route-wait",
    Health.LIVE: "$success",
    Health.SLOW: "bold $warning",
    Health.FULL: "bold $error",
    Health.CUT_OFF: "bold $error",
    Health.CLOSED: "$ink-muted",
}


def _ink(line: WatchLine, style: str = "$foreground") -> str:
    """Closed ones recede."""
    return style if line.row.closed is None else "$ink-muted"


def _route(line: WatchLine) -> Cell:
    badge = badge_of_route(line.row.opened.route)
    return (badge.letter, _ink(line, badge.style))


def _resource(line: WatchLine) -> Cell:
    """The plural name first: where room is short the group is what gets cut."""
    plural, dot, group = line.row.resource.partition(".")
    return ((plural, _ink(line)), (f"{dot}{group}", "$ink-muted"))


def _scope(line: WatchLine) -> Cell:
    scope = scope_of(line.row)
    form = line.row.opened.form
    said = (scope, "$ink-muted") if scope else ("all", "$ink-faint")
    return (said, (f" as {form}" if form else "", "$ink-faint"))


def _since(line: WatchLine) -> Cell:
    since = line.row.opened.since
    if not since:
        return ("unset", "$ink-faint")
    return (integer(int(since)) if since.isdecimal() and len(since) < 19 else since, _ink(line))


def _buffer(line: WatchLine) -> Cell:
    row = line.row
    if row.closed is not None or not row.capacity:
        return ("–", "$ink-faint")
    style = STYLES[line.health] if row.buffered * 2 >= row.capacity else "$foreground"
    return (
        (integer(row.buffered), style if row.buffered else "$ink-faint"),
        (f"/{integer(row.capacity)}", "$ink-muted"),
    )


def _number(line: WatchLine, value: int) -> Cell:
    return (integer(value), _ink(line)) if value else ("–", "$ink-faint")


def _rate(line: WatchLine) -> Cell:
    return (rate(line.per_second), "$ink-muted") if line.row.closed is None else ("–", "$ink-faint")


def _shared(line: WatchLine) -> Cell:
    row = line.row
    total = row.made + row.shared
    return (f"{row.shared / total:.0%}", _ink(line)) if total else ("–", "$ink-faint")


def _health(line: WatchLine) -> Cell:
    health, closed = line.health, line.row.closed
    word = health.value
    if closed is not None and closed.cause:
        word = f"{word}: {closed.cause}" if health is Health.CUT_OFF else closed.cause
    return (f"{GLYPHS[health]} {word}", STYLES[health])


WATCHES: tuple[Column[WatchLine], ...] = (
    Column("route", "", _route, width=1, priority=0),
    Column("client", "client", lambda line: (line.row.opened.client, _ink(line)), width=12, flex=1, wish=15,
           priority=0, most=22),
    Column("resource", "resource", _resource, lambda line: line.row.resource, 12, flex=1, priority=0,
           most=30),
    Column("scope", "scope", _scope, width=8, flex=3, priority=2, wish=26),
    Column("since", "since rv", _since, lambda line: line.row.opened.since, 9, align="right", priority=3),
    Column("age", "age", lambda line: (line.age, "$ink-muted"), lambda line: line.seconds, 6,
           align="right", priority=2, descending=True),
    Column("buffer", "buffer", _buffer, lambda line: line.row.buffered, 11, align="right", priority=1,
           descending=True),
    Column("delivered", "deliv", lambda line: _number(line, line.row.delivered),
           lambda line: line.row.delivered, 7, align="right", priority=0, descending=True),
    Column("bookmarks", "bkm", lambda line: _number(line, line.row.bookmarks),
           lambda line: line.row.bookmarks, 4, align="right", priority=6, descending=True),
    Column("rate", "rate", _rate, lambda line: line.per_second, 7, align="right", priority=4,
           descending=True),
    Column("shared", "shared", _shared, lambda line: line.row.shared, 6, align="right", priority=5,
           descending=True),
    Column("state", "state", _health, lambda line: line.health.value, width=13, flex=2, priority=0, most=24),
)  # fmt: skip
