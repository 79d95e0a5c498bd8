"""The columns of the request log, shared by Overview and Requests."""

from __future__ import annotations

from dataclasses import replace

from ktui.tui.model.format import clock_time, integer, milliseconds, short_bytes, short_count
from ktui.tui.model.request_view import request_runs, request_text
from ktui.tui.model.routes import badge_of
from ktui.tui.model.state import RequestRow
from ktui.tui.widgets.columns import Cell, Column

Requests = tuple[Column[RequestRow], ...]


def _badge(row: RequestRow) -> Cell:
    badge = badge_of(row)
    return (badge.letter, badge.style)


def _route_words(row: RequestRow) -> str:
    """What the column is filtered by: `E etcd`, `C cache`, `! failed`, `W waiting`."""
    state = "failed" if row.failed else "waiting" if row.waiting else row.route
    return f"{badge_of(row).letter} {state}"


def _ms(row: RequestRow) -> Cell:
    if row.finished is None:
        return ("open" if row.started.verb == "WATCH" else "…", "$ink-muted")
    return (milliseconds(row.ms), "bold $warning" if row.ms >= 30 else "$foreground")


def _number(value: int, *, loud: int = 0) -> Cell:
    if not value:
        return ("·", "$ink-faint")
    return (short_count(value), "$route-etcd" if loud and value >= loud else "$foreground")


def _bytes(value: int) -> Cell:
    return (short_bytes(value), "$foreground") if value else ("·", "$ink-faint")


def _sent(row: RequestRow) -> int:
    return row.finished.returned if row.finished is not None else 0


def _seats(row: RequestRow) -> int:
    return row.finished.seats if row.finished is not None else 0


def _etcd_bytes(row: RequestRow) -> int:
    return row.finished.etcd_bytes if row.finished is not None else 0


def _sent_bytes(row: RequestRow) -> int:
    return row.finished.sent_bytes if row.finished is not None else 0


ROUTE: Column[RequestRow] = Column("route", "", _badge, _route_words, width=1, priority=0)
TIME: Column[RequestRow] = Column(
    "time", "time", lambda row: (clock_time(row.at), "$ink-muted"), lambda row: row.at, width=8, priority=6
)
CLIENT: Column[RequestRow] = Column(
    "client", "client", lambda row: row.started.client, width=10, flex=2, most=18, priority=3
)
REQUEST: Column[RequestRow] = Column(
    "request", "request", request_runs, request_text, width=20, wish=28, flex=6, priority=0
)
SCANNED: Column[RequestRow] = Column(
    "scanned",
    "scan",
    lambda row: _number(row.scanned, loud=1000),
    lambda row: row.scanned,
    width=5,
    align="right",
    priority=4,
    descending=True,
)
SENT: Column[RequestRow] = Column(
    "sent",
    "sent",
    lambda row: _number(_sent(row)),
    _sent,
    width=5,
    align="right",
    priority=2,
    descending=True,
)
MS: Column[RequestRow] = Column(
    "ms", "ms", _ms, lambda row: row.ms, width=5, align="right", priority=1, descending=True
)
SEATS: Column[RequestRow] = Column(
    "seats",
    "seats",
    lambda row: _number(_seats(row)),
    _seats,
    width=5,
    align="right",
    priority=7,
    descending=True,
)
STATUS: Column[RequestRow] = Column(
    "status",
    "code",
    lambda row: (str(row.status or "·"), "$route-error" if row.failed else "$ink-muted"),
    lambda row: row.status,
    width=4,
    align="right",
    priority=8,
)
ETCD_BYTES: Column[RequestRow] = Column(
    "etcd",
    "etcd B",
    lambda row: _bytes(_etcd_bytes(row)),
    _etcd_bytes,
    width=6,
    align="right",
    priority=8,
    descending=True,
)
SENT_BYTES: Column[RequestRow] = Column(
    "bytes",
    "sent B",
    lambda row: _bytes(_sent_bytes(row)),
    _sent_bytes,
    width=6,
    align="right",
    priority=5,
    descending=True,
)
REASON: Column[RequestRow] = Column(
    "reason",
    "reason",
    lambda row: (row.reason_id, "$ink-muted"),
    lambda row: f"{row.reason_id} {row.reason}",
    width=18,
    priority=9,
)
ID: Column[RequestRow] = Column(
    "id",
    "#",
    lambda row: (integer(row.id), "$ink-muted"),
    lambda row: row.id,
    width=7,
    align="right",
    priority=10,
)
# Asked for in filters only: they are part of `request` on the screen.
UNSEEN: Requests = (
    Column("verb", "verb", lambda row: row.started.verb, hidden=True),
    Column("resource", "resource", lambda row: row.started.resource, hidden=True),
    Column("ns", "namespace", lambda row: row.started.namespace, hidden=True),
)

SHORT: Requests = (ROUTE, TIME, CLIENT, REQUEST, SCANNED, SENT, MS, SEATS, *UNSEEN, STATUS, REASON)
FULL: Requests = (
    ROUTE,
    TIME,
    CLIENT,
    replace(REQUEST, width=28, wish=32),
    REASON,
    STATUS,
    SCANNED,
    SENT,
    ETCD_BYTES,
    SENT_BYTES,
    MS,
    SEATS,
    ID,
    *UNSEEN,
)
