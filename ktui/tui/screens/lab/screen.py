"""Lab: compose a LIST field by field, see what the rules foresee, fire it, race its forms, compare."""

from __future__ import annotations

from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from ktui.client.connection import ClientError
from ktui.kube.crd import resources_of
from ktui.kube.resources import BUILTIN, ResourceTable
from ktui.tui.model.cache_view import read_objects
from ktui.tui.model.in_hand import InHand
from ktui.tui.model.lab import ListForm
from ktui.tui.model.lab_predict import predict, server_version
from ktui.tui.model.lab_result import LabResult
from ktui.tui.model.state import State
from ktui.tui.screens.lab.columns import ResultLine, columns, result_lines
from ktui.tui.screens.lab.detail import detail_content, note
from ktui.tui.screens.lab.document import result_pages
from ktui.tui.screens.lab.fields import FIELDS
from ktui.tui.screens.lab.firing import FiringScreen
from ktui.tui.screens.lab.foreseen import foreseen_content, path_content
from ktui.tui.screens.lab.pages import PagesScreen
from ktui.tui.source import Stage
from ktui.tui.widgets.field_form import FieldForm
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.panel import Panel
from ktui.tui.widgets.vtable import VTable

EMPTY = "f fires the LIST above, r races its forms, a fires a cheaper one; tab or i goes to the form"
NOTHING_FIRED = "a result shows here where it came from, what it cost, and whether that was foreseen"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?resourceVersion=0"
NAMESPACES = "/ktui/v1/caches/namespaces/objects?offset=0&limit=500&filter="


class LabScreen(FiringScreen):
    """The form is the question; everything else on the screen follows from it."""

    MODE = "lab"
    CSS_PATH = "lab.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "fire", "fire", id="lab.fire", tooltip="fire the LIST (enter in the form)"),
        Binding("r", "race", "race", id="lab.race", tooltip="race the forms of the question"),
        Binding("a", "undercut", "cheaper", id="lab.undercut", tooltip="try the cheaper form"),
        Binding("c", "next_page", "page", id="lab.page", tooltip="next page by the continue token"),
        Binding("equals_sign", "prove", "= etcd", key_display="=", show=False, id="lab.prove",
                tooltip="compare the cache with etcd at its exact resourceVersion"),
        Binding("t", "aim", "at", id="lab.aim", tooltip="fire at ktui's own server or a kubeconfig's"),
        Binding("y", "show_pages", "as…", show=False, id="lab.pages",
                tooltip="the result in full, as curl, kubectl, client-go, Python"),
        Binding("i", "edit", "edit", show=False, id="lab.edit", tooltip="go to the form"),
        Binding("x", "stop", "stop", id="lab.stop", tooltip="stop what is running"),
        Binding("X", "clear", "clear", show=False, id="lab.clear", tooltip="forget the results, on disk too"),
        Binding("escape", "leave", "results", id="lab.leave", tooltip="from the form to the results"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._learnt_from: object = None
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
        values: dict[str, Any] = self.fields.values
        return ListForm(**values)

    @property
    def result(self) -> LabResult | None:
        row = self.results.row if self.is_mounted else None
        return row.result if row is not None else None

    def active_table(self) -> VTable[Any] | None:
        return self.results

    def request_in_hand(self) -> InHand | None:
        return InHand("LIST", self.prediction.path, "from the Lab") if self.prediction.path else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "stop":
            return self.bench.running
        if action == "leave":
            return self.focused is not None and self.fields in self.focused.ancestors
        if action == "next_page":
            measured = self.result.measured if self.result is not None else None
            return measured is not None and bool(measured.continue_token)
        return super().check_action(action, parameters)

    # Painting.

    def on_mount(self) -> None:
        super().on_mount()
        self.fields.set_value("resource", "pods")
        self.bench.recall(self.history.read())
        self.results.focus()

    def on_resize(self) -> None:
        self.results.set_columns(columns(self.size.width))

    def paint_tables(self, state: State) -> None:
        now = (tuple(self.bench.results), self.bench.streamed if self.bench.running else 0)
        if now != self._shown:
            self._shown = now
            self.results.set_rows(result_lines(*now))
            self._paint_results()

    def paint_panels(self, state: State) -> None:
        self._learn()
        self.foresee(state)

    def show_progress(self) -> None:
        if self.bench.running or self._run is not None:
            self.results.following = True
        self.refresh_bindings()
        if self.paintable:
            self.paint_tables(self.ktui.state)
            self.foresee(self.ktui.state)
            self._paint_results()

    def foresee(self, state: State) -> None:
        """Predict what the form says now, and show it."""
        elsewhere = self.elsewhere
        self.prediction = prediction = predict(self.form, self.table, state, elsewhere=elsewhere)
        rules = self.form.kube_version or (
            elsewhere.world.behaviour.version if elsewhere else server_version(state)
        )
        self.query_one("#form-box").border_title = line(f"LIST at {self.aim.title}" if self.aim else "LIST")
        self.query_one("#foreseen-box").border_title = line(f"foreseen by the rules of {rules}")
        self.query_one("#foreseen", Panel).show(
            lambda width, height: foreseen_content(prediction, width, height), repr(prediction)
        )
        path = prediction.path
        self.query_one("#path", Panel).show(lambda width, height: path_content(path, width, height), path)
        self.fields.mark(prediction.problem.field if prediction.problem is not None else "")

    @on(VTable.Highlighted, "#results")
    def _paint_results(self) -> None:
        """The result under the cursor in its panel; where that has no room, the gist in the table's title."""
        result, panel, count = self.result, self.query_one("#detail", Panel), len(self.bench.results)
        gist = self.proof
        if result is None:
            panel.show(lambda width, _: line((NOTHING_FIRED, "$ink-muted")), ())
        else:
            dear = self.bench.result(result.dear) if result.dear else None
            panel.border_title = line(f"#{result.number} {result.label}")
            panel.show(
                lambda width, height: detail_content(result, dear, width, height), (id(result), id(dear))
            )
            gist = gist if panel.display else note(result, dear)
        title = line(
            f"results · {count}" if count else "results", (f"  {gist}" if gist else "", "$ink-muted")
        )
        self.query_one("#results-box").border_title = title.truncate(
            max(9, self.size.width - 4), ellipsis=True
        )
        self.refresh_bindings()

    @on(VTable.Selected, "#results")
    def action_show_pages(self) -> None:
        """The result in full, and the same request from elsewhere."""
        result = self.result
        if result is None:
            self.notify("nothing was fired yet", markup=False)
            return
        pages = result_pages(result, self.table.by_name(result.form.resource))
        self.app.push_screen(PagesScreen(f"#{result.number} {result.label}", pages))

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

    def compose_page(self, form: ListForm) -> None:
        for name in ("continue_token", "resource_version", "match"):
            self.fields.set_value(name, getattr(form, name))

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

    def action_race(self) -> None:
        if self.ktui.link.stage is Stage.STOPPED and self.aim is None:
            self.ktui.action_restart()
        else:
            super().action_race()


def _with_custom(crds: list[dict[str, Any]]) -> ResourceTable:
    """The built-in resources and those of well-formed CustomResourceDefinitions."""
    custom = []
    for crd in crds:
        try:
            custom += resources_of(crd)
        except (KeyError, TypeError):
            continue  # somebody's unfinished definition: kube-apiserver serves nothing for it either
    return BUILTIN.plus(custom)
