"""The Workloads screen: client behaviours that run against the server, with live charts and knobs."""

from __future__ import annotations

from functools import partial
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.events import DescendantFocus

from ktui.client.connection import ClientError, ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.contract.faults import KINDS, Fault
from ktui.core.state import State
from ktui.tui.charts.chart import symbols_of
from ktui.tui.dialogs.dialog import ConfirmScreen
from ktui.tui.dialogs.text import TextScreen
from ktui.tui.prompt.prompt import Prompt
from ktui.tui.screen_bases.server_screen import ServerScreen
from ktui.tui.table.vtable import VTable
from ktui.tui.widgets.lines import entitle, line
from ktui.tui.widgets.panel import HorizontalArea, Panel, VerticalArea
from ktui.tui.workloads import panels
from ktui.tui.workloads.session import Session
from ktui.workloads.registry import WORKLOADS
from ktui.workloads.running.knobs import Knobs, WorkloadError, written
from ktui.workloads.running.workload import Workload

RUN_SECONDS = 600.0  # of a run that is not stopped
COMPARE_SECONDS = 80.0  # eight turns
KEPT_RUNS = 10


class WorkloadsScreen(ServerScreen, mode="workloads"):
    """On the left the workloads and the selected one's knobs, on the right its run.

    A run is a process of its own, whose output the dashboard reads.
    """

    AUTO_FOCUS = "#workloads"

    def __init__(self) -> None:
        super().__init__()
        self.table = VTable(panels.WORKLOAD_COLUMNS, key=lambda row: row.name, id="workloads", classes="box")
        self.knob_table = VTable(panels.KNOB_COLUMNS, key=lambda row: row.name, id="knobs", classes="box")
        self._knobs = {name: workload.settings() for name, workload in WORKLOADS.items()}
        self._sessions: dict[str, Session] = {}
        self._runs: dict[str, list[dict[str, Any]]] = {name: [] for name in WORKLOADS}

    def compose_body(self) -> ComposeResult:
        with HorizontalArea(id="panes"):
            with VerticalArea(id="left"):
                yield self.table
                yield self.knob_table
            with VerticalArea(id="right"):
                yield Panel("workload", id="status", classes="box")
                for chart in panels.CHARTS:
                    yield Panel(chart.title, id=chart.id, classes="box")
                yield Panel("fixes and results", id="outcome", classes="box")

    def on_mount(self) -> None:
        self.table.set_rows(self._workload_rows())
        self._paint_knobs()
        super().on_mount()

    @property
    def workload(self) -> Workload:
        row = self.table.row
        return row.workload if row is not None else next(iter(WORKLOADS.values()))

    @property
    def session(self) -> Session | None:
        return self._sessions.get(self.workload.name)

    # Painting.

    def paint_tables(self, state: State) -> None:
        rows = self._workload_rows()
        if self.table.outdated(*rows):
            self.table.set_rows(rows)
        entitle(self.table, line(f"workloads · {len(rows)}"))

    def paint_panels(self, state: State) -> None:
        workload, session = self.workload, self.session
        status = self.query_one("#status", Panel)
        entitle(status, line(workload.name))
        knob = self.knob_table.row if self.knob_table.has_focus else None
        about = workload.sentence if knob is None else f"{knob.name}: {knob.knob.about}"
        status.show(partial(panels.status_content, about, session))
        seconds = list(session.seconds) if session is not None else []
        symbols = symbols_of(status)
        for chart in panels.CHARTS:
            panel = self.query_one(f"#{chart.id}", Panel)
            entitle(panel, line(chart.title), line(chart.newest(panels.busiest(seconds)) if seconds else ""))
            panel.show(partial(panels.chart_content, chart, seconds, symbols))
        outcome = partial(panels.outcome_content, workload, self._runs[workload.name], self._tables())
        self.query_one("#outcome", Panel).show(outcome)

    def _tables(self) -> list[dict[str, Any]]:
        """Return the workload's tables: of the current run, or else of the last one."""
        runs, session = self._runs[self.workload.name], self.session
        if session is not None and session.running:
            return session.tables
        return panels.tables_of(runs[-1]) if runs else []

    def action_results(self) -> None:
        """Show the comparison and all tables in a dialog: the panel has room for their beginning."""
        width = self.app.size.width * 9 // 10 - 8  # of the dialog, without its frame and scrollbar
        if not (text := panels.results_text(self._runs[self.workload.name], self._tables(), width)):
            self.notify("no results yet: they come with a run")
            return
        self.app.push_screen(TextScreen(f"results of {self.workload.name}", text))

    def _workload_rows(self) -> list[panels.WorkloadRow]:
        rows = []
        for name, workload in WORKLOADS.items():
            session, state = self._sessions.get(name), ""
            if session is not None:
                state = "running" if session.running else "failed" if session.summary is None else "done"
            rows.append(panels.WorkloadRow(workload, state))
        return rows

    def _paint_knobs(self) -> None:
        knobs = self._knobs[self.workload.name]
        values = knobs.values()
        rows = [
            panels.KnobRow(knob, written(value), knob.shown(value), value != knob.default)
            for knob in knobs.knobs
            for value in (values[knob.name],)
        ]
        self.knob_table.set_rows(rows)
        entitle(self.knob_table, line(f"knobs of {self.workload.name}"))

    @on(VTable.Highlighted, "#knobs")
    @on(DescendantFocus)
    def _knob_highlighted(self) -> None:
        self.paint_panels(self.ktui.state)

    @on(VTable.Highlighted, "#workloads")
    def _highlighted(self) -> None:
        self._paint_knobs()
        self.paint_panels(self.ktui.state)

    # Running.

    @on(VTable.Selected, "#workloads")
    def action_start_or_stop(self) -> None:
        session = self.session
        if session is not None and session.running:
            session.send("stop")
            return
        values = self._knobs[self.workload.name].values()
        settings = [f"{name}={written(value)}" for name, value in values.items() if value != ""]
        self._ask(Session(self.workload.name, self._changed), settings, RUN_SECONDS)

    def action_compare(self) -> None:
        """Run the current knobs (B) in turn with those of the last run, or the defaults (A)."""
        if self.session is not None and self.session.running:
            self.notify("a comparison runs alone: stop this run first", severity="warning")
            return
        now, runs = self._knobs[self.workload.name].values(), self._runs[self.workload.name]
        last = runs[-1]["variants"][-1]["knobs"] if runs else {}
        former = last if last and last != now else self.workload.settings().values()
        if former == now:
            self.notify("no knob differs from its default: turn one, then compare")
            return
        sides = [(name, dict.fromkeys((former[name], value))) for name, value in now.items()]
        settings = [f"{name}={written(value)}" for name, values in sides for value in values]
        self._ask(Session(self.workload.name, self._changed, compares=True), settings, COMPARE_SECONDS)

    def _ask(self, session: Session, settings: list[str], seconds: float) -> None:
        """Start a run; if ktui did not start the server's etcd, ask first."""
        try:
            connection = self.client.connection
        except ClientError as error:
            self.notify(str(error), severity="warning")
            return

        def start(_: bool) -> None:
            self._sessions[session.workload] = session
            running = partial(self._run, session, connection, settings, seconds)
            self.in_background(running, f"workload {session.workload}")

        if self._own_server:
            start(True)
            return
        question = f"{session.workload} puts load on {connection.url},\nwhich is not ktui's own."
        ConfirmScreen("load on another server", question).ask(self.app, start)

    @property
    def _own_server(self) -> bool:
        server = self.ktui.state.server
        return server is not None and server.etcd_kind == "embedded"

    async def _run(
        self, session: Session, connection: ServerConnection, settings: list[str], seconds: float
    ) -> None:
        await session.run(connection, settings, seconds)
        if session.summary is not None:
            runs = self._runs[session.workload]
            runs.append(session.summary)
            del runs[:-KEPT_RUNS]
        self._changed()

    def _changed(self) -> None:
        if self.is_current:
            self.paint()

    # Knobs.

    def action_turn(self, step: int) -> None:
        """Change the knob under the cursor by one step, also in the current run."""
        row = self.knob_table.row
        if row is None:
            return
        value = self._knobs[self.workload.name].values()[row.name]
        if (after := row.knob.next(value, step)) != value:
            self._set(row.name, written(after))

    @on(VTable.Selected, "#knobs")
    def action_edit(self) -> None:
        row = self.knob_table.row
        if row is None:
            return
        knobs = Knobs(self.workload.knobs)

        def typed(text: str) -> str:
            try:
                knobs.set(row.name, text)
            except WorkloadError as error:
                return str(error)
            return ""

        def entered(text: str) -> str:
            problem = typed(text)
            if not problem:
                self._set(row.name, text)
            return problem

        self.query_one(Prompt).open(
            f"{row.name} ›", row.value, hint=row.knob.about, typed=typed, entered=entered
        )

    def action_fix(self, number: int) -> None:
        """Apply a fix of the workload: set its knobs one after the other."""
        fixes = self.workload.fixes
        if number < len(fixes):
            for setting in fixes[number].settings:
                name, _, text = setting.partition("=")
                self._set(name, text)
            self.notify(fixes[number].title)

    # Faults.

    def action_faults(self) -> None:
        """Choose a fault from a menu; one that breaks etcd or the server asks first."""

        def chosen(kind: str) -> None:
            fault = Fault(kind)
            if KINDS[kind].breaks:
                panels.question(fault).ask(self.app, lambda _: self._strike(fault))
            else:
                self._strike(fault)

        panels.FaultScreen().ask(self.app, chosen)

    def _strike(self, fault: Fault) -> None:
        """Inject a fault, through the current run if there is one.

        A run cannot restart a killed server: that is the dashboard's.
        """
        session = self.session
        running = session is not None and session.running
        if session is not None and running and fault.kind != "kill":
            session.send(f"fault {fault.kind}")
            return
        try:
            api = KtuiApi(self.client)
        except ClientError as error:
            self.notify(str(error), severity="warning")
            return

        async def inject() -> None:
            # A killed server has no duration here: `r` starts another one.
            what = fault.kind if fault.kind == "kill" else str(fault.checked())
            with self.ktui.notifying_errors(severity="warning"):
                await api.inject(fault)
                self.notify(f"fault: {what}")

        self.in_background(inject, f"fault {fault.kind}")
        if session is not None and running:
            session.mark(fault.kind)

    def _set(self, name: str, text: str) -> None:
        self._knobs[self.workload.name].set(name, text)
        session = self.session
        if session is not None and session.running and session.compares:
            self.notify("two sides are compared: the knob counts in the next run")
        elif session is not None:
            session.send(f"set {name} {text}")
        self._paint_knobs()

    def selected_object(self) -> tuple[str, Any] | None:
        runs = self._runs[self.workload.name]
        return (f"the last run of {self.workload.name}", runs[-1]) if runs else None
