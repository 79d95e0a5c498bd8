"""Compare a request under every supported minor: what changes from one to the next, and by which gate."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from ktui.kube.gates import GATES
from ktui.kube.routing import sentences
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.plan import EtcdOp, Plan
from ktui.kube.routing.predict import predict, predict_seats
from ktui.kube.routing.request import ReadRequest
from ktui.kube.seats import SeatRange
from ktui.kube.versions import Behaviour, with_gate

Seats = Callable[[Behaviour], SeatRange]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a client would notice; each field is an aspect that is compared."""

    route: str
    reason: str
    limit: bool | None
    consistency: str | None
    wait: str
    seats: SeatRange
    error: int | None
    streamed: bool

    def differs(self, other: Outcome) -> frozenset[str]:
        return frozenset(name for name in ASPECTS if getattr(self, name) != getattr(other, name))


ASPECTS = tuple(Outcome.__slots__)


@dataclass(frozen=True, slots=True)
class GateChange:
    """A gate whose value differs between two consecutive minors, and the aspects that it changes.

    `gate` is "" for a change of the minor itself, independent of any gate.
    """

    gate: str
    on: bool
    aspects: frozenset[str]


@dataclass(frozen=True, slots=True)
class VersionResult:
    """The request under one version. `changed` and `causes` compare it with the version before."""

    behaviour: Behaviour
    plan: Plan
    outcome: Outcome
    changed: frozenset[str] = frozenset()
    causes: tuple[GateChange, ...] = ()

    @property
    def version(self) -> str:
        return self.behaviour.version


def compare_versions(
    request: ReadRequest, state: CacheState, *, behaviours: Iterable[Behaviour], seats: Seats | None = None
) -> tuple[VersionResult, ...]:
    """Return the request's result under each of `behaviours`, compared with the one before.

    `seats` replaces the default estimate, for callers that know the resource's size.
    """
    estimate = seats or partial(predict_seats, request, progress=state.progress)

    def result(behaviour: Behaviour) -> VersionResult:
        plan = predict(request, state, behaviour)
        outcome = Outcome(
            plan.source.value,
            plan.reason_id,
            plan.limit_honoured,
            plan.consistency,
            sentences.wait_value(plan),
            estimate(behaviour),
            plan.error.code if plan.error is not None else None,
            EtcdOp.STREAM in plan.etcd_ops,
        )
        return VersionResult(behaviour, plan, outcome)

    rows: list[VersionResult] = []
    for row in map(result, behaviours):
        if rows and (changed := row.outcome.differs(rows[-1].outcome)):
            row = replace(row, changed=changed, causes=tuple(_causes(rows[-1], row, changed, result)))
        rows.append(row)
    return tuple(rows)


def _causes(
    before: VersionResult,
    after: VersionResult,
    changed: frozenset[str],
    result: Callable[[Behaviour], VersionResult],
) -> Iterable[GateChange]:
    """Yield the gates that restore an aspect if reverted, then one change for all unexplained aspects."""
    unexplained = changed
    for gate in GATES:
        was = before.behaviour.enabled(gate)
        if after.behaviour.enabled(gate) == was:
            continue
        without = result(with_gate(after.behaviour, gate, was)).outcome
        if brought_back := changed - without.differs(before.outcome):
            unexplained -= brought_back
            yield GateChange(gate, not was, brought_back)
    if unexplained:
        yield GateChange("", True, unexplained)
