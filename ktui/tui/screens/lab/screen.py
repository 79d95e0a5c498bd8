"""Lab: compose a LIST field by field, see what the rules foresee, fire it, race its forms, compare."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.worker import Worker

from ktui.client.connection import ClientError
from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, ResourceTable
from ktui.telemetry.events import RequestFinished
from ktui.tui.model.cache_view import read_objects
from ktui.tui.model.in_hand import InHand
from ktui.tui.model.lab import ListForm, RaceForm, path_of, race_forms
from ktui.tui.model.lab_bench import Bench, Shot, next_page
from ktui.tui.model.lab_predict import Prediction, predict, server_version
from ktui.tui.model.state import State
from ktui.tui.screens.asking import AskingScreen
from ktui.tui.screens.lab.columns import ResultLine, columns, result_lines
from ktui.tui.screens.lab.detail import detail_content, result_document
from ktui.tui.screens.lab.fields import FIELDS, Candidates
from ktui.tui.screens.lab.foreseen import foreseen_content, path_content
from ktui.tui.source import Stage
from ktui.tui.widgets.field_form import FieldForm
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.vtable import VTable

EMPTY = "f fires the LIST above, r races six forms of it; tab or i goes to the form"
NOTHING_FIRED = "a result shows here where it came from, and as kubectl and curl lines"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?resourceVersion=0"
NAMESPACES = "/ktui/v1/caches/namespaces/objects?offset=0&limit=500&filter="


class LabScreen(AskingScreen):
    """The form is the question; everything else on the screen follows from it."""

    MODE = "lab"
    CSS_PATH = "lab.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "fire", "fire", id="lab.fire", tooltip="fire the LIST (enter in the form)"),
        Binding("r", "race", "race", id="lab.race", tooltip="race six forms of the question"),
        Binding("c", "next_page", "page", id="lab.page", tooltip="next page by the continue token"),
        Binding("i", "edit", "edit", show=False, id="lab.edit", tooltip="go to the form"),
        Binding("x", "stop", "stop", id="lab.stop", tooltip="stop what is running"),
        Binding("X", "clear", "clear", show=False, id="lab.clear", tooltip="clear the results"),
        Binding("escape", "leave", "results", id="lab.leave", tooltip="from the form to the results"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench()
        self.table = BUILTIN
        self.prediction = Prediction()
        self.candidates = Candidates()
        self._learnt_from: object = None
        self._run: Worker[None] | None = None
        self._shown: tuple[Any, ...] = ()

    def compose_body(self) -> ComposeResult:
        with Container(id="compose"):
            with Container(id="form-box", classes="box"):
                yield FieldForm(FIELDS, self._candidates)
                yield Panel(id="path")
            with Container(id="foreseen-box", classes="box"):
                yield Panel(id="foreseen")
        with Container(id="results-box", classes="box"):
            yield VTable[ResultLine](
                columns(80), key=lambda row: row.result.number, id="results", empty=EMPTY, follow=True
            )
        yield Panel("selected", id="detail", classes="box")

    @property
    def fields(self) -> FieldForm:
        return self.query_one(FieldForm)

    @property
    def results(self) -> VTable[ResultLine]:
        return self.query_one("#results", VTable)

    @property
    def form(self) -> ListForm:
        """The LIST as it stands in the form."""
        return ListForm(**self.fields.values)

    def active_table(self) -> VTable[Any] | None:
        return self.results

    def request_in_hand(self) -> InHand | None:
        return InHand("LIST", self.prediction.path, "from the Lab") if self.prediction.path else None

    def object_in_hand(self) -> tuple[str, Any] | None:
        row = self.results.row
        return None if row is None else (row.result.label, result_document(row.result))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self.bench.running
        if action == "leave":
            return self.focused is not None and self.fields in self.focused.ancestors
        if action == "next_page":
            row = self.results.row if self.is_mounted else None
            return row is not None and bool(row.result.continue_token)
        return super().check_action(action, parameters)

    # Painting.

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#form-box").border_title = line("LIST")
        self.fields.set_value("resource", "pods")
        self.results.focus()

    def on_resize(self) -> None:
        self.results.set_columns(columns(self.size.width))

    def paint_tables(self, state: State) -> None:
        self.bench.account(lambda request_id: _finished(state, request_id))
        now = (tuple(self.bench.results), self.bench.streamed if self.bench.running else 0)
        if now != self._shown:
            self._shown = now
            self.results.set_rows(result_lines(*now))
            self._paint_results()

    def paint_panels(self, state: State) -> None:
        self._learn()
        self.foresee(state)

    def foresee(self, state: State) -> None:
        """Predict what the form says now, and show it."""
        self.prediction = prediction = predict(self.form, self.table, state)
        rules = self.form.kube_version or server_version(state)
        self.query_one("#foreseen-box").border_title = line(f"foreseen by the rules of {rules}")
        self.query_one("#foreseen", Panel).show(
            lambda width, height: foreseen_content(prediction, width, height), repr(prediction)
        )
        path = prediction.path
        self.query_one("#path", Panel).show(lambda width, height: path_content(path, width, height), path)
        self.fields.mark(prediction.problem.field if prediction.problem is not None else "")

    def _paint_results(self) -> None:
        results = self.bench.results
        title = f"results · {len(results)}" if results else "results"
        self.query_one("#results-box").border_title = line(title)
        self._paint_detail()

    @on(VTable.Highlighted, "#results")
    def _paint_detail(self) -> None:
        row = self.results.row
        panel = self.query_one("#detail", Panel)
        if row is None:
            panel.show(lambda width, _: line((NOTHING_FIRED, "$ink-muted")), ())
        else:
            result = row.result
            panel.show(lambda width, height: detail_content(result, width, height), id(result))
        self.refresh_bindings()

    # The form.

    def _candidates(self, field: str) -> list[str]:
        return list(self.candidates.of(field, self.form.resource, self.table, self.ktui.state))

    @on(FieldForm.Changed)
    def _typed(self) -> None:
        self.foresee(self.ktui.state)

    @on(FieldForm.Submitted)
    def _submitted(self) -> None:
        self.action_fire()

    def action_edit(self) -> None:
        self.fields.focus_field("resource")

    def action_leave(self) -> None:
        self.results.focus()

    def _learn(self) -> None:
        """Custom resources and namespaces, once for each server."""
        client = self.ktui.client
        if client is not None and client is not self._learnt_from:
            self._learnt_from = client
            self._learn_resources()

    @work(group="learn", exclusive=True)
    async def _learn_resources(self) -> None:
        try:
            crds = (await self.ask(CRDS)).get("items", [])
            self.table = _with_custom(crds)
            page = read_objects(await self.ask(NAMESPACES))
            self.candidates.namespaces = [each.name for each in page.objects]
        except ClientError:
            return  # only completions and custom resources are missing: the form says so when one is named

    # Firing.

    def action_fire(self) -> None:
        self._start([RaceForm("as composed", self.form)])

    def action_race(self) -> None:
        if self.ktui.link.stage is Stage.STOPPED:
            self.ktui.action_restart()
            return
        self._start(race_forms(self.form, self._current_rv()))

    def action_next_page(self) -> None:
        row = self.results.row
        if row is None:
            return
        form = next_page(row.result.form, row.result.continue_token)
        for name in ("continue_token", "resource_version", "match"):
            self.fields.set_value(name, getattr(form, name))
        self._start([RaceForm(f"page after #{row.result.number}", form)])

    def _current_rv(self) -> int:
        """The revision that NotOlderThan and Exact are asked at: the cache's own, else etcd's head."""
        resource = self.table.by_name(self.form.resource)
        state = self.ktui.state
        row = state.caches.get(resource.id) if resource is not None else None
        return row.rv if row is not None and row.rv else state.head.revision

    def _start(self, races: list[RaceForm]) -> None:
        if self.bench.running:
            self.notify("one request at a time: x stops the one that runs", markup=False)
            return
        shots = [shot for race in races if (shot := self._shot(race)) is not None]
        if not shots:
            problem = self.prediction.problem
            self.notify(problem.message if problem is not None else "nothing to send", markup=False)
            return
        self.results.following = True
        self._run = self._fire(shots)
        self.refresh_bindings()

    def _shot(self, race: RaceForm) -> Shot | None:
        resource = self.table.by_name(race.form.resource)
        if resource is None:
            return None
        state = self.ktui.state
        foreseen = predict(race.form, self.table, state, server_version(state))
        return Shot(race, path_of(race.form, resource), foreseen.route)

    @work(group="fire", exclusive=True)
    async def _fire(self, shots: list[Shot]) -> None:
        try:
            await self.bench.run(self.client, shots, self.table)
        except ClientError as error:
            self.notify(str(error), severity="error", markup=False)
        finally:
            self.refresh_bindings()
            self.paint_tables(self.ktui.state)

    def action_stop(self) -> None:
        if self._run is not None:
            self._run.cancel()

    def action_clear(self) -> None:
        self.bench.clear()
        self.paint_tables(self.ktui.state)


def _finished(state: State, request_id: int) -> RequestFinished | None:
    row = state.requests.get(request_id)
    return row.finished if row is not None else None


def _with_custom(crds: list[dict[str, Any]]) -> ResourceTable:
    """The built-in resources and those of well-formed CustomResourceDefinitions."""
    custom = []
    for crd in crds:
        try:
            custom += resources_of(crd)
        except (KeyError, TypeError):
            continue  # somebody's unfinished definition: kube-apiserver serves nothing for it either
    return BUILTIN.plus(custom)
