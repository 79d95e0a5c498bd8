"""A request explained under one version: decision, seats, warnings and cheaper forms; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ktui.kube.advice import Advice, advise
from ktui.kube.cautions import cautions
from ktui.kube.flowcontrol import PriorityLevel
from ktui.kube.habits import UNKNOWN, Habit
from ktui.kube.routing.model import CacheState, Decision, RouteError
from ktui.kube.routing.predict import predict, predict_seats
from ktui.kube.routing.reasons import REASONS
from ktui.kube.routing.request import ReadRequest
from ktui.kube.seats import SeatRange
from ktui.kube.versions import Behaviour


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a kube-apiserver of `behaviour` does with `request`."""

    request: ReadRequest
    behaviour: Behaviour
    decision: Decision
    seats: SeatRange
    warnings: tuple[str, ...]
    advice: tuple[Advice, ...]
    level: PriorityLevel | None = None

    def document(self) -> dict[str, Any]:
        """As JSON, for programs; ids and values are those of docs/routing.md."""
        decision = self.decision
        document: dict[str, Any] = {
            "kube_version": self.behaviour.version,
            "verb": self.request.verb,
            "path": self.request.url,
            "route": decision.route.public,
            "reason_id": decision.reason_id,
            "reason": REASONS[decision.reason_id],
            "reasons": list(decision.reasons),
            "steps": [{"rule": s.rule, "saw": s.saw, "taken": s.taken} for s in decision.steps],
            "limit_honoured": decision.limit_honoured,
            "consistency": decision.consistency,
            "wait": decision.wait,
            "list_rv": decision.list_rv,
            "etcd_ops": list(decision.etcd_ops),
            "seats": {"min": self.seats.min, "max": self.seats.max},
            "priority_level": self.level.name if self.level is not None else None,
            "error": _error(decision.error),
            "fallback": decision.fallback,
            "warnings": list(self.warnings),
            "cheaper": [
                {
                    "id": a.id,
                    "why": a.why,
                    "path": a.path,
                    "headers": dict(a.headers),
                    "route": a.decision.route.public,
                }
                for a in self.advice
            ],
        }
        if self.request.verb == "watch":
            document["defaulted_send_initial_events"] = decision.initial_events_defaulted
            document["error_in_stream"] = decision.error is not None and decision.error.in_stream
        return document


def explain(
    request: ReadRequest,
    state: CacheState,
    behaviour: Behaviour,
    warnings: tuple[str, ...] = (),
    habit: Habit = UNKNOWN,
    level: PriorityLevel | None = None,
) -> Explanation:
    """Everything that can be said beforehand; `warnings` are put before those about the request.

    `level` is the requester's priority level, None where nobody tells who asks.
    """
    decision = predict(request, state, behaviour)
    return Explanation(
        request,
        behaviour,
        decision,
        predict_seats(request, behaviour, progress=state.progress, cap=level.max_seats if level else None),
        (*warnings, *cautions(request, decision, behaviour)),
        advise(request, state, behaviour, habit),
        level,
    )


def _error(error: RouteError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"code": error.code, "reason": error.reason, "message": error.message}
