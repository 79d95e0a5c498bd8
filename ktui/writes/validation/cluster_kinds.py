"""Errors in kinds of the cluster and policies: roles, nodes, classes, flow control, autoscalers, budgets."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, limited, not_supported, required
from ktui.kube.flow_rules import BY_NAMESPACE, BY_USER, EXEMPT, LIMITED, QUEUE, REJECT
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.writes.validation.selectors import label_selector_errors
from ktui.writes.validation.updates.field_rules import spec_of

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
CONTAINER_RESOURCES = ("cpu", "memory", "ephemeral-storage")
STANDARD_RESOURCES = frozenset({*CONTAINER_RESOURCES, "storage", "pods", "services"})


@limited
def role_errors(obj: Obj) -> Iterator[FieldError]:
    for index, rule in enumerate(obj.get("rules") or []):
        field = f"rules[{index}]"
        if not rule.get("verbs"):
            yield required(f"{field}.verbs", "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            if obj.get("kind") == "Role":
                why = "namespaced rules cannot apply to non-resource URLs"
                yield invalid(f"{field}.nonResourceURLs", rule["nonResourceURLs"], why)
            elif any(rule.get(name) for name in ("apiGroups", "resources", "resourceNames")):
                why = "rules cannot apply to both regular resources and non-resource URLs"
                yield invalid(f"{field}.nonResourceURLs", rule["nonResourceURLs"], why)
            continue
        for name, what in (("apiGroups", "api group"), ("resources", "resource")):
            if not rule.get(name):
                yield required(f"{field}.{name}", f"resource rules must supply at least one {what}")


@limited
def node_errors(obj: Obj) -> Iterator[FieldError]:
    for index, taint in enumerate(spec_of(obj).get("taints") or []):
        key = str(taint.get("key") or "")
        for fault in label_key_faults(key):
            yield invalid(f"metadata.taints[{index}].key", key, fault)


@limited
def runtime_class_errors(obj: Obj) -> Iterator[FieldError]:
    for name in (obj.get("overhead") or {}).get("podFixed") or {}:
        field = f"overhead.limits[{name}]"
        if "/" not in name and name not in STANDARD_RESOURCES and not name.startswith("hugepages-"):
            yield invalid(field, name, "must be a standard resource type or fully qualified")
            yield invalid(field, name, "must be a standard resource for containers")
        elif "/" in name:
            yield from (invalid(field, name, fault) for fault in label_key_faults(name))


@limited
def storage_class_errors(obj: Obj) -> Iterator[FieldError]:
    provisioner = str(obj.get("provisioner") or "")
    if not provisioner:
        yield required("provisioner")
        return
    for fault in label_key_faults(provisioner.lower()):
        yield invalid("provisioner", provisioner, fault)


@limited
def volume_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    for mode in spec.get("accessModes") or []:
        if mode not in ACCESS_MODES:
            yield not_supported("spec.accessModes", str(mode), ACCESS_MODES)
    capacity = spec.get("capacity") or {}
    if not capacity:
        yield required("spec.capacity")
    if "storage" not in capacity or len(capacity) > 1:
        yield not_supported("spec.capacity", [*capacity], ("storage",))


MOST_PRECEDENCE, MOST_QUEUES, MOST_HASH_BITS = 10_000, 10_000_000, 60
# The member of a subject that each kind has.
SUBJECTS = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}


@limited
def schema_errors(obj: Obj) -> Iterator[FieldError]:
    spec, name = spec_of(obj), (obj.get("metadata") or {}).get("name")
    precedence, field = spec.get("matchingPrecedence", 0), "spec.matchingPrecedence"
    if precedence <= 0:
        yield invalid(field, precedence, "must be a positive value")
    if precedence > MOST_PRECEDENCE:
        yield invalid(field, precedence, f"must not be greater than {MOST_PRECEDENCE}")
    if precedence == 1 and name != "exempt":
        yield invalid(field, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")
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
        yield invalid(f"{path}.nominalConcurrencyShares", shares, "must be a non-negative integer")
    if lendable is not None and not 0 <= lendable <= 100:
        yield invalid(f"{path}.lendablePercent", lendable, "must be between 0 and 100, inclusive")
    if borrowing is not None and borrowing < 0:
        yield invalid(
            f"{path}.borrowingLimitPercent", borrowing, "if specified, must be a non-negative integer"
        )


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
        yield invalid(f"{path}.queueLengthLimit", queuing["queueLengthLimit"], "must be positive")
    if queues <= 0:
        yield invalid(f"{path}.queues", queues, "must be positive")
    elif queues > MOST_QUEUES:
        yield invalid(f"{path}.queues", queues, f"must not be greater than {MOST_QUEUES}")
    if hand <= 0:
        yield invalid(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        yield invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})")
    elif queues <= MOST_QUEUES and _entropy(queues, hand) > MOST_HASH_BITS:
        sizes = f"deckSize {queues} and handSize {hand}"
        why = f"required entropy bits of {sizes} should not be greater than {MOST_HASH_BITS}"
        yield invalid(f"{path}.handSize", hand, why)


def _entropy(queues: int, hand: int) -> int:
    """Return the bits of entropy that dealing a hand uses, as upstream counts them."""
    return math.ceil(math.log2(queues) * hand)


PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
    "regex used for validation is '[0-9]+%')"
)
TARGET_TYPES = ("Utilization", "Value", "AverageValue")
# The member of a metric that each of its types has.
METRICS = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}


@limited
def budget_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = {"MinAvailable": least, "Selector": spec.get("selector"), "MaxUnavailable": most}
        yield invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for name, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            yield from number_or_percent(value, f"spec.{name}")
    yield from label_selector_errors(spec.get("selector"), "spec.selector")


def number_or_percent(value: Any, field: str) -> Iterator[FieldError]:
    """Yield errors unless the value is a number from 0 on, or a percentage up to 100%."""
    if isinstance(value, str):
        if not re.fullmatch("[0-9]+%", value):
            yield invalid(field, value, PERCENT)
        elif len(digits := value[:-1].lstrip("0")) > 3 or int(digits or "0") > 100:
            yield invalid(field, value, "must not be greater than 100%")
    elif value < 0:
        yield invalid(field, value, "must be greater than or equal to 0")


@limited
def autoscaler_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    if most < (1 if least is None else least):
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    for name in ("kind", "name"):
        value = str(target.get(name) or "")
        if not value:
            yield required(f"spec.scaleTargetRef.{name}")
        elif "/" in value or "%" in value or value in (".", ".."):
            fault = f"may not be '{value}'" if value in (".", "..") else _within(value)
            yield invalid(f"spec.scaleTargetRef.{name}", value, fault)
    for index, metric in enumerate(spec.get("metrics") or []):
        yield from _metric(metric, f"spec.metrics[{index}]")


def _within(value: str) -> str:
    return " and ".join(f"may not contain '{char}'" for char in "/%" if char in value)


def _metric(metric: Obj, field: str) -> Iterator[FieldError]:
    kind = metric.get("type")
    member = METRICS.get(str(kind))
    if member is None:
        yield (
            required(f"{field}.type", "must specify a metric source type")
            if not kind
            else invalid(f"{field}.type", kind, f"must be one of {', '.join(sorted(METRICS))}")
        )
        return
    source = metric.get(member)
    if source is None:
        yield required(f"{field}.{member}", "must populate information for the given metric source")
        return
    target, where = source.get("target") or {}, f"{field}.{member}.target"
    named = target.get("type") or ""
    if not named:
        yield required(f"{where}.type", "must specify a metric target type")
    if named not in TARGET_TYPES:
        yield invalid(f"{where}.type", str(named), "must be either Utilization, Value, or AverageValue")
    if kind in ("Resource", "ContainerResource"):
        if not source.get("name"):
            yield required(f"{field}.{member}.name", "must specify a resource name")
        if target.get("averageUtilization") is None and target.get("averageValue") is None:
            why = "must set either a target raw value or a target utilization"
            yield required(f"{where}.averageUtilization", why)
