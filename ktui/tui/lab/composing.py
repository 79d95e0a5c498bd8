"""The form, the LIST that it makes, and what the rules foresee for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.app import ComposeResult
from textual.containers import Container

from ktui.core.lab.form import ListForm, form_from, values_of
from ktui.core.lab.predict import Prediction
from ktui.kube.resources import ResourceTable
from ktui.tui.lab.aim import Aim
from ktui.tui.lab.asked import asked_content
from ktui.tui.lab.field_form import FieldForm
from ktui.tui.lab.fields import FIELDS
from ktui.tui.lab.foreseen import foreseen_content
from ktui.tui.widgets.lines import line
from ktui.tui.widgets.panel import Panel


class ComposingPane(Container):
    """`candidates(field)` gives what a field may be completed to."""

    def __init__(self, candidates: Callable[[str], Iterable[str]]) -> None:
        super().__init__(id="compose")
        self._candidates = candidates

    def compose(self) -> ComposeResult:
        with Container(id="form-box", classes="box"):
            yield FieldForm(FIELDS, self._candidates)
            yield Panel(id="path")
        with Container(id="foreseen-box", classes="box"):
            yield Panel(id="foreseen")

    @property
    def fields(self) -> FieldForm:
        return self.query_one(FieldForm)

    @property
    def form(self) -> ListForm:
        """The LIST as it stands in the form."""
        return form_from(self.fields.values)

    @property
    def verb(self) -> str:
        return self.fields.values["verb"]

    def take(self, form: ListForm) -> None:
        """Put a whole LIST into the form."""
        for name, value in values_of(form).items():
            self.fields.set_value(name, value)

    def take_page(self, form: ListForm) -> None:
        """Put what goes on from a page into it."""
        for name in ("continue_token", "resource_version", "match"):
            self.fields.set_value(name, getattr(form, name))

    def show(self, prediction: Prediction, rules: str, aim: Aim | None, table: ResourceTable) -> None:
        """What is foreseen by the `rules` of a version, and what would be sent to whom."""
        form = self.form
        verb = "WatchList: a WATCH + sendInitialEvents" if form.stream else self.verb
        what = "the WatchList foreseen" if form.stream else "foreseen"
        self.query_one("#form-box").border_title = line(f"{verb} at {aim.title}" if aim else verb)
        self.query_one("#foreseen-box").border_title = line(f"{what} by the rules of {rules}")
        self.query_one("#foreseen", Panel).show(
            lambda width, height: foreseen_content(prediction, width, height), repr(prediction)
        )
        path, resource = prediction.path, table.by_name(form.resource)
        self.query_one("#path", Panel).show(
            lambda width, height: asked_content(path, form, resource, width, height), (path, form)
        )
        self.fields.mark(prediction.problem.field if prediction.problem is not None else "")
