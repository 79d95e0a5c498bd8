"""The LIST in the form as it is sent, and the same for kubectl, curl and client-go."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from textual.content import Content

from ktui.core.format import safe
from ktui.core.lab.form import ListForm
from ktui.core.snippets import as_client_go, as_curl, as_kubectl
from ktui.kube.resources import Resource
from ktui.tui.widgets.lines import broken, line, lines

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
