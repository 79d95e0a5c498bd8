"""Errors in FlowSchemas and PriorityLevelConfigurations (upstream: pkg/apis/flowcontrol)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, limited, not_supported, required
from ktui.kube.flow_rules import (
    BY_NAMESPACE,
    BY_USER,
    EXEMPT,
    LIMITED,
    QUEUE,
    REJECT,
)
from ktui.writes.validation.updates.field_rules import Obj, bad, spec_of

MOST_PRECEDENCE, MOST_QUEUES, MOST_HASH_BITS = 10_000, 10_000_000, 60
# The member of a subject that each kind has.
SUBJECTS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}


@limited
def schema_errors(obj: Obj) -> Iterator[FieldError]:
    spec, name = spec_of(obj), (obj.get("metadata") or {}).get("name")
    precedence, field = spec.get("matchingPrecedence", 0), "spec.matchingPrecedence"
    if precedence <= 0:
        yield bad(field, precedence, "must be a positive value")
    if precedence > MOST_PRECEDENCE:
        yield bad(field, precedence, f"must not be greater than {MOST_PRECEDENCE}")
    if precedence == 1 and name != "exempt":
        yield bad(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in (BY_NAMESPACE, BY_USER):
        yield not_supported(
            "spec.distinguisherMethod.type", str(method.get("type", "")), (BY_NAMESPACE, BY_USER)
        )
    if not (spec.get("priorityLevelConfiguration") or {}).get("name"):
        yield required("spec.priorityLevelConfiguration.name", "must reference a priority level")
    for index, rule in enumerate(spec.get("rules") or ()):
        yield from _rule(rule, f"spec.rules[{index}]")


def _rule(rule: Obj, path: str) -> Iterator[FieldError]:
    subjects = rule.get("subjects") or ()
    if not subjects:
        yield required(f"{path}.subjects", "subjects must contain at least one value")
    for index, subject in enumerate(subjects):
        yield from _subject(subject, f"{path}.subjects[{index}]")
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        yield required(path, "at least one of resourceRules and nonResourceRules has to be non-empty")


def _subject(subject: Obj, path: str) -> Iterator[FieldError]:
    kind = str(subject.get("kind", ""))
    if kind not in SUBJECTS:
        yield not_supported(f"{path}.kind", kind, sorted(SUBJECTS))
        return
    for own, member in SUBJECTS.items():
        given = subject.get(member) is not None
        if own == kind and not given:
            yield required(f"{path}.{member}", f"{member} is required when subject kind is '{kind}'")
        elif own != kind and given:
            yield forbidden(f"{path}.{member}", f"{member} is forbidden when subject kind is not '{own}'")


@limited
def level_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    match spec.get("type"):
        case "Exempt":
            if spec.get("limited") is not None:
                yield forbidden("spec.limited", "must be nil if the type is not Limited")
            yield from _seats(spec.get("exempt") or {}, "spec.exempt")
        case "Limited":
            if spec.get("exempt") is not None:
                yield forbidden("spec.exempt", "must be nil if the type is Limited")
            if spec.get("limited") is None:
                yield required("spec.limited", "must not be empty when type is Limited")
            else:
                yield from _seats(spec["limited"], "spec.limited")
                yield from _limit_response(_response(obj), "spec.limited.limitResponse")
        case other:
            yield not_supported("spec.type", str(other or ""), (EXEMPT, LIMITED))


def _response(obj: Obj) -> Obj:
    found: Any = ((obj.get("spec") or {}).get("limited") or {}).get("limitResponse")
    return found if isinstance(found, dict) else {}


def _seats(part: Obj, path: str) -> Iterator[FieldError]:
    shares, lendable, borrowing = (
        part.get(name) for name in ("nominalConcurrencyShares", "lendablePercent", "borrowingLimitPercent")
    )
    if shares is not None and shares < 0:
        yield bad(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer")
    if lendable is not None and not 0 <= lendable <= 100:
        yield bad(f"{path}.lendablePercent", lendable, "must be between 0 and 100, inclusive")
    if borrowing is not None and borrowing < 0:
        yield bad(f"{path}.borrowingLimitPercent", borrowing, "if specified, must be a non-negative integer")


def _limit_response(response: Obj, path: str) -> Iterator[FieldError]:
    queuing, kind = response.get("queuing"), str(response.get("type", ""))
    if kind not in (QUEUE, REJECT):
        yield not_supported(f"{path}.type", kind, (QUEUE, REJECT))
    elif kind == REJECT and queuing is not None:
        yield forbidden(f"{path}.queuing", "must be nil if limited.limitResponse.type is not Limited")
    elif kind == QUEUE and queuing is None:
        yield required(f"{path}.queuing", "must not be empty if limited.limitResponse.type is Limited")
    elif isinstance(queuing, dict) and kind == QUEUE:
        yield from _queuing(queuing, f"{path}.queuing")


def _queuing(queuing: Obj, path: str) -> Iterator[FieldError]:
    queues, hand = queuing["queues"], queuing["handSize"]
    if queuing["queueLengthLimit"] <= 0:
        yield bad(f"{path}.queueLengthLimit", queuing["queueLengthLimit"], "must be positive")
    if queues <= 0:
        yield bad(f"{path}.queues", queues, "must be positive")
    elif queues > MOST_QUEUES:
        yield bad(f"{path}.queues", queues, f"must not be greater than {MOST_QUEUES}")
    if hand <= 0:
        yield bad(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        yield bad(f"{path}.handSize", hand, f"should not be greater than queues ({queues})")
    elif queues <= MOST_QUEUES and _entropy(queues, hand) > MOST_HASH_BITS:
        sizes = f"deckSize {queues} and handSize {hand}"
        why = f"required entropy bits of {sizes} should not be greater than {MOST_HASH_BITS}"
        yield bad(f"{path}.handSize", hand, why)


def _entropy(queues: int, hand: int) -> int:
    """Return the bits of entropy that dealing a hand uses, as upstream counts them."""
    return math.ceil(math.log2(queues) * hand)
