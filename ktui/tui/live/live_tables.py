"""The tables of each live screen: their rows, columns and details."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec
from msgspec.structs import replace
from textual.content import Content

from ktui.core.live.findings import findings
from ktui.core.live.live_state import LiveState
from ktui.core.live.processes import admission_rows
from ktui.core.table.columns import Column
from ktui.tui.live import live_columns as columns
from ktui.tui.live import live_panels as panels
from ktui.tui.live import live_rows as rows
from ktui.tui.live.live_panels import SPAN, Detail
from ktui.tui.widgets.lines import first_lines, line


class LiveTable(msgspec.Struct, frozen=True):
    """A table of a screen; `origin` names the source of its figures.

    `nothing` is what the detail says without a row, by default `empty`; "": the same as with one.
    """

    id: str
    title: str
    origin: str  # begins with "metrics" | "dumps" | …
    columns: tuple[Column[Any], ...]
    rows: Callable[[LiveState], Sequence[Any]]
    key: Callable[[Any], Any]
    empty: str
    detail: Detail
    nothing: str | None = None

    @property
    def of_metrics(self) -> bool:
        return self.id not in ("running", "users", "level-requests", "schemas", "queues", "replicas")

    def content(self, live: LiveState, row: Any, width: int, height: int) -> Content:
        """Return the detail of a row, or why there is none."""
        nothing = self.empty if self.nothing is None else self.nothing
        if row is not None or not nothing:
            return first_lines(self.detail(live, row, width), width, height)
        unknown = panels.not_known(live) if self.of_metrics else ""
        return line((unknown or nothing.replace(SPAN, panels.span_text(live)), panels.MUTED))


METRICS = f"metrics, {SPAN}"
_resource = attrgetter("resource")
NO_SCRAPE, NO_LIST, NO_FINDING = "no scrape yet", "no LIST by clients", "nothing to change was found"

USERS = partial(panels.note_detail, "seats held on average over the samples; totals by client: ktui audit")
QUEUES = partial(
    panels.note_detail, "a level puts each flow into a few of its queues: a long one is one flow that waits"
)
RUNNING = LiveTable(
    "running", "executing and queued", "dumps, each second", columns.RUNNING, rows.running,
    attrgetter("place"), "no request in the newest dumps", panels.running_detail,
    "no request runs that a sample could see: those of some milliseconds slip through",
)  # fmt: skip
LIVE_TABLES: dict[str, tuple[LiveTable, ...]] = {
    "overview": (
        LiveTable("resources", "LISTs by resource", METRICS, columns.SHORT_ROUTES, rows.listed, _resource,
                  NO_LIST, panels.route_detail, f"{NO_LIST} in the {SPAN}"),
        LiveTable("findings", "findings", "most urgent and most expensive first", columns.FINDINGS,
                  partial(findings, seconds=rows.WINDOW), attrgetter("id", "subject"), NO_FINDING,
                  panels.finding_detail, f"{NO_FINDING} in the {SPAN}"),
        LiveTable("replicas", "replicas", "each its own counters", columns.REPLICAS, rows.replicas,
                  attrgetter("name"), NO_SCRAPE, panels.replicas_detail, ""),
    ),
    "requests": (
        LiveTable("routes", "routes by resource", METRICS, columns.ROUTES, rows.listed, _resource, NO_LIST,
                  panels.route_detail, f"{NO_LIST} in the {SPAN}"),
        RUNNING,
        LiveTable("users", "users", "dumps, mean of the samples", columns.USERS, LiveState.users,
                  attrgetter("user", "level"), "no request in any dump", USERS, ""),
        LiveTable("verbs", "requests by verb", METRICS, columns.VERBS, rows.requested, _resource,
                  "no request", panels.requests_detail),
        LiveTable("admission", "admission", METRICS, columns.ADMISSION,
                  partial(admission_rows, seconds=rows.WINDOW), attrgetter("kind", "name"),
                  "no webhook or plugin was called", panels.admission_detail),
    ),
    "cache": (
        LiveTable("caches", "watch caches by replica", METRICS, columns.CACHES, rows.caches,
                  attrgetter("resource", "replica"), "no watch cache is reported", panels.cache_detail),
    ),
    "etcd": (
        LiveTable("calls", "etcd as kube-apiserver sees it", METRICS, columns.ETCD, rows.etcd_lines,
                  _resource, NO_SCRAPE, panels.etcd_detail, ""),
    ),
    "watches": (
        LiveTable("watches", "open WATCHes by resource", METRICS, columns.WATCHES, rows.watched, _resource,
                  "no WATCH is open", panels.watch_detail),
    ),
    "flow": (
        LiveTable("levels", "priority levels", f"{METRICS}; held, executing, queued: dumps", columns.LEVELS,
                  rows.levels, attrgetter("level"), NO_SCRAPE, panels.level_detail,
                  "no priority level is reported"),
        replace(RUNNING, id="level-requests", title="requests"),
        LiveTable("schemas", "flow schemas", "FlowSchemas, each minute", columns.SCHEMAS, rows.schemas,
                  attrgetter("schema.name"), "FlowSchemas have not been read", panels.schema_detail),
        LiveTable("queues", "busy queues", "dumps, with each scrape", columns.QUEUES, rows.queues,
                  attrgetter("replica", "queue.level", "queue.index"), "no queue has a request",
                  QUEUES, ""),
    ),
}  # fmt: skip
