"""Render a plan as text for people and as published values for programs; no other module does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from ktui.kube.routing.plan import NO_WAIT, EtcdOp, Fallback, Plan, Wait
from ktui.kube.routing.reasons import REASONS

# How long a read may wait: in JSON, as a sentence, in a narrow column.
_WAITS = {
    NO_WAIT: ("none", "does not wait", "·"),
    Wait(fresh=True): ("up_to_3s", "waits up to 3 s", "≤ 3s"),
    Wait(ready=True): ("until_ready", "waits until the cache is ready", "till ready"),
    Wait(ready=True, fresh=True): (
        "until_ready+up_to_3s", "waits until the cache is ready, then up to 3 s", "till ready + ≤ 3s",
    ),
}  # fmt: skip
_FALLBACKS = {
    Fallback.NONE: None,
    Fallback.ETCD_IF_LATE: "etcd, if the cache does not catch up within 3s",
    Fallback.ETCD_IF_GONE: "etcd, if the snapshot was dropped meanwhile (410 inside the cache)",
    Fallback.TIMEOUT_IF_LATE: "504 Too large resource version after 3s if the cache stays behind",
    Fallback.REJECT_IF_LATE: "429 TooManyRequests retry 1s (skip-fallback gate)",
}


class TraceLine(NamedTuple):
    """One step of the decision trace as text: the predicate, the values it saw, the result, the phase."""

    rule: str
    saw: str
    taken: bool
    phase: str


T = TypeVar("T")


def trace(plan: Plan, line: Callable[[str, str, bool, str], T]) -> list[T]:
    """Return the decision trace in order. `line` takes predicate, values seen, result and phase."""
    return [
        line(step.predicate.parameters, step.predicate.write(*step.seen), step.holds, step.phase)
        for step in plan.steps
    ]


def trace_lines(plan: Plan) -> list[TraceLine]:
    return trace(plan, TraceLine)


def reason(plan: Plan) -> str:
    """Return the sentence of the decisive reason."""
    return REASONS[plan.reason_id]


def wait_value(plan: Plan) -> str:
    """Return the value of `wait` in JSON and telemetry."""
    if plan.reason_id == "g.wait" and all(plan.wait):
        return "up_to_3s"  # as published: for a GET only the second wait is named
    return _WAITS[plan.wait][0]


def wait(plan: Plan) -> str:
    """Return how long the read may wait, as a sentence."""
    return _WAITS[plan.wait][1]


def short_wait(plan: Plan) -> str:
    """Return how long the read may wait, for a narrow column."""
    return _WAITS[plan.wait][2]


def etcd_reads(plan: Plan) -> str:
    """Return the reads of etcd as text, with what an etcd without RangeStream gets; "" for none."""
    ops = ", ".join(plan.etcd_ops)
    if plan.unstreamed is not None and plan.stream_supported is None:
        return f"{ops} if etcd ≥ 3.7, else {', '.join(plan.unstreamed_ops)}"
    if plan.stream_supported is False:
        return f"{ops} (this etcd has no RangeStream: falls back, asked again after 10 minutes)"
    return ops


def etcd_memory(plan: Plan) -> str:
    """Return how much of a collection is held encoded at once; "" if none is read whole."""
    if EtcdOp.STREAM in plan.etcd_ops:
        return "about 1.5 MiB of etcd's answer at a time (--max-request-bytes), and every object that matches"
    if EtcdOp.ALL in plan.etcd_ops or EtcdOp.REST in plan.etcd_ops:
        return "etcd's whole answer at once, and every object that matches"
    return ""


def fallback(plan: Plan) -> str | None:
    """Return the fallback if the cache cannot answer, None if it always can."""
    if plan.fallback is Fallback.TIMEOUT_IF_LATE and plan.probe:
        return "none: 504 after 3s"  # a consistent read of 1.28–1.30; later versions fall back to etcd
    return _FALLBACKS[plan.fallback]


def consistency(plan: Plan) -> str:
    """Return the consistency guarantee of the answer, "" for an error."""
    return (plan.consistency or "").replace("_", " ")


def guarantees(plan: Plan, seats: str = "") -> list[str]:
    """Return what the answer guarantees and may cost, most important first, a few words each."""
    parts = [consistency(plan)] if plan.consistency else []
    if plan.limit_honoured is not None:
        parts.append("limit honoured" if plan.limit_honoured else "limit ignored")
    parts += [seats] if seats else []
    if any(plan.wait):
        parts.append(f"may wait {wait_value(plan).replace('_', ' ')}")
    after = fallback(plan)
    return [*parts, f"else {after}"] if after else parts


def document(plan: Plan) -> dict[str, Any]:
    """Return the plan as JSON without its trace; ids and values are those of docs/routing.md."""
    return {
        "route": plan.source.route,
        "reason_id": plan.reason_id,
        "reason": reason(plan),
        "limit_honoured": plan.limit_honoured,
        "consistency": plan.consistency,
        "wait": wait_value(plan),
        "fallback": fallback(plan),
    }
