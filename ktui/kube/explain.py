"""Explain a request under one Kubernetes version: plan, seats, warnings and cheaper variants; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ktui.kube.access_pattern import UNKNOWN, AccessPattern
from ktui.kube.advice import Advice, advise
from ktui.kube.cautions import cautions
from ktui.kube.flowcontrol import PriorityLevel
from ktui.kube.routing import sentences
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.plan import Plan
from ktui.kube.routing.predict import predict, predict_seats
from ktui.kube.routing.request import ReadRequest
from ktui.kube.seats import SeatRange
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour


@dataclass(frozen=True, slots=True)
class Explanation:
    """Prediction of what a kube-apiserver of `behaviour` does with `request`."""

    request: ReadRequest
    behaviour: Behaviour
    plan: Plan
    seats: SeatRange
    warnings: tuple[str, ...]
    advice: tuple[Advice, ...]
    level: PriorityLevel | None = None

    def document(self) -> dict[str, Any]:
        """Return the JSON document of `ktui explain --json`; ids and values are those of docs/routing.md."""
        plan = self.plan
        document: dict[str, Any] = {
            "kube_version": self.behaviour.version,
            "verb": self.request.verb,
            "path": self.request.url,
            "route": plan.source.route,
            "reason_id": plan.reason_id,
            "reason": sentences.reason(plan),
            "reasons": list(plan.reasons),
            "steps": [{"rule": s.rule, "saw": s.saw, "taken": s.taken} for s in sentences.trace_lines(plan)],
            "limit_honoured": plan.limit_honoured,
            "consistency": plan.consistency,
            "wait": sentences.wait_value(plan),
            "list_rv": plan.list_revision,
            "etcd_ops": list(plan.etcd_ops),
            "seats": {"min": self.seats.min, "max": self.seats.max},
            "priority_level": self.level.name if self.level is not None else None,
            "error": _error(plan.error),
            "fallback": sentences.fallback(plan),
            "warnings": list(self.warnings),
            "cheaper": [
                {
                    "id": a.id,
                    "why": a.why,
                    "path": a.path,
                    "headers": dict(a.headers),
                    "route": a.plan.source.route,
                }
                for a in self.advice
            ],
        }
        if self.request.verb == "watch":
            document["defaulted_send_initial_events"] = plan.initial_events_defaulted
            document["error_in_stream"] = plan.in_stream
        return document


def explain(
    request: ReadRequest,
    state: CacheState,
    behaviour: Behaviour,
    warnings: tuple[str, ...] = (),
    pattern: AccessPattern = UNKNOWN,
    level: PriorityLevel | None = None,
) -> Explanation:
    """Return everything that can be predicted. `warnings` come before those about the request itself.

    `level` is the requester's priority level, None if the requester is unknown.
    """
    plan = predict(request, state, behaviour)
    return Explanation(
        request,
        behaviour,
        plan,
        predict_seats(request, behaviour, progress=state.progress, cap=level.max_seats if level else None),
        (*warnings, *cautions(request, plan, behaviour)),
        advise(request, state, behaviour, pattern),
        level,
    )


def _error(error: StatusError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"code": error.code, "reason": error.reason, "message": error.message}
