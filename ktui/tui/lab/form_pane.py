"""The form, the LIST that it makes, and its prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.app import ComposeResult
from textual.containers import Container

from ktui.core.lab.form import ACCEPTS, MATCHES, VERBS, ListForm, form_from, values_of
from ktui.core.lab.predict import LabPrediction
from ktui.kube.resources import ResourceTable
from ktui.kube.versions import KNOWN_VERSIONS
from ktui.tui.lab.prediction import prediction_content
from ktui.tui.lab.request_preview import preview_content
from ktui.tui.widgets.field_form import Field, FieldForm
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.panel import Panel

FIELDS = (
    Field("resource", "resource", "pods, leases, …"),
    Field("namespace", "namespace", "all"),
    Field("label_selector", "labelSelector", "app=web,tier!=db"),
    Field("field_selector", "fieldSelector", "spec.nodeName=…"),
    Field("resource_version", "resourceVersion", "unset"),
    Field("match", "resourceVersionMatch", "unset", MATCHES),
    Field("limit", "limit", "none"),
    Field("continue_token", "continue", "a page's token"),
    Field("accept", "accept", choices=tuple(ACCEPTS)),
    Field("kube_version", "rules of", "the server", ("", *reversed(KNOWN_VERSIONS))),
    Field("verb", "verb", choices=VERBS),
    Field("others", "other parameters", "none", rare=True),
)


class FormPane(Container):
    """`candidates(field)` returns a field's completions."""

    def __init__(self, candidates: Callable[[str], Iterable[str]]) -> None:
        super().__init__(id="compose")
        self._candidates = candidates

    def compose(self) -> ComposeResult:
        with Container(id="form-box", classes="box"):
            yield FieldForm(FIELDS, self._candidates)
            yield Panel(id="path")
        with Container(id="predicted-box", classes="box"):
            yield Panel(id="predicted")

    @property
    def fields(self) -> FieldForm:
        return self.query_one(FieldForm)

    @property
    def form(self) -> ListForm:
        """The LIST in the form."""
        return form_from(self.fields.values)

    @property
    def verb(self) -> str:
        return self.fields.values["verb"]

    def put(self, form: ListForm) -> None:
        """Fill the form."""
        for name, value in values_of(form).items():
            self.fields.set_value(name, value)

    def put_page(self, form: ListForm) -> None:
        """Fill in a page's continue token, and the fields that it replaces."""
        for name in ("continue_token", "resource_version", "match"):
            self.fields.set_value(name, getattr(form, name))

    def show(self, prediction: LabPrediction, rules: str, server: str, table: ResourceTable) -> None:
        """Show a prediction and what is sent.

        `rules` is the version predicted by; `server` is "" for ktui's own.
        """
        form = self.form
        verb = "WatchList: a WATCH + sendInitialEvents" if form.stream else self.verb
        what = "WatchList, predicted" if form.stream else "predicted"
        self.query_one("#form-box").border_title = line(f"{verb} at {server}" if server else verb)
        self.query_one("#predicted-box").border_title = line(f"{what} by the rules of {rules}")
        self.query_one("#predicted", Panel).show(
            lambda width, height: prediction_content(prediction, width, height), repr(prediction)
        )
        path, resource = prediction.path, table.by_name(form.resource)
        self.query_one("#path", Panel).show(
            lambda width, height: preview_content(path, form, resource, width, height), (path, form)
        )
        self.fields.mark(prediction.problem.field if prediction.problem is not None else "")
