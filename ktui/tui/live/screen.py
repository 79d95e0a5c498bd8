"""The screens over a live cluster: a verdict, charts, tables in tabs, and details of the selected row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content

from ktui.core.format import duration, many, short_count
from ktui.core.live.findings import findings
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.core.live.window import PART, WHOLE, ListHistory, ListRates
from ktui.core.rows import CACHE, ETCD
from ktui.core.state import State
from ktui.live.samples import collection_of, probe_paths
from ktui.tui.charts.chart import AXIS, route_counts, route_series, symbols_of, with_axis
from ktui.tui.charts.plot import columns_in, round_top, stacked
from ktui.tui.dialogs.dialog import ConfirmScreen
from ktui.tui.keys import bindings as keys
from ktui.tui.live import live_columns as columns
from ktui.tui.live import live_panels as panels
from ktui.tui.live import live_rows as rows
from ktui.tui.live.live_tables import LIVE_TABLES, LiveTable
from ktui.tui.live.source import ClusterSource
from ktui.tui.looks.symbols import Symbols
from ktui.tui.screen_bases.mode_screen import ModeScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.versions.screen import VersionsScreen
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import Area, Panel, tabs_content

Pair = Callable[[ListRates], tuple[float, float]]  # from the cache, from etcd
_FIGURES: tuple[tuple[str, str, Pair], ...] = (
    ("chart-lists", "LISTs/s", lambda rates: (rates.cache, rates.etcd)),
    ("chart-read", "objects read/s", lambda rates: (rates.read_cache, rates.read_etcd)),
)


class LiveCharts(Horizontal):
    """Both charts, of all resources or of one."""

    DEFAULT_CSS = """
    LiveCharts { height: 6; }
    LiveCharts Panel { width: 1fr; height: 1fr; }
    """

    def compose(self) -> ComposeResult:
        for name, title, _ in _FIGURES:
            yield Panel(title, id=name, classes="box")

    def show_history(self, history: ListHistory, resource: str = WHOLE) -> None:
        """Paint the charts, again only after another part of the time or a change of `resource`."""
        if not self.display:
            return
        for name, title, pair in _FIGURES:
            panel = self.query_one(f"#{name}", Panel)
            over = f" · {duration(history.span * PART)}" if history.span else ""
            of = f" {resource}" if resource else ""
            entitle(panel, line(title, (of + over, "$ink-muted")), legend(history, resource, pair))
            symbols = symbols_of(panel)
            paint = partial(chart_content, history, resource, pair, symbols=symbols)
            panel.show(paint, (id(history), int(history.ended // PART), resource, symbols))


def chart_content(
    history: ListHistory, resource: str, pair: Pair, width: int, height: int, symbols: Symbols
) -> Content:
    """Return the chart: the cache at the foot, etcd above, the newest at the right."""
    cells = max(1, width - AXIS - 1)
    values = _resampled([pair(rates) for rates in history.per_second(resource)], columns_in(cells, symbols))
    if not values:
        return line((f"after {PART:.0f} s of scrapes", "$ink-muted"))
    cache, etcd = zip(*values, strict=True)
    series = [route_series(CACHE, cache), route_series(ETCD, etcd)]
    top = round_top(max(map(sum, values)), 0.1)
    drawn = stacked(series, top, cells, height, symbols)
    return with_axis(f"{top:.1f}" if top < 1 else short_count(top), "0", drawn)


def legend(history: ListHistory, resource: str, pair: Pair) -> Content:
    """Return how many the chart shows, of whole parts of the time only: `shown C123 E10`, or nothing."""
    rates = [pair(part) for part in history.per_second(resource)]
    cache, etcd = (round(PART * sum(values[place] for values in rates)) for place in (0, 1))
    counts = route_counts([(CACHE, cache), (ETCD, etcd)])
    return line(("shown ", "$ink-muted")) + counts if counts.plain else counts


def _resampled(values: Sequence[tuple[float, float]], columns: int) -> list[tuple[float, float]]:
    """Return a value per column: the mean of the parts in it, or the part that it is in."""
    found = []
    for column in range(columns if values else 0):
        low = column * len(values) // columns
        within = values[low : max(low + 1, (column + 1) * len(values) // columns)]
        first, second = (sum(value[place] for value in within) / len(within) for place in (0, 1))
        found.append((first, second))
    return found


class FiguresScreen(ModeScreen):
    """A screen whose source can be asked for new figures."""

    def action_refresh_figures(self) -> None:
        source = self.ktui.intake.source
        if isinstance(source, ClusterSource):
            source.refresh()
            self.notify("reading new figures")
        else:
            self.notify("only a live cluster has new figures")


class LiveScreen(FiguresScreen):
    """The mode's tables, of which `t` shows the next one."""

    CSS_PATH = "live.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["live cluster"]

    def __init_subclass__(cls, *, of: str = "", **more: Any) -> None:
        """`of` names the mode, whose first table gets the focus."""
        if of:
            cls.MODE, cls.AUTO_FOCUS = of, f"#{LIVE_TABLES[of][0].id}"
        super().__init_subclass__(**more)

    def __init__(self) -> None:
        super().__init__()
        self.tables = LIVE_TABLES[self.MODE]
        self._shown = 0

    def compose_body(self) -> ComposeResult:
        yield Panel(id="verdict")
        if len(self.tables) > 1:
            yield Panel(id="live-tabs")
        for table in self.tables:
            yield VTable(
                table.columns, key=table.key, share=True, id=table.id, classes="box", empty=table.empty
            )
        with Area(id="live-detail"):
            yield Panel("detail", id="row", classes="box")

    def on_mount(self) -> None:
        self._show_table(0)
        super().on_mount()

    @property
    def chosen(self) -> LiveTable:
        return self.tables[self._shown]

    @property
    def table(self) -> VTable[Any]:
        return self.query_one(f"#{self.chosen.id}", VTable)

    def active_table(self) -> VTable[Any] | None:
        return self.table

    # Tabs.

    def action_turn_tab(self) -> None:
        self._show_table((self._shown + 1) % len(self.tables))
        self.table.focus()
        self.paint()

    def _show_table(self, index: int) -> None:
        self._shown = index
        for place, table in enumerate(self.tables):
            self.query_one(f"#{table.id}", VTable).display = place == index
        if len(self.tables) > 1:
            titles = [table.title for table in self.tables]
            self.query_one("#live-tabs", Panel).show(
                lambda width, height: tabs_content(titles, index, width, ("live.tab",))
            )

    # Painting.

    def paint_tables(self, state: State) -> None:
        table = self.chosen
        if not self.table.outdated(id(state), state.live.touched):
            return
        origin = table.origin.replace(panels.SPAN, panels.span_text(state.live))
        entitle(self.table, line(table.title, (f" · {origin}", "$ink-muted")))
        if table.of_metrics:
            self.table.empty = panels.not_known(state.live) or table.empty
        self.table.set_rows(list(table.rows(state.live)))

    def paint_verdict(self, state: State) -> None:
        live = state.live
        lines = panels.verdict_lines(live)
        self.set_class(len(lines) == 2, "-more")
        self.set_class(len(lines) > 2, "-most")
        build = partial(panels.verdict_content, live, lines)
        self.query_one("#verdict", Panel).show(build, (id(state), live.touched))

    def paint_panels(self, state: State) -> None:
        self.paint_verdict(state)
        row = self.table.row
        stamp = (id(state), state.live.touched, self._shown, row)
        self.query_one("#row", Panel).show(partial(self.chosen.content, state.live, row), stamp)

    @on(VTable.Highlighted)
    def _highlighted(self, event: VTable.Highlighted) -> None:
        if event.by_user:
            self.paint_panels(self.ktui.state)

    def selected_object(self) -> tuple[str, Any] | None:
        row = self.table.row
        return None if row is None else (self.chosen.title, msgspec.to_builtins(row, str_keys=True))


class LiveOverview(LiveScreen, of="overview"):
    """The verdict, what to change, the most expensive LISTs, and the replicas."""

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
        found = findings(live, rows.WINDOW)
        worst = self.query_one("#worst", Panel)
        entitle(worst, line("what to change", (f" · {len(found)} found", "$ink-muted") if found else ""))
        worst.show(partial(self.tables[1].content, live, found[0] if found else None), stamp)
        self.query_one("#processes", Panel).show(partial(self.tables[2].content, live, None), stamp)


class LiveRequests(LiveScreen, of="requests"):
    """Routes by resource, the executing and waiting requests, and the users who hold seats."""

    def compose_body(self) -> ComposeResult:
        yield from super().compose_body()
        yield LiveCharts(id="live-charts")

    def paint_panels(self, state: State) -> None:
        super().paint_panels(state)
        row = self.table.row
        of = row.resource if isinstance(row, ResourceRoutes) else WHOLE
        self.query_one(LiveCharts).show_history(state.live.history, of)


class LiveCaches(LiveScreen, of="cache"):
    """Every watch cache of every replica."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["live caches"]

    def action_probe(self) -> None:
        """Ask each replica how far this cache is behind etcd, after a question that names the requests."""
        row, source = self.table.row, self.ktui.intake.source
        if row is None:
            self.notify("no cache to probe: none is known yet, or the filter hides all")
            return
        path = collection_of(row.resource)
        if not isinstance(source, ClusterSource) or not path:
            self.notify("no probe of this: it needs a kubeconfig and a built-in resource")
            return
        cached, newest = probe_paths(path)
        each = many(len(self.ktui.state.live.present), "replica")
        text = (
            f"Sends two GETs to each of {each}, for a name that no object has: "
            f"{cached} and {newest}. The first shows the cache's resourceVersion, the second etcd's; "
            "each reads one key at most. It also needs `list` on the resource."
        )

        def go(_: bool) -> None:
            self.run_worker(self._probe(source, path, row.resource), group="probe", exclusive=True)

        ConfirmScreen("probe a cache", text).ask(self.app, go)

    async def _probe(self, source: ClusterSource, path: str, resource: str) -> None:
        with self.ktui.notifying_errors(title=f"probe of {resource}"):
            self.ktui.feed(await source.probe(path, resource))


class LiveEtcd(LiveScreen, of="etcd"):
    """etcd as kube-apiserver sees it."""


class LiveWatches(LiveScreen, of="watches"):
    """Open WATCHes by resource, and what they are sent."""


class LiveFlowControl(LiveScreen, of="flow"):
    """Priority levels: seats, queues, waits; the requests of the level under the cursor."""

    @on(VTable.Selected, "#levels")
    def _open_level(self, event: VTable.Selected) -> None:
        self._show_table(1)
        self.table.set_filter(f"level:{event.row.level}")
        self.table.focus()
        self.paint()


class FlowControlScreen(LiveFlowControl):
    """Flow control of ktui's own server, from its telemetry."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = tuple(replace(table, origin="telemetry, each second") for table in self.tables)

    def paint_verdict(self, state: State) -> None:
        build = partial(panels.flow_content, rows.levels(state.live))
        self.query_one("#verdict", Panel).show(build, (id(state), state.live.touched))


class LiveVersions(VersionsScreen, FiguresScreen):
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

    def action_turn_tab(self) -> None:
        shown = not self.has_class("-gates")
        self.set_class(shown, "-gates")
        (self.gates if shown else self.table).focus()
        self.paint()

    def paint_tables(self, state: State) -> None:
        super().paint_tables(state)
        if self.has_class("-gates"):
            self.gates.set_rows(rows.gates(state.live))
