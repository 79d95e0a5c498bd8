"""The screens over a live kube-apiserver: a verdict, tables in tabs, and details of the selected row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from ktui.client.connection import ClientError
from ktui.core.format import many
from ktui.core.live.live_state import LiveState
from ktui.core.live.window import WHOLE
from ktui.core.state import State
from ktui.core.table.columns import Column
from ktui.live.samples import collection_of, probe_paths
from ktui.tui.dialogs.dialog import ConfirmScreen
from ktui.tui.keys import bindings as keys
from ktui.tui.live import live_columns as columns
from ktui.tui.live import live_panels as panels
from ktui.tui.live import live_rows as rows
from ktui.tui.live.live_charts import LiveCharts
from ktui.tui.live.source import ClusterSource
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.versions.screen import VersionsScreen
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Area, Panel, tabs_content

Detail = Callable[[LiveState, Any, int, int], Content]  # of the selected row, in a width and height


class LiveTable(msgspec.Struct, frozen=True):
    """A table of a screen; `origin` names the source of its figures."""

    id: str
    title: str
    origin: str  # "metrics" | "dumps"
    columns: tuple[Column[Any], ...]
    rows: Callable[[LiveState], Sequence[Any]]
    key: Callable[[Any], Any]
    empty: str
    detail: Detail


SPAN = "{span}"  # in an origin: the time that rates cover
METRICS, DUMPS = f"metrics, {SPAN}", "dumps, each second"


class LiveScreen(ModeScreen):
    """Subclasses define TABLES; `t` shows the next one."""

    TABLES: ClassVar[tuple[LiveTable, ...]] = ()
    CSS_PATH = "live.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["live cluster"]

    def __init__(self) -> None:
        super().__init__()
        self._shown = 0
        self._painted: dict[str, tuple[Any, ...]] = {}

    def compose_body(self) -> ComposeResult:
        yield Panel(id="verdict")
        if len(self.TABLES) > 1:
            yield Panel(id="live-tabs")
        for table in self.TABLES:
            yield VTable(
                table.columns, key=table.key, share=True, id=table.id, classes="box", empty=table.empty
            )
        with Area(id="live-detail"):
            yield Panel("detail", id="row", classes="box")

    def on_mount(self) -> None:
        self._show_table(0)
        super().on_mount()

    @property
    def live(self) -> LiveState:
        return self.ktui.state.live

    @property
    def chosen(self) -> LiveTable:
        return self.TABLES[self._shown]

    @property
    def table(self) -> VTable[Any]:
        return self.query_one(f"#{self.chosen.id}", VTable)

    def active_table(self) -> VTable[Any] | None:
        return self.table

    # Tabs.

    def action_turn_tab(self) -> None:
        self._show_table((self._shown + 1) % len(self.TABLES))
        self.table.focus()
        self.paint()

    def action_refresh_figures(self) -> None:
        """Ask the source for new figures now."""
        refresh_figures(self)

    def _show_table(self, index: int) -> None:
        self._shown = index
        for place, table in enumerate(self.TABLES):
            self.query_one(f"#{table.id}", VTable).display = place == index
        if len(self.TABLES) > 1:
            titles = [table.title for table in self.TABLES]
            self.query_one("#live-tabs", Panel).show(
                lambda width, height: tabs_content(titles, index, width, ("live.tab",))
            )

    # Painting.

    def paint_tables(self, state: State) -> None:
        table = self.chosen
        stamp = (id(state), state.live.touched)
        if self._painted.get(table.id) == stamp:
            return
        self._painted[table.id] = stamp
        origin = table.origin.replace(SPAN, panels.span_text(state.live))
        entitle(self.table, line(table.title, (f" · {origin}", "$ink-muted")))
        if table.id not in NOT_OF_METRICS:
            self.table.empty = panels.not_known(state.live) or table.empty
        self.table.set_rows(list(table.rows(state.live)))

    def paint_verdict(self, state: State) -> None:
        live = state.live
        lines = panels.verdict_lines(live, rows.routes(live))
        self.set_class(lines == 3, "-more")
        self.set_class(lines > 3, "-most")
        self.query_one("#verdict", Panel).show(
            lambda width, height: panels.verdict_content(live, rows.routes(live), width, height),
            (id(state), live.touched),
        )

    def paint_panels(self, state: State) -> None:
        self.paint_verdict(state)
        stamp = (id(state), state.live.touched)
        row = self.table.row
        self.query_one("#row", Panel).show(
            lambda width, height: self.chosen.detail(self.live, row, width, height),
            (*stamp, self._shown, row),
        )

    @on(VTable.Highlighted)
    def _highlighted(self, event: VTable.Highlighted) -> None:
        if event.by_user:
            self.paint_panels(self.ktui.state)

    def selected_object(self) -> tuple[str, Any] | None:
        row = self.table.row
        return None if row is None else (self.chosen.title, msgspec.to_builtins(row, str_keys=True))


def refresh_figures(screen: ModeScreen) -> None:
    """Ask the source for new figures; a recording has no others."""
    source = screen.ktui.intake.source
    if isinstance(source, ClusterSource):
        source.refresh()
        screen.notify("reading new figures")
    else:
        screen.notify("only a live cluster has new figures")


def _resource(row: rows.RouteLine) -> str:
    return row.routes.resource


NO_SCRAPE = "no scrape yet"
NOT_OF_METRICS = ("running", "users", "level-requests", "schemas", "queues", "replicas")


class LiveOverview(LiveScreen):
    """The verdict, what to change, the most expensive LISTs, and the replicas."""

    MODE: ClassVar[str] = "overview"
    AUTO_FOCUS = "#resources"
    TABLES: ClassVar[tuple[LiveTable, ...]] = (
        LiveTable("resources", "LISTs by resource", METRICS, columns.SHORT_ROUTES, rows.listed, _resource,
              panels.NO_LIST, panels.route_content),
        LiveTable("findings", "findings", "most urgent and most expensive first", columns.FINDINGS,
              rows.finding_lines, lambda row: (row.finding.id, row.finding.subject),
              "nothing to change was found", panels.finding_content),
        LiveTable("replicas", "replicas", "each its own counters", columns.REPLICAS, rows.replicas,
              lambda row: row.name, NO_SCRAPE, panels.replicas_content),
    )  # fmt: skip

    def compose_body(self) -> ComposeResult:
        yield from super().compose_body()
        yield LiveCharts(id="live-charts")
        with Area(id="overview-more"):
            yield Panel("worst finding", id="worst", classes="box")
            yield Panel("replicas", id="processes", classes="box")

    def paint_panels(self, state: State) -> None:
        super().paint_panels(state)
        live = state.live
        stamp = (id(state), live.touched)
        self.query_one(LiveCharts).show_history(live.history)
        found = rows.finding_lines(live)
        worst = self.query_one("#worst", Panel)
        entitle(worst, line("what to change", (f" · {len(found)} found", "$ink-muted") if found else ""))
        worst.show(partial(panels.finding_content, live, found[0] if found else None), stamp)
        self.query_one("#processes", Panel).show(partial(panels.replicas_content, live, None), stamp)


class LiveRequests(LiveScreen):
    """Routes by resource, the executing and waiting requests, and the users who hold seats."""

    MODE: ClassVar[str] = "requests"
    AUTO_FOCUS = "#routes"
    TABLES: ClassVar[tuple[LiveTable, ...]] = (
        LiveTable("routes", "routes by resource", METRICS, columns.ROUTES, rows.listed, _resource,
              panels.NO_LIST, panels.route_content),
        LiveTable("running", "executing and queued", DUMPS, columns.RUNNING, rows.running,
              lambda row: row.place, "no request in the newest dumps", panels.running_content),
        LiveTable("users", "users", "dumps, mean of the samples", columns.USERS, lambda live: live.users(),
              lambda row: (row.user, row.level), "no request in any dump", panels.users_content),
        LiveTable("verbs", "requests by verb", METRICS, columns.VERBS, rows.requested, _resource,
              "no request", panels.requests_content),
        LiveTable("admission", "admission", METRICS, columns.ADMISSION, rows.admission,
              lambda row: (row.kind, row.name), "no webhook or plugin was called", panels.admission_content),
    )  # fmt: skip

    def compose_body(self) -> ComposeResult:
        yield from super().compose_body()
        yield LiveCharts(id="live-charts")

    def paint_panels(self, state: State) -> None:
        super().paint_panels(state)
        row = self.table.row
        of = row.routes.resource if isinstance(row, rows.RouteLine) else WHOLE
        self.query_one(LiveCharts).show_history(state.live.history, of)


class LiveCaches(LiveScreen):
    """Every watch cache of every replica."""

    MODE: ClassVar[str] = "cache"
    AUTO_FOCUS = "#caches"
    TABLES: ClassVar[tuple[LiveTable, ...]] = (
        LiveTable("caches", "watch caches by replica", METRICS, columns.CACHES, rows.caches,
              lambda row: (row.resource, row.replica), "no watch cache is reported", panels.cache_content),
    )  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["live caches"]

    def action_probe(self) -> None:
        """Ask each replica how far this cache is behind etcd, after a question that names the requests."""
        row = self.table.row
        source = self.ktui.intake.source
        resource = row.resource if row is not None else ""
        path = collection_of(resource)
        if not isinstance(source, ClusterSource) or not path:
            self.notify("no probe of this: it needs a kubeconfig and a built-in resource")
            return
        cached, newest = probe_paths(path)
        each = many(len(self.live.present), "replica")
        text = (
            f"Sends two GETs to each of {each}, for a name that no object has: "
            f"{cached} and {newest}. The first shows the cache's resourceVersion, the second etcd's; "
            "each reads one key at most. It also needs `list` on the resource."
        )

        def go(yes: bool | None) -> None:
            if yes:
                self.run_worker(self._probe(source, path, resource), group="probe", exclusive=True)

        self.app.push_screen(ConfirmScreen("probe a cache", text), go)

    async def _probe(self, source: ClusterSource, path: str, resource: str) -> None:
        try:
            events = await source.probe(path, resource)
        except ClientError as error:
            self.notify(str(error), title=f"probe of {resource}", severity="error")
            return
        self.ktui.feed(events)


class LiveEtcd(LiveScreen):
    """etcd as kube-apiserver sees it."""

    MODE: ClassVar[str] = "etcd"
    AUTO_FOCUS = "#calls"
    TABLES: ClassVar[tuple[LiveTable, ...]] = (
        LiveTable("calls", "etcd as kube-apiserver sees it", METRICS, columns.ETCD, rows.etcd_lines,
              _resource, NO_SCRAPE, panels.etcd_content),
    )  # fmt: skip


class LiveWatches(LiveScreen):
    """Open WATCHes by resource, and what they are sent."""

    MODE: ClassVar[str] = "watches"
    AUTO_FOCUS = "#watches"
    TABLES: ClassVar[tuple[LiveTable, ...]] = (
        LiveTable("watches", "open WATCHes by resource", METRICS, columns.WATCHES, rows.watched, _resource,
              "no WATCH is open", panels.watch_content),
    )  # fmt: skip


class LiveFlowControl(LiveScreen):
    """Priority levels: seats, queues, waits; the requests of the level under the cursor."""

    MODE: ClassVar[str] = "flow"
    AUTO_FOCUS = "#levels"
    TABLES: ClassVar[tuple[LiveTable, ...]] = (
        LiveTable("levels", "priority levels", f"metrics, {SPAN}; held, executing, queued: dumps",
              columns.LEVELS, rows.levels, lambda row: row.level, NO_SCRAPE, panels.level_content),
        LiveTable("level-requests", "requests", DUMPS, columns.RUNNING, rows.running,
              lambda row: row.place, "no request in the newest dumps", panels.running_content),
        LiveTable("schemas", "flow schemas", "FlowSchemas, each minute", columns.SCHEMAS, rows.schemas,
              lambda row: row.schema.name, "FlowSchemas have not been read", panels.schema_content),
        LiveTable("queues", "busy queues", "dumps, with each scrape", columns.QUEUES, rows.queues,
              lambda row: (row.replica, row.queue.level, row.queue.index), "no queue has a request",
              panels.queues_content),
    )  # fmt: skip

    @on(VTable.Selected, "#levels")
    def _open_level(self, event: VTable.Selected) -> None:
        """Show the level's requests."""
        self._show_table(1)
        self.table.set_filter(f"level:{event.row.level}")
        self.table.focus()
        self.paint()


class FlowControlScreen(LiveFlowControl):
    """Flow control of ktui's own server, from its telemetry."""

    TABLES: ClassVar[tuple[LiveTable, ...]] = tuple(
        replace(table, origin="telemetry, each second") for table in LiveFlowControl.TABLES
    )

    def paint_verdict(self, state: State) -> None:
        levels = rows.levels(state.live)
        self.query_one("#verdict", Panel).show(
            lambda width, height: panels.flow_content(levels, width), (id(state), state.live.touched)
        )


class LiveVersions(VersionsScreen):
    """Versions over a live cluster: with its version and gates; a second table shows these."""

    CSS_PATH = "../versions/versions.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["live versions"]

    def compose_body(self) -> ComposeResult:
        yield from super().compose_body()
        yield VTable(columns.GATES, key=lambda row: row.name, id="gates", classes="box",
                     empty="this server reports no feature gates (1.26 and later do)")  # fmt: skip

    @property
    def gates(self) -> VTable[rows.GateLine]:
        return self.query_one("#gates", VTable)

    def on_mount(self) -> None:
        super().on_mount()
        entitle(self.gates, line("feature gates", (" · metrics", "$ink-muted")))

    def active_table(self) -> VTable[Any] | None:
        return self.gates if self.has_class("-gates") else super().active_table()

    def action_refresh_figures(self) -> None:
        refresh_figures(self)

    def action_turn_tab(self) -> None:
        shown = not self.has_class("-gates")
        self.set_class(shown, "-gates")
        (self.gates if shown else self.table).focus()
        self.paint()

    def paint_tables(self, state: State) -> None:
        super().paint_tables(state)
        if self.has_class("-gates"):
            self.gates.set_rows(rows.gates(state.live))
