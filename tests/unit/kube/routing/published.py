"""The routing tables: what each minor does with every kind of LIST, GET and WATCH."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

from ktui.kube.routing import sentences
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.parameters import DecodedToken, TokenState
from ktui.kube.routing.plan import Plan
from tests.questions import Question, asked
from tools.fidelity.recordings import RECORDINGS, lines

GATES = {
    "consistent": "ConsistentListFromCache",
    "resilient": "ResilientWatchCacheInitialization",
    "snapshots": "ListFromCacheSnapshot",
    "skip_fallback": "ConsistentListFromCacheSkipTimeoutFallback",
}


@cache
def tables() -> dict[str, Any]:
    """Return the document: `axes`, `tables` and `outcomes` of LIST, GET and WATCH by minor."""
    return next(lines(RECORDINGS / "routing.jsonl.xz"))


def variants() -> list[tuple[str, dict[str, bool], str]]:
    """(version, gates, LIST table) of every minor and gate variant."""
    doc = tables()
    found: list[tuple[str, dict[str, bool], str]] = [
        (v, {}, m["list_table"]) for v, m in doc["minors"].items()
    ]
    for version, named in doc["gate_variants"].items():
        for variant in named.values():
            gates = {GATES[name]: on for name, on in variant["override"].items()}
            found.append((version, gates, variant["list_table"]))
    return found


def cells(axes: list[dict[str, Any]], table: list[int], outcomes: list[Any]) -> Iterator[tuple[Any, ...]]:
    """(values of the axes…, outcome) of each cell that is not withheld; its errors as in `shown`."""
    comparable = [wanted(outcome) for outcome in outcomes]
    for values, outcome in zip(itertools.product(*(axis["values"] for axis in axes)), table, strict=True):
        if outcome >= 0:
            yield (*values, comparable[outcome])


@cache
def list_question(rv: str, match: str, limit: int, token: str, selectors: int, recursive: int) -> Question:
    classes = tables()["world"]["classes"]
    states = {"none": TokenState.NONE, "garbage": TokenState.GARBAGE}
    return asked(
        resource_version=revision(rv),
        match="Sometimes" if match == "other" else match,
        limit=500 * limit,
        token=DecodedToken(
            states.get(token, TokenState.VALID),
            -1 if token.startswith("latest") else classes.get(token, 0),
        ),
        selectors=bool(selectors),
        recursive=bool(recursive),
    )


def revision(name: str) -> str:
    texts = {"unset": "", "0": "0", "garbage": "abc"}
    return texts[name] if name in texts else str(tables()["world"]["classes"][name])


@cache
def state(
    readiness: str, progress: int = 1, snapshot: int = 1, range_stream: bool | None = False
) -> CacheState:
    """The tables are those of an etcd before 3.7, which has no RangeStream."""
    world = tables()["world"]
    return CacheState(
        readiness=Readiness(readiness),
        cache_rv=world["CACHE_RV"],
        progress=bool(progress),
        range_stream=range_stream,
        oldest_snapshot_rv=world["classes"]["old"] if snapshot else world["CACHE_RV"],
        oldest_watch_rv=60,
        etcd_rv=world["ETCD_RV"],
        compact_rv=world["COMPACT_RV"],
    )


def shown(plan: Plan) -> dict[str, Any]:
    """A plan in the words of the tables."""
    return {
        "route": plan.source.value,
        "reasons": list(plan.reasons),
        "limit_honoured": plan.limit_honoured,
        "consistency": plan.consistency,
        "wait": sentences.wait_value(plan),
        "list_rv": plan.list_revision,
        "etcd_ops": list(plan.etcd_ops),
        "fallback": sentences.fallback(plan),
        "defaulted_send_initial_events": plan.initial_events_defaulted,
        "error": _error(plan, in_stream=False),
        "stream_error": _error(plan, in_stream=True),
    }


def _error(plan: Plan, *, in_stream: bool) -> tuple[int, str, int] | None:
    error = plan.error
    if error is None or plan.in_stream != in_stream:
        return None
    return error.code, error.reason, error.retry_after


def wanted(outcome: dict[str, Any]) -> dict[str, Any]:
    """An outcome of the tables, its errors comparable with `shown`.

    Without `object_rv`: a GET's object always carries its key's mod revision.
    """
    found = {key: value for key, value in outcome.items() if key != "object_rv"}
    for key in ("error", "stream_error"):
        error = found.get(key)
        if error:
            after = error.get("retryAfterSeconds", 0)
            # A formula over the downtime: at the very start it gives 1.
            found[key] = (error["code"], error["reason"], 1 if isinstance(after, str) else after)
    return found
