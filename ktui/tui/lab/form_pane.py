"""The form of one-line fields, the LIST that it makes, and its prediction."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Grid, Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input, Label

from ktui.contract.events import RouteStep
from ktui.core.format import safe
from ktui.core.lab.form import ACCEPTS, MATCHES, VERBS, ListForm, form_from, values_of
from ktui.core.lab.form_prediction import LabPrediction, PredictedError
from ktui.core.prediction.prediction import cheaper_of
from ktui.core.rows import ERROR, badge_of_route
from ktui.core.snippets import as_client_go, as_curl, as_kubectl
from ktui.kube.explain import Explanation
from ktui.kube.resources import Resource, ResourceTable
from ktui.kube.routing import sentences
from ktui.kube.seats import levels_cap_seats
from ktui.kube.versions import KNOWN_VERSIONS
from ktui.tui.keys import bindings as keys
from ktui.tui.prompt.prompt import Completing
from ktui.tui.requests.why import INDENT, badged_lines, cheaper_lines, headed_steps, versions_line
from ktui.tui.widgets.lines import broken, line, lines, parts_that_fit, wrap
from ktui.tui.widgets.panel import Panel


@dataclass(frozen=True, slots=True)
class Field:
    """One line of the form. With `choices` the value is one of these, otherwise free text.

    A `rare` field stays hidden until it has a value, or is offered.
    """

    name: str
    label: str
    hint: str = ""
    choices: tuple[str, ...] = ()
    rare: bool = False


class ChoiceField(Widget, can_focus=True):
    """A choice between a few values; left and right change it."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["lab choice"]
    DEFAULT_CSS = """
    ChoiceField {
        height: 1;
        width: 1fr;
        &:focus { background: $cursor; color: $ink-strong; }
    }
    """
    value: reactive[str] = reactive("")

    def __init__(self, choices: Sequence[str], *, hint: str = "", name: str | None = None) -> None:
        super().__init__(name=name)
        self.choices = tuple(choices)
        self._hint = hint
        self.set_reactive(ChoiceField.value, self.choices[0])

    def render(self) -> Content:
        return Content(f"‹ {self.value or self._hint} ›")

    def watch_value(self) -> None:
        self.post_message(FieldForm.Changed())

    def action_submit(self) -> None:
        self.post_message(FieldForm.Submitted())

    def action_turn(self, step: int) -> None:
        at = self.choices.index(self.value) if self.value in self.choices else 0
        self.value = self.choices[(at + step) % len(self.choices)]


class TextField(Input):
    """A free-text field whose enter key submits the form."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["lab text field"]


class FieldForm(Grid):
    """Fields in one column, or in two with the class `-two` (on wide screens)."""

    BINDINGS: ClassVar[list[BindingType]] = keys.SCOPES["lab form"]
    DEFAULT_CSS = """
    FieldForm {
        height: auto;
        grid-size: 1;
        grid-rows: 1;
        grid-gutter: 0 2;
        & Horizontal { height: 1; }
        & Label { width: 21; color: $ink-muted; }
        & Horizontal:focus-within Label { color: $ink-strong; }
        & Input { width: 1fr; background: $surface; }
        & Input:focus { background: $cursor; }
        & Input > .input--placeholder { color: $ink-faint; }  /* what holds where nothing is typed */
        & .-wrong Label, & .-wrong:focus-within Label { color: $error; text-style: bold underline; }
        & .-wrong Input, & .-wrong ChoiceField { color: $error; }
    }
    """

    class Changed(Message):
        """A value has changed, by the user or by `set_value`."""

    class Submitted(Message):
        """Enter was pressed in a field."""

    def __init__(self, fields: Sequence[Field], candidates: Callable[[str], Iterable[str]]) -> None:
        """`candidates(field name)` returns the completions of a free-text field."""
        super().__init__()
        self._fields = fields
        self._candidates = candidates
        self.inputs: dict[str, Input | ChoiceField] = {}
        self._rows: dict[str, Horizontal] = {}

    def compose(self) -> ComposeResult:
        for field in self._fields:
            if field.choices:
                widget: Input | ChoiceField = ChoiceField(field.choices, hint=field.hint, name=field.name)
            else:
                completing = Completing(partial(self._completed, field.name))
                widget = TextField(placeholder=field.hint, compact=True, select_on_focus=False,
                                   name=field.name, suggester=completing)  # fmt: skip
                widget.cursor_blink = False
            self.inputs[field.name] = widget
            self._rows[field.name] = row = Horizontal(Label(field.label, markup=False), widget)
            row.display = not field.rare
            yield row

    def _completed(self, name: str, value: str) -> str:
        """Return `value` with its last comma-separated part completed; "" without a completion."""
        head, comma, part = value.rpartition(",")
        for candidate in self._candidates(name) if part else ():
            if candidate.startswith(part) and candidate != part and candidate.isprintable():
                return f"{head}{comma}{candidate}"
        return ""

    @property
    def values(self) -> dict[str, str]:
        """Field name → value without surrounding spaces."""
        return {name: widget.value.strip() for name, widget in self.inputs.items()}

    def set_value(self, name: str, value: str) -> None:
        self.inputs[name].value = safe(value)
        if value:
            self._rows[name].display = True

    def offer(self, name: str, offered: bool) -> None:
        """Show a rare field without a value too, or no more."""
        self._rows[name].display = offered or bool(self.inputs[name].value)

    def mark(self, wrong: str) -> None:
        """Mark the field named `wrong` and no other; "" marks none."""
        for name, row in self._rows.items():
            row.set_class(name == wrong, "-wrong")

    def action_move(self, step: int) -> None:
        """Focus the field above or below, in the same column if there are two."""
        now = self.screen.focused
        if now is None:
            return
        here = now.region
        others = [each for each in self.inputs.values() if (each.region.y - here.y) * step > 0]
        if others:
            nearest = min(others, key=lambda e: (abs(e.region.y - here.y), abs(e.region.x - here.x)))
            self.screen.set_focus(nearest)

    @on(Input.Changed)
    def _changed(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Changed())

    @on(Input.Submitted)
    def _submitted(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Submitted())


_ROOMY = 9  # lines; below, each part is cut to a line or two


def prediction_content(prediction: LabPrediction, width: int, height: int) -> Content:
    """Return the route, reason, guarantees, other versions and decision trace, most important first.

    The trace takes the remaining height, at least a line.
    """
    explanation = prediction.explanation
    if explanation is None:
        return lines(_problem_lines(prediction.problem, width, height))
    tight = height < _ROOMY
    most, plan = 2 if tight else height, explanation.plan
    if prediction.problem is not None:
        above = _problem_lines(prediction.problem, width, most + 2)  # in the guarantees' place
    else:
        badge = badge_of_route(plan.source.value)
        above = badged_lines(badge, badge.word, sentences.reason(plan), width, most)
        parts = sentences.guarantees(plan, _seats(prediction, explanation))
        above.append(parts_that_fit(parts, width, "$ink-strong", indent=" " * INDENT, least=2))
    above.append(versions_line(prediction.versions))
    left = max(1, height - len(above) - 1) if tight else height
    warnings = _warnings(explanation, width, left)
    above += warnings
    if explanation.advice and (most := min(2, left - len(warnings))):
        above += cheaper_lines(cheaper_of(explanation.request.url, explanation.advice[0]), width, most)
    steps = sentences.trace(plan, RouteStep)
    return lines([*above, *headed_steps(steps, width, height - len(above))][:height])


def _problem_lines(problem: PredictedError | None, width: int, most: int) -> list[Content]:
    if problem is None:
        return []
    word = f"{problem.code} {problem.reason}".strip() if problem.code else "nothing to send"
    return badged_lines(ERROR, word, problem.message, width, most)


def _seats(prediction: LabPrediction, explanation: Explanation) -> str:
    between = explanation.seats
    low, high = between if prediction.seats is None else (prediction.seats, prediction.seats)
    capped = explanation.level is None and levels_cap_seats(explanation.behaviour)
    if capped and high > 1:
        return f"{min(low, between.min)}–{high} seats, level not known"
    text = str(low) if low == high else f"{low} to {high}"
    return f"{text} seat{'' if high == 1 else 's'}"


def _warnings(explanation: Explanation, width: int, most: int) -> list[Content]:
    drawn: list[Content] = []
    for text in explanation.warnings:
        if room := min(2, most - len(drawn)):
            parts = enumerate(wrap(text, width - INDENT, room))
            drawn += [line(("  " if at else "! ", "bold $warning"), part) for at, part in parts]
    return drawn


_PATH_LINES = 2  # lines of a LIST's path
_WATCH_LINES = 4  # lines of a WATCH's path

_WHY_ADDED = (
    "sendInitialEvents and the parameters it needs are added;",
    "the WATCH ends at the bookmark after the initial events",
)


def preview_content(path: str, form: ListForm, resource: Resource | None, width: int, height: int) -> Content:
    """Return the form's request as it is sent, `GET /api/v1/…`, then for kubectl, curl and client-go.

    Of the latter, only those that fit completely.
    """
    if not path:
        return Content("")
    parts = broken(f"GET {path}", width, min(height, _WATCH_LINES if form.stream else _PATH_LINES))
    drawn = [line((part, "$ink-muted")) for part in parts]
    if form.stream and len(drawn) + 2 <= height:
        drawn += [line((text, "$ink-faint")) for text in _WHY_ADDED]
    if resource is None:
        return lines(drawn)
    texts = {"kubectl": as_kubectl(path), "curl": as_curl(path, form),
             "client-go": as_client_go(form, resource)}  # fmt: skip
    for title, text in texts.items():
        block = [line(""), line((title, "bold $primary"))]
        for each in text.expandtabs(2).split("\n"):
            parts = textwrap.wrap(safe(each), max(10, width), subsequent_indent="  ", break_on_hyphens=False)
            block += [line((part, "$foreground")) for part in parts or [""]]
        if len(drawn) + len(block) > height:
            break
        drawn += block
    return lines(drawn)


FIELDS = (
    Field("resource", "resource", "pods, leases, …"),
    Field("namespace", "namespace", "all"),
    Field("label_selector", "labelSelector", "app=web,tier!=db"),
    Field("field_selector", "fieldSelector", "spec.nodeName=…"),
    Field("shard", "shardSelector", "1/2: a half", rare=True),
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
        for name, value in values_of(form).items():
            self.fields.set_value(name, value)

    def show(
        self, prediction: LabPrediction, rules: str, server: str, table: ResourceTable, *, shards: bool
    ) -> None:
        """Show a prediction and what is sent.

        `rules` is the version predicted by; `server` is "" for ktui's own; `shards`: it knows shards.
        """
        form = self.form
        self.fields.offer("shard", shards)
        verb = "WatchList: a WATCH + sendInitialEvents" if form.stream else self.verb
        what = "WatchList, predicted" if form.stream else "predicted"
        self.query_one("#form-box").border_title = line(f"{verb} at {server}" if server else verb)
        self.query_one("#predicted-box").border_title = line(f"{what} by the rules of {rules}")
        self.query_one("#predicted", Panel).show(partial(prediction_content, prediction), repr(prediction))
        path, resource = prediction.path, table.by_name(form.resource)
        self.query_one("#path", Panel).show(partial(preview_content, path, form, resource), (path, form))
        self.fields.mark(prediction.problem.field if prediction.problem is not None else "")
