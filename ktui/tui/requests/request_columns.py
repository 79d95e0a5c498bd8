"""The columns of the request log, which Overview and Requests share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from msgspec.structs import replace
from textual.content import Content

from ktui.core.format import clock_time, integer, short_count, short_milliseconds
from ktui.core.request_view import request_runs, request_text
from ktui.core.rows import LEGEND, Badge, badge_of
from ktui.core.state import RequestRow, State
from ktui.core.table.columns import Cell, Column
from ktui.tui.keys.hints import key_of
from ktui.tui.widgets.lines import figure, line, longest_that_fits

_FRAME = 4  # cells of a table's frame next to its title
Requests = tuple[Column[RequestRow], ...]


def log_title(state: State, width: int, *, writes: bool) -> Content:
    """Return `requests · reads · w all`: what the log shows, the key that changes it, losses, the letters.

    `width`: the table's cells. The letters' meaning is left out last.
    """
    shown, other = ("all", " reads") if writes else ("reads", " all")
    turn = (key_of("writes"), "$accent")
    logs = {"reads": state.reads.dropped, "writes": state.writes.dropped if writes else 0}
    counts = " and ".join(f"{short_count(count)} {kind}" for kind, count in logs.items() if count)
    gone = f" · {counts} dropped from the log, the oldest" if counts else ""
    turned = line((f" · {shown} · ", "$ink-muted"), turn, (other, "$ink-muted"))
    dropped = line((gone, "$ink-muted"))
    name, letters = line("requests"), _letters(LEGEND)
    forms = (
        name + turned + dropped + letters,
        name + turned + letters,
        name + dropped + letters if gone else name + letters,
        name + _letters(LEGEND[:-1]),
        name + turned + dropped,
    )
    return longest_that_fits(forms, width - _FRAME)


def _letters(badges: Sequence[Badge]) -> Content:
    """` · C cache S snapshot E etcd W waiting ! error`."""
    runs = [((f" {badge.letter}", badge.style), (f" {badge.short}", "$ink-muted")) for badge in badges]
    return line((" ·", "$ink-muted"), *chain.from_iterable(runs))


def _route_words(row: RequestRow) -> str:
    """Return the text that the column is filtered by: `E etcd`, `C cache`, `! failed`, `W waiting`."""
    state = "failed" if row.failed else "waiting" if row.waiting else row.route
    return f"{badge_of(row).letter} {state}"


def _ms(row: RequestRow) -> Cell:
    if row.finished is None:
        return ("open" if row.started.verb == "WATCH" else "…", "$ink-muted")
    return (short_milliseconds(row.ms), "bold $warning" if row.ms >= 30 else "$foreground")


def _told(name: str) -> Callable[[RequestRow], float | None]:
    """Return a figure of finished requests; None where it is not known (in traces)."""

    def figure_of(row: RequestRow) -> float | None:
        done = row.finished
        return None if done is None or name in done.untold else getattr(done, name)

    return figure_of


ROUTE: Column[RequestRow] = Column(
    "route", "", lambda row: badge_of(row).run, _route_words, width=1, priority=0,
    known=("C", "S", "E", "W", "!"),
    about="C cache, S snapshot of the cache, E etcd, W waiting for the cache, ! failed",
)  # fmt: skip
TIME: Column[RequestRow] = Column(
    "time", "time", lambda row: (clock_time(row.at), "$ink-muted"), lambda row: row.at, width=8, priority=4,
    about="when it arrived, local time; filters take Unix seconds",
)  # fmt: skip
CLIENT: Column[RequestRow] = Column(
    "client", "client", lambda row: row.started.client, width=10, flex=2, most=18, priority=3,
    about="the client: first word of the User-Agent",
)  # fmt: skip
REQUEST: Column[RequestRow] = Column(
    "request", "request", request_runs, request_text, width=20, wish=28, flex=6, most=80, priority=0,
    copied=lambda row: row.target,
    about="verb, resource, namespace and the parameters that decide route and cost",
)  # fmt: skip
SCANNED: Column[RequestRow] = figure(
    "scanned", "scanned", _told("fetched"), "objects taken from cache or etcd to answer it", width=7,
    priority=3, loud=1000,
)  # fmt: skip
SENT = figure("returned", "returned", _told("returned"), "objects in the answer", width=8, priority=5)
MS: Column[RequestRow] = figure(
    "ms", "ms", _told("ms"), "from the first byte received to the last byte sent, measured by the server",
    priority=1, unit="ms", cell=_ms,
)  # fmt: skip
SEATS = figure(
    "seats", "seats", _told("seats"), "seats of API Priority and Fairness that it took", priority=7
)
STATUS: Column[RequestRow] = Column(
    "status", "status", lambda row: (str(row.status or "·"), "$route-error" if row.failed else "$ink-muted"),
    _told("status"), width=6, align="right", priority=8, about="HTTP status of the answer",
)  # fmt: skip
ETCD_BYTES = figure(
    "etcd", "etcd B", _told("etcd_bytes"), "bytes that etcd sent to answer it", width=6, priority=8, unit="B"
)
SENT_BYTES = figure(
    "bytes", "sent B", _told("sent_bytes"), "the body sent to the client, after gzip", width=6, priority=5,
    unit="B",
)  # fmt: skip
REASON: Column[RequestRow] = Column(
    "reason", "reason", lambda row: (row.reason_id, "$ink-muted"),
    lambda row: f"{row.reason_id} {row.reason}", width=18, priority=9,
    about="the rule that decided its route",
)  # fmt: skip
ID: Column[RequestRow] = Column(
    "id", "#", lambda row: (integer(row.id), "$ink-muted"), lambda row: row.id, width=7, align="right",
    priority=10, about="its number: the X-Ktui-Request-Id of the answer",
)  # fmt: skip
# For filters only: on the screen they are part of `request`.
UNSEEN: Requests = (
    Column("verb", "verb", lambda row: row.started.verb, hidden=True, about="GET, LIST, WATCH, CREATE …"),
    Column("resource", "resource", lambda row: row.started.resource, hidden=True, width=14,
           about="the resource with its group: leases.coordination.k8s.io"),
    Column("ns", "namespace", lambda row: row.started.namespace, hidden=True, width=12,
           about="the requested namespace, empty for all"),
)  # fmt: skip

SHORT: Requests = (ROUTE, TIME, CLIENT, REQUEST, SCANNED, SENT, MS, SEATS, *UNSEEN, STATUS, REASON)
FULL: Requests = (
    ROUTE,
    TIME,
    replace(CLIENT, flex=4),
    replace(REQUEST, width=28, wish=32, most=60),
    replace(REASON, cell=lambda row: [(row.reason_id, "$ink-muted"), (f"  {row.reason}", "$ink-faint")],
            width=24, flex=4, most=80),
    *(STATUS, SCANNED, SENT, ETCD_BYTES, SENT_BYTES, MS, SEATS, ID),
    *UNSEEN,
)  # fmt: skip
