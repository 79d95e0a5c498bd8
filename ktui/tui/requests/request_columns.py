"""The table of the request log and its columns, which Overview and Requests share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from msgspec.structs import replace
from textual.content import Content

from ktui.core.format import clock_time, integer, short_count, short_milliseconds
from ktui.core.ranking.rank_lines import shape_runs
from ktui.core.ranking.ranking import GroupKey
from ktui.core.request_view import request_runs, request_text, requests_of, shown_requests
from ktui.core.rows import LEGEND, Badge, badge_of
from ktui.core.state import RequestRow, State
from ktui.core.table.columns import Cell, Column
from ktui.tui.keys.hints import key_of
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, figure, line, longest_that_fits

_FRAME = 4  # cells of a table's frame next to its title


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


_COLUMNS: tuple[Column[RequestRow], ...] = (
    Column("route", "", lambda row: badge_of(row).run, _route_words, width=1, priority=0,
           known=("C", "S", "E", "W", "!"),
           about="C cache, S snapshot of the cache, E etcd, W waiting for the cache, ! failed"),
    Column("time", "time", lambda row: (clock_time(row.at), "$ink-muted"), lambda row: row.at, priority=4,
           about="when it arrived, local time; filters take Unix seconds"),
    Column("client", "client", lambda row: row.started.client, width=10, flex=2, most=18, priority=3,
           about="the client: first word of the User-Agent"),
    Column("request", "request", request_runs, request_text, width=20, wish=28, flex=6, most=80, priority=0,
           copied=lambda row: row.target,
           about="verb, resource, namespace and the parameters that decide route and cost"),
    Column("reason", "reason", lambda row: (row.reason_id, "$ink-muted"),
           lambda row: f"{row.reason_id} {row.reason}", width=18, priority=9,
           about="the rule that decided its route"),
    Column("status", "status",
           lambda row: (str(row.status or "·"), "$route-error" if row.failed else "$ink-muted"),
           _told("status"), width=6, align="right", priority=8, about="HTTP status of the answer"),
    figure("scanned", "scanned", _told("fetched"), "objects taken from cache or etcd to answer it", width=7,
           priority=3, loud=1000),
    figure("returned", "returned", _told("returned"), "objects in the answer", width=8, priority=5),
    figure("etcd", "etcd B", _told("etcd_bytes"), "bytes that etcd sent to answer it", width=6, priority=8,
           unit="B"),
    figure("bytes", "sent B", _told("sent_bytes"), "the body sent to the client, after gzip", width=6,
           priority=5, unit="B"),
    figure("ms", "ms", _told("ms"), "from the first byte received to the last byte sent, measured by the "
           "server", unit="ms", cell=_ms),
    figure("seats", "seats", _told("seats"), "seats of API Priority and Fairness that it took", priority=7),
    Column("id", "#", lambda row: (integer(row.id), "$ink-muted"), lambda row: row.id, width=7,
           align="right", priority=10, about="its number: the X-Ktui-Request-Id of the answer"),
    # For filters only: on the screen they are part of `request`.
    Column("verb", "verb", lambda row: row.started.verb, hidden=True, about="GET, LIST, WATCH, CREATE …"),
    Column("resource", "resource", lambda row: row.started.resource, hidden=True, width=14,
           about="the resource with its group: leases.coordination.k8s.io"),
    Column("ns", "namespace", lambda row: row.started.namespace, hidden=True, width=12,
           about="the requested namespace, empty for all"),
)  # fmt: skip
_BY_ID = {column.id: column for column in _COLUMNS}
_SHORT = ("route", "time", "client", "request", "scanned", "returned", "ms", "seats", "verb", "resource",
          "ns", "status", "reason")  # fmt: skip
# Where there is more room than on Overview, some columns take more of it, and the reason is in words.
_ROOMY: dict[str, dict[str, Any]] = {
    "client": {"flex": 4},
    "request": {"width": 28, "wish": 32, "most": 60},
    "reason": {"cell": lambda row: [(row.reason_id, "$ink-muted"), (f"  {row.reason}", "$ink-faint")],
               "width": 24, "flex": 4, "most": 80},
}  # fmt: skip

SHORT = tuple(_BY_ID[name] for name in _SHORT)
FULL = tuple(replace(column, **_ROOMY.get(column.id, {})) for column in _COLUMNS)


class RequestTable(VTable[RequestRow]):
    """The log of requests, which the cursor follows until the user moves it."""

    def __init__(self, columns: Sequence[Column[RequestRow]], *, id: str, empty: str) -> None:  # noqa: A002
        super().__init__(
            columns, key=lambda row: row.id, follow=True, share=True, id=id, classes="box", empty=empty
        )
        self.border_title = Content("requests")

    def paint(self, state: State, *, writes: bool, only: GroupKey | None = None) -> None:
        """Show the newest requests, or those of one kind; again only after a change."""
        if not self.outdated(id(state), state.touched.requests, writes, only, self.size.width):
            return
        if only is None:
            entitle(self, log_title(state, self.size.width, writes=writes))
            self.set_rows(shown_requests(state, writes=writes))
            return
        entitle(self, line((f"{only.client} ", "$ink-strong"), *shape_runs(only.shape)))
        group = state.ranking.group(only)
        self.set_rows(requests_of(group, state) if group is not None else [])
