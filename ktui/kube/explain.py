"""Explain a request under one Kubernetes version: plan, seats, warnings and cheaper variants; no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ktui.kube.access_pattern import UNKNOWN, AccessPattern
from ktui.kube.advice import Advice, advise, near_parameter
from ktui.kube.flow_schemas import PriorityLevel
from ktui.kube.gates import SHARDED, phase_of
from ktui.kube.routing import sentences
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.parameters import NAME, shards_filter
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.predict import predict, predict_seats
from ktui.kube.routing.request import ReadRequest
from ktui.kube.seats import SeatRange
from ktui.kube.selectors import ShardSelector
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour


def cautions(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> tuple[str, ...]:
    """Return warnings about parameters whose effect is not what they suggest."""
    found = [*_unknown(request)]
    if request.verb == "list":
        found += [*_limits(request, plan, behaviour), *_narrowing(request, behaviour)]
        options = request.options
        page = options.limit > 0 and not options.resource_version and not options.continue_
        if page and behaviour.minor == 33 and behaviour.patch is None:
            found.append(
                "1.33.0 to 1.33.2 have a bug that sends this to etcd after all; shown is 1.33.3 and later"
            )
    found += [*_sharded(request, plan, behaviour)]
    if request.verb == "watch":
        found += [*_watching(request, plan, behaviour)]
    if request.info.watch:
        found.append("the path form /watch/ is deprecated: use ?watch=true")
    if request.resource is None and request.verb != "get":
        found.append(f"{request.info.resource} is not built in: taken for a custom resource (with a cache)")
    return tuple(found)


def _unknown(request: ReadRequest) -> Iterator[str]:
    for name in request.options.unknown:
        if request.verb == "get" and near_parameter(name) == name:
            yield f"{name} is not a parameter of a GET: the server ignores it"
            continue
        meant = near_parameter(name)
        hint = f" (did you mean {meant}?)" if meant else ""
        effect = ""
        if meant in ("fieldSelector", "labelSelector"):
            effect = ": nothing is filtered, the whole collection is read and sent"
        yield f"unknown parameter {name} is silently ignored by the server{hint}{effect}"


def _limits(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Iterator[str]:
    options = request.options
    if options.limit < 0:
        yield f"limit={options.limit} means no limit"
    if options.limit <= 0:
        return
    if options.resource_version == "0" and plan.limit_honoured is False:
        yield "limit is ignored with resourceVersion=0: the cache returns everything that is left"
    elif plan.limit_honoured is False:
        yield "limit does nothing: the selector narrows the LIST to one key"
    named = options.resource_version not in ("", "0")
    if named and not options.resource_version_match and not options.continue_:
        yield (
            "limit with resourceVersion and no resourceVersionMatch means exactly that revision "
            "(the legacy rule), not 'at least'"
        )
    if plan.source is Source.ETCD and request.scope(behaviour).selective:
        pages = "pages double up to 10,000" if behaviour.minor >= 24 else "in pages of the limit"
        yield f"etcd cannot filter: keys are read until {options.limit} objects match ({pages})"


def _narrowing(request: ReadRequest, behaviour: Behaviour) -> Iterator[str]:
    if request.info.namespace or request.cluster_scoped:
        return
    token = bool(request.options.continue_)
    if request.fields.requires(NAME) and not token and not request.scope(behaviour).single:
        yield "metadata.name without a namespace: all namespaces are read and filtered; put it in the path"
    if request.required_namespace and behaviour.minor <= 26:
        yield "metadata.namespace does not narrow the read before 1.27: every namespace is read and filtered"


def _watching(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Iterator[str]:
    options = request.options
    if options.send_initial_events is not None and behaviour.minor <= 26:
        yield f"sendInitialEvents is unknown to {behaviour.version}: it is ignored"
    stale = not options.resource_version and plan.reasons[-1] == "w.initial_any"
    if stale:
        yield "a WATCH without resourceVersion is like resourceVersion=0 in this version: it may start stale"
    if options.limit > 0:
        yield "limit does nothing on a WATCH"


def _sharded(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Iterator[str]:
    text = request.options.shard_selector
    if not text:
        return
    if not behaviour.enabled(SHARDED):
        known = phase_of(SHARDED, behaviour.minor) is not None
        why = f"the gate {SHARDED} is off" if known else f"{behaviour.version} does not know it"
        yield f"shardSelector is ignored without a message, the whole collection is sent: {why}"
        return
    yield "a shard saves bytes and the client's memory, not the scan: the server hashes every object"
    try:
        selector = ShardSelector.parse(text)
    except StatusError:
        return
    if selector.overlaps:
        yield "ranges of shardSelector overlap: an object in several of them is sent once"
    if not shards_filter(behaviour) and request.scope(behaviour).unfiltered:
        if request.verb == "watch" and plan.source is Source.ETCD:
            yield "1.36 sends a WATCH that etcd serves the objects of all shards: add a selector, or 1.37"
        elif request.options.limit > 0:
            yield "1.36 counts the objects of all shards in remainingItemCount"


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
