"""A request as one line of text, as in the log."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from ktui.core.ranking.ranking import Group
from ktui.core.state import RequestRow, State
from ktui.core.table.columns import Run

_SHORT = {
    "labelSelector": "",
    "fieldSelector": "",
    "resourceVersion": "rv=",
    "resourceVersionMatch": "match=",
    "limit": "limit=",
    "continue": "continue=",
    "sendInitialEvents": "sendInitial=",
    "timeoutSeconds": "timeout=",
}
READS = ("GET", "LIST", "WATCH")
# Implied by the verb, or irrelevant for route and cost.
UNSAID = {"watch", "allowWatchBookmarks", "pretty", "timeout"}


def request_runs(row: RequestRow) -> list[Run]:
    """Return a request as styled runs: `LIST pods -n team-00 ?app=api rv=0`."""
    started = row.started
    runs: list[Run] = [(f"{started.verb} ", "$ink-muted")]
    if started.resource:
        runs.append((short_resource(started.resource), "$foreground"))
    else:
        runs.append((started.path, "$foreground"))
    if started.name:
        place = f"{started.namespace}/" if started.namespace else ""
        runs.append((f" {place}{started.name}", "$ink-muted"))
    elif started.namespace:
        runs.append((f" -n {started.namespace}", "$ink-muted"))
    if text := query_words(started.query):
        runs.append((f" ?{text}", "$ink-muted"))
    return runs


def unfinished(row: RequestRow) -> str:
    """Describe a request that is not finished: a WATCH stays open after its response begins."""
    if row.started.verb == "WATCH" and row.routed is not None:
        return "the watch is still open"
    return "no answer yet"


def short_resource(resource: str) -> str:
    """A resource's id without its group: `leases.coordination.k8s.io` → `leases`."""
    return resource.partition(".")[0]


@lru_cache(maxsize=1024)  # clients repeat few queries
def query_words(query: str) -> str:
    """Return the parameters that affect route and cost, abbreviated."""
    words = []
    for part in query.split("&"):
        name, _, raw = part.partition("=")
        if not name or name in UNSAID:
            continue
        value = "…" if name == "continue" else unquote_plus(raw)
        if name == "fieldSelector":
            value = ",".join(map(short_field, value.split(",")))
        prefix = _SHORT.get(name)
        words.append(f"{name}={value}" if prefix is None else f"{prefix}{value}")
    return " ".join(words)


def short_field(text: str) -> str:
    """Remove `spec.` or `status.`: `spec.nodeName=n1` → `nodeName=n1`."""
    return text.removeprefix("spec.").removeprefix("status.")


def selector_words(selector: str) -> str:
    """Abbreviate a selector's key and operator: `spec.nodeName=` → `nodeName=…`."""
    short = short_field(selector)
    if short.endswith((" in", " notin")):
        return f"{short} (…)"
    return f"{short}…" if short.endswith(("=", "<", ">")) else short


def shown_requests(state: State, *, writes: bool) -> list[RequestRow]:
    """Return the log, oldest first; without `writes` only reads."""
    rows = state.requests.values()
    return list(rows) if writes else [row for row in rows if row.started.verb in READS]


def request_object(row: RequestRow) -> tuple[str, Any]:
    """Return what key `y` shows of a request: a title and its telemetry events."""
    events = [event for event in (row.started, row.routed, row.finished, *row.calls) if event is not None]
    return f"request {row.id}", msgspec.to_builtins(events)


def requests_of(group: Group, state: State) -> list[RequestRow]:
    """Return the requests of a group that are still in the log, oldest first."""
    return [row for number in group.ids if (row := state.requests.get(number)) is not None]


def request_text(row: RequestRow) -> str:
    """Return a request as plain text, by which the column is filtered."""
    return "".join(text for text, _ in request_runs(row))
