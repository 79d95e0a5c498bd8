"""A request as one line of text, its phases, and its funnel of objects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_plus

import msgspec

from ktui.contract.events import ChainStage
from ktui.core.format import many
from ktui.core.ranking.ranking import Group
from ktui.core.state import RequestRow, State
from ktui.core.table.columns import Run

_SHORT = {
    "labelSelector": "", "fieldSelector": "", "resourceVersion": "rv=", "resourceVersionMatch": "match=",
    "limit": "limit=", "continue": "continue=", "sendInitialEvents": "sendInitial=",
    "timeoutSeconds": "timeout=",
}  # fmt: skip
READS = ("GET", "LIST", "WATCH")
# Implied by the verb, or irrelevant for route and cost.
UNSAID = {"watch", "allowWatchBookmarks", "pretty", "timeout"}


def request_runs(row: RequestRow) -> list[Run]:
    """Return a request as styled runs: `LIST pods -n team-00 ?app=api rv=0`."""
    started = row.started
    subject = short_resource(started.resource) if started.resource else started.path
    runs: list[Run] = [(f"{started.verb} ", "$ink-muted"), (subject, "$foreground")]
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


_REVISION = re.compile(r"target:MOD .*? mod_revision:(\d+) ")
FLOW_CONTROL = "flow control"


def chain_of(row: RequestRow) -> list[ChainStage]:
    """Return the stages so far, the answer last; empty in a recording of an older server."""
    started, done = row.started, row.finished
    if not started.chain:
        return []
    if done is None:
        return [*started.chain]
    seats = f", {many(done.seats, 'seat')}" if done.seats else ""
    stages = [
        ChainStage(each.stage, each.decision + seats, each.ms) if each.stage == FLOW_CONTROL else each
        for each in started.chain
    ]
    if not stages[-1].decision.startswith("refused"):
        stages += done.chain
        for call in row.calls:
            compared = _REVISION.search(call.request) if call.op == "txn" else None
            if compared is not None:
                outcome = f": {call.error}" if call.error else ""
                text = f"Txn compare mod_revision = {compared[1]}{outcome}"
                stages.append(ChainStage("storage", text, call.ms))
        if started.verb in READS:
            stages.append(ChainStage("storage", row.route.replace("_", " ") or "not read", done.ms))
    # The wait for seats is a part of flow control and of the request's own time.
    before = started.chain
    if done.untold:  # a trace: the time of its filters, except authentication, is in the request's
        before = [each for each in started.chain if each.stage == "authentication"]
    total = sum(each.ms for each in before) + done.ms - done.phases.get("seats", 0.0)
    return [*stages, ChainStage("answer", str(done.status), total)]


# In the order of processing; other phases follow in the server's order.
_PHASES = (
    "audit", "impersonation", "flow control", "authorization", "admission", "ready", "seats", "queue",
    "probe", "wait", "list", "get", "etcd", "read", "decode", "transform", "filter", "initial events",
    "encode", "send",
)  # fmt: skip
_FIGURES = {"scanned": "fetched", "returned": "returned"}
OTHER = "other"  # time outside all phases


@dataclass(frozen=True, slots=True)
class TimedPhase:
    """One phase: its start and duration, in ms from the request's start."""

    name: str
    start: float
    ms: float


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """The objects left after one step (None: not counted) and their bytes (0: none)."""

    name: str
    objects: int | None
    bytes: int = 0


def phases_of(row: RequestRow) -> list[TimedPhase]:
    """Return the phases one after the other; the rest of the time is `other`."""
    if row.finished is None:
        return []
    seen = row.finished.phases
    names = [name for name in _PHASES if name in seen] + [name for name in seen if name not in _PHASES]
    phases, at = [], 0.0
    for name in names:
        phases.append(TimedPhase(name, at, seen[name]))
        at += seen[name]
    rest = row.finished.ms - at
    # Phases may overlap in a streamed response; only time that is really missing is shown.
    if phases and rest > 0.02 * row.finished.ms:
        phases.append(TimedPhase(OTHER, at, rest))
    return phases


def fewer_phases(phases: list[TimedPhase], most: int) -> list[TimedPhase]:
    """Return at most `most` phases: the shortest ones are merged into `other`."""
    if len(phases) <= most:
        return phases
    named = [phase for phase in phases if phase.name != OTHER]
    kept = sorted(named, key=lambda phase: phase.ms, reverse=True)[: most - 1]
    end = max(phase.start + phase.ms for phase in phases)
    rest = sum(phase.ms for phase in phases) - sum(phase.ms for phase in kept)
    return [*(phase for phase in named if phase in kept), TimedPhase(OTHER, end - rest, rest)]


def funnel_of(row: RequestRow) -> list[FunnelStep]:
    """Return the steps etcd keys → scanned → evaluated → matched → returned; [] without an answer."""
    done = row.finished
    if done is None:
        return []
    steps = [
        FunnelStep("scanned", done.fetched, done.decoded_bytes),
        FunnelStep("evaluated", done.evaluated),
        FunnelStep("matched", done.matched, done.encoded_bytes),
        FunnelStep("returned", done.returned, done.sent_bytes),
    ]
    if done.untold:
        steps = [step for step in (steps[0], steps[3]) if _FIGURES[step.name] not in done.untold]
    if done.etcd_keys or done.etcd_bytes:
        steps.insert(0, FunnelStep("etcd keys", done.etcd_keys, done.etcd_bytes))
    return steps
