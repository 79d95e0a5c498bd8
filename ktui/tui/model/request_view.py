"""How a request reads in one line."""

from __future__ import annotations

from urllib.parse import unquote_plus

from ktui.tui.model.state import RequestRow, State
from ktui.tui.widgets.columns import Run

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
# Said by the verb already, or of no weight for route and cost.
_UNSAID = {"watch", "allowWatchBookmarks", "pretty", "timeout"}


def request_runs(row: RequestRow) -> list[Run]:
    """`LIST pods -n team-00 ?app=api rv=0` as styled runs."""
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
    if said := query_words(started.query):
        runs.append((f" ?{said}", "$ink-muted"))
    return runs


def short_resource(resource: str) -> str:
    """A resource's id without its group: `leases.coordination.k8s.io` → `leases`."""
    return resource.partition(".")[0]


def query_words(query: str) -> str:
    """The parameters that steer route and cost, in few words."""
    words = []
    for part in query.split("&"):
        name, _, raw = part.partition("=")
        if not name or name in _UNSAID:
            continue
        value = "…" if name == "continue" else _short_value(name, unquote_plus(raw))
        prefix = _SHORT.get(name)
        words.append(f"{name}={value}" if prefix is None else f"{prefix}{value}")
    return " ".join(words)


def _short_value(name: str, value: str) -> str:
    """`spec.nodeName=n1` reads `nodeName=n1`: the part of the object goes without saying."""
    if name != "fieldSelector":
        return value
    return ",".join(part.removeprefix("spec.").removeprefix("status.") for part in value.split(","))


def shown_requests(state: State, *, writes: bool) -> list[RequestRow]:
    """The log, oldest first; without `writes` only what reads."""
    rows = state.requests.values()
    return list(rows) if writes else [row for row in rows if row.started.verb in READS]


def log_title(*, writes: bool) -> str:
    return "requests" if writes else "requests · reads (w: all)"


def request_text(row: RequestRow) -> str:
    """The same as plain text: what the column is filtered by."""
    return "".join(text for text, _ in request_runs(row))
