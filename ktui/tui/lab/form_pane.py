"""The form, the LIST that it makes, and its prediction."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content

from ktui.core.format import safe
from ktui.core.lab.form import ACCEPTS, MATCHES, VERBS, ListForm, form_from, values_of
from ktui.core.lab.predict import LabPrediction
from ktui.core.snippets import as_client_go, as_curl, as_kubectl
from ktui.kube.resources import Resource, ResourceTable
from ktui.kube.versions import KNOWN_VERSIONS
from ktui.tui.lab.prediction import prediction_content
from ktui.tui.widgets.field_form import Field, FieldForm
from ktui.tui.widgets.lines import broken, line, lines
from ktui.tui.widgets.panel import Panel

# The LIST in the form as it is sent, and the same for kubectl, curl and client-go.

_PATH_LINES = 2  # lines of a LIST's path
_WATCH_LINES = 4  # lines of a WATCH's path

_WHY_ADDED = (
    "sendInitialEvents and the parameters it needs are added;",
    "the WATCH ends at the bookmark after the initial events",
)


def preview_content(path: str, form: ListForm, resource: Resource | None, width: int, height: int) -> Content:
    """Return `GET /api/v1/…`, then each of the other clients' forms that fits completely."""
    if not path:
        return Content("")
    parts = broken(f"GET {path}", width, min(height, _WATCH_LINES if form.stream else _PATH_LINES))
    drawn = [line((part, "$ink-muted")) for part in parts]
    if form.stream and len(drawn) + 2 <= height:
        drawn += [line((text, "$ink-faint")) for text in _WHY_ADDED]
    if resource is None:
        return lines(drawn)
    for title, text in _for_others(path, form, resource):
        block = [line(""), line((title, "bold $primary")), *_code(text, width)]
        if len(drawn) + len(block) > height:
            break
        drawn += block
    return lines(drawn)


def _for_others(path: str, form: ListForm, resource: Resource) -> Iterator[tuple[str, str]]:
    yield "kubectl", as_kubectl(path)
    yield "curl", as_curl(path, form)
    yield "client-go", as_client_go(form, resource)


def _code(text: str, width: int) -> list[Content]:
    """Return all lines, long ones wrapped."""
    drawn = []
    for each in text.expandtabs(2).split("\n"):
        parts = textwrap.wrap(safe(each), max(10, width), subsequent_indent="  ", break_on_hyphens=False)
        drawn += [line((part, "$foreground")) for part in parts or [""]]
    return drawn


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
