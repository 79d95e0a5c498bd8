"""Convert an object to another version of its group.

Three ways, tried in this order: versions whose messages have the same fields need no change; Events and
HorizontalPodAutoscalers have their own rules; any other object is converted if the wanted version has each of
its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import msgspec

from ktui.kube.golang.formatting import to_json
from ktui.kube.json_trees import Obj
from ktui.wire.schema import fields, message_of

# Events are stored in the form of core v1. Upstream: pkg/apis/events/v1/conversion.go.
_CORE_TO_GROUP = {
    "involvedObject": "regarding", "message": "note", "reportingComponent": "reportingController",
    "source": "deprecatedSource", "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp", "count": "deprecatedCount",
}  # fmt: skip
_GROUP_TO_CORE = {group: core for core, group in _CORE_TO_GROUP.items()}


def _renamed(names: dict[str, str], event: Obj) -> Obj:
    return {names.get(name, name): value for name, value in event.items()}


METRICS = "autoscaling.alpha.kubernetes.io/metrics"
CURRENT = "autoscaling.alpha.kubernetes.io/current-metrics"
CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions"
BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"
ROUND_TRIP = (
    METRICS, CURRENT, CONDITIONS, BEHAVIOR, "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
)  # fmt: skip
_SOURCES = ("object", "pods", "resource", "containerResource", "external")
# The type of a target, by the first of its values that is set.
_TARGETS = {"averageUtilization": "Utilization", "averageValue": "AverageValue", "value": "Value"}
DEFAULT_CPU_PERCENT = 80


def to_v1(hpa: Obj) -> Obj:
    """Return an autoscaling/v2 HorizontalPodAutoscaler as autoscaling/v1.

    v1 has one field for the CPU target; all other metrics, the current metrics, the conditions and the
    behavior are stored as JSON in annotations. Upstream: pkg/apis/autoscaling/v1/conversion.go.
    """
    spec, status = dict(hpa.get("spec") or {}), dict(hpa.get("status") or {})
    metrics, behavior = spec.pop("metrics", None) or [], spec.pop("behavior", None)
    current, conditions = status.pop("currentMetrics", None) or [], status.pop("conditions", None) or []
    if (target := _cpu(metrics, "target")) is not None:
        spec["targetCPUUtilizationPercentage"] = target
    if (used := _cpu(current, "current")) is not None:
        status["currentCPUUtilizationPercentage"] = used
    others = [_metric(metric, "target", _source_v1) for metric in metrics if _cpu([metric], "target") is None]
    kept = {
        METRICS: others,
        CURRENT: [_metric(metric, "current", _source_v1) for metric in current],
        CONDITIONS: conditions,
        BEHAVIOR: _behavior_v1(behavior) if behavior is not None else None,
    }
    return {**hpa, "metadata": _annotated(hpa, kept), "spec": spec, "status": status}


def to_v2(hpa: Obj) -> Obj:
    """Return autoscaling/v1 as v2: annotations become members; without a metric it gets v2's default."""
    spec, status = dict(hpa.get("spec") or {}), dict(hpa.get("status") or {})
    target = spec.pop("targetCPUUtilizationPercentage", None)
    used = status.pop("currentCPUUtilizationPercentage", None)
    annotations = (hpa.get("metadata") or {}).get("annotations") or {}
    metrics = [_metric(metric, "target", _source_v2) for metric in _objects_in(annotations, METRICS)]
    if target is not None or not metrics:
        value = DEFAULT_CPU_PERCENT if target is None else target
        metrics.append(_cpu_metric("target", {"type": "Utilization", "averageUtilization": value}))
    spec["metrics"] = metrics
    if isinstance(behavior := _json_in(annotations, BEHAVIOR), dict) and behavior:
        spec["behavior"] = _json_names(behavior)
    if current := [_metric(metric, "current", _source_v2) for metric in _objects_in(annotations, CURRENT)]:
        status["currentMetrics"] = current
    elif used is not None:
        status["currentMetrics"] = [_cpu_metric("current", {"averageUtilization": used})]
    if conditions := _objects_in(annotations, CONDITIONS):
        status["conditions"] = conditions
    return {**hpa, "metadata": _annotated(hpa, {}), "spec": spec, "status": status}


def _json_in(annotations: Obj, name: str) -> Any:
    """Return the JSON in an annotation; None if it has none that can be read, which upstream ignores."""
    try:
        return msgspec.json.decode(annotations.get(name) or "null")
    except (msgspec.DecodeError, RecursionError, TypeError):
        return None


def _objects_in(annotations: Obj, name: str) -> list[Obj]:
    found = _json_in(annotations, name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _cpu_metric(side: str, value: Obj) -> Obj:
    return {"type": "Resource", "resource": {"name": "cpu", side: value}}


def _cpu(metrics: Iterable[Obj], side: str) -> int | None:
    for metric in metrics:
        resource = metric.get("resource") or {}
        if metric.get("type") == "Resource" and resource.get("name") == "cpu":
            utilization: int | None = (resource.get(side) or {}).get("averageUtilization")
            if utilization is not None:
                return utilization
    return None


def _annotated(hpa: Obj, kept: dict[str, Any]) -> Obj:
    metadata = dict(hpa.get("metadata") or {})
    annotations = {k: v for k, v in (metadata.pop("annotations", None) or {}).items() if k not in ROUND_TRIP}
    for name, value in kept.items():
        if value:
            annotations[name] = to_json(value).decode()
    return {**metadata, "annotations": annotations} if annotations else metadata


def _metric(metric: Obj, side: str, convert_source: Callable[[str, Obj, str], Obj]) -> Obj:
    """Return a metric in the form of the other version; `side` is "target" (spec) or "current" (status)."""
    found = ((source, metric.get(source)) for source in _SOURCES)
    sources = {source: convert_source(source, old, side) for source, old in found if isinstance(old, dict)}
    return {"type": metric.get("type", ""), **sources}


def _source_v1(source: str, old: Obj, side: str) -> Obj:
    value, identifier = old.get(side) or {}, old.get("metric") or {}
    average = value.get("averageValue")
    new: Obj = {}
    if source in ("resource", "containerResource"):
        new["name"] = old.get("name", "")
        new[f"{side}AverageUtilization"] = value.get("averageUtilization")
        new[f"{side}AverageValue"] = average or ("0" if side == "current" else None)
        new["container"] = old.get("container")
        return _present(new)
    new["metricName"] = identifier.get("name", "")
    if source == "object":
        new["target"] = old.get("describedObject")
        new[f"{side}Value"] = value.get("value") or "0"
        new |= {"selector": identifier.get("selector"), "averageValue": average}
    elif source == "pods":
        new[f"{side}AverageValue"] = average or "0"
        new["selector"] = identifier.get("selector")
    else:
        new["metricSelector"] = identifier.get("selector")
        new[f"{side}Value"] = value.get("value") or ("0" if side == "current" else None)
        new[f"{side}AverageValue"] = average
    return _present(new)


def _source_v2(source: str, old: Obj, side: str) -> Obj:
    average = old.get("averageValue" if source == "object" else f"{side}AverageValue")
    value = {
        "value": old.get(f"{side}Value"),
        "averageValue": average,
        "averageUtilization": old.get(f"{side}AverageUtilization"),
    }
    if side == "target":
        kinds = [kind for name, kind in _TARGETS.items() if value[name] is not None]
        value["type"] = kinds[0] if kinds else "AverageValue"
    new: Obj = {side: _present(value)}
    if source in ("resource", "containerResource"):
        return _present({"name": old.get("name", ""), "container": old.get("container"), **new})
    selector = old.get("metricSelector" if source == "external" else "selector")
    new["metric"] = _present({"name": old.get("metricName", ""), "selector": selector})
    return _present({"describedObject": old.get("target"), **new}) if source == "object" else new


def _present(members: Obj) -> Obj:
    return {name: value for name, value in members.items() if value is not None}


def _behavior_v1(behavior: Obj) -> Obj:
    """Return the behavior as Go prints its internal type, which has no JSON names and omits nothing."""
    return {
        "ScaleUp": _rules_v1(behavior.get("scaleUp")),
        "ScaleDown": _rules_v1(behavior.get("scaleDown")),
    }


def _rules_v1(rules: Obj | None) -> Obj | None:
    if rules is None:
        return None
    policies = [
        {
            "Type": policy.get("type", ""),
            "Value": policy.get("value", 0),
            "PeriodSeconds": policy.get("periodSeconds", 0),
        }
        for policy in rules.get("policies") or ()
    ]
    return {
        "StabilizationWindowSeconds": rules.get("stabilizationWindowSeconds"),
        "SelectPolicy": rules.get("selectPolicy"),
        "Policies": policies or rules.get("policies"),
        "Tolerance": rules.get("tolerance"),
    }


def _json_names(value: Any) -> Any:
    """Return a behavior of `_behavior_v1` with its names in JSON, without nulls."""
    if isinstance(value, dict):
        return {n[:1].lower() + n[1:]: _json_names(item) for n, item in value.items() if item is not None}
    return [_json_names(item) for item in value] if isinstance(value, list) else value


_RULES: dict[tuple[str, str, str], Callable[[Obj], Obj]] = {
    ("Event", "v1", "events.k8s.io/v1"): partial(_renamed, _CORE_TO_GROUP),
    ("Event", "events.k8s.io/v1", "v1"): partial(_renamed, _GROUP_TO_CORE),
    ("HorizontalPodAutoscaler", "autoscaling/v2", "autoscaling/v1"): to_v1,
    ("HorizontalPodAutoscaler", "autoscaling/v1", "autoscaling/v2"): to_v2,
}


def convert(stored: str, kind: str, wanted: str, obj: Obj) -> Obj | None:
    """An object of version `stored` as version `wanted`, with its apiVersion; None if no rule applies."""
    rule = _RULES.get((kind, stored, wanted))
    if rule is None:
        return {**obj, "apiVersion": wanted} if same_fields(stored, wanted, kind) else None
    return {**rule(obj), "apiVersion": wanted}


def same_fields(stored: str, wanted: str, kind: str) -> bool:
    """Return True if two versions of a kind are the same message except for its name."""
    one, other = message_of(stored, kind), message_of(wanted, kind)
    return one is not None and other is not None and _alike(one, other)


@cache
def _alike(one: str, other: str) -> bool:
    return _compare(one, other, set())


def _compare(one: str, other: str, seen: set[tuple[str, str]]) -> bool:
    if one == other or (one, other) in seen:
        return True
    seen.add((one, other))
    left, right = fields(one), fields(other)
    if len(left) != len(right):
        return False
    for mine, theirs in zip(left, right, strict=True):
        if msgspec.structs.replace(theirs, type=mine.type) != mine:
            return False
        if mine.type and not _compare(mine.type, theirs.type, seen):
            return False
    return True
