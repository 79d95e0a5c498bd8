"""The form, the LIST that it makes, and its prediction."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from functools import partial

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

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
from ktui.tui.lab.field_form import Field, FieldForm
from ktui.tui.requests.why import INDENT, badged_lines, cheaper_lines, headed_steps, versions_line
from ktui.tui.widgets.lines import broken, line, lines, parts_that_fit
from ktui.tui.widgets.panel import Panel

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
            parts = textwrap.wrap(safe(text), max(10, width - INDENT), max_lines=room, placeholder=" …")
            drawn += [line(("  " if at else "! ", "bold $warning"), part) for at, part in enumerate(parts)]
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
