"""Errors in HorizontalPodAutoscalers and PodDisruptionBudgets (upstream: pkg/apis/autoscaling, policy)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid_tree, invalid_value, limited, required
from ktui.writes.validation.selectors import label_selector_errors
from ktui.writes.validation.updates.field_rules import Obj, bad, spec_of

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
        yield invalid_tree("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for name, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            yield from number_or_percent(value, f"spec.{name}")
    yield from label_selector_errors(spec.get("selector"), "spec.selector")


def number_or_percent(value: Any, field: str) -> Iterator[FieldError]:
    """Yield errors unless the value is a number from 0 on, or a percentage up to 100%."""
    if isinstance(value, str):
        if not re.fullmatch("[0-9]+%", value):
            yield invalid_value(field, value, PERCENT)
        elif len(digits := value[:-1].lstrip("0")) > 3 or int(digits or "0") > 100:
            yield invalid_value(field, value, "must not be greater than 100%")
    elif value < 0:
        yield bad(field, value, "must be greater than or equal to 0")


@limited
def autoscaler_errors(obj: Obj) -> Iterator[FieldError]:
    spec = spec_of(obj)
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield bad("spec.minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    if most < (1 if least is None else least):
        yield bad("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    for name in ("kind", "name"):
        value = str(target.get(name) or "")
        if not value:
            yield required(f"spec.scaleTargetRef.{name}")
        elif "/" in value or "%" in value or value in (".", ".."):
            fault = f"may not be '{value}'" if value in (".", "..") else _within(value)
            yield invalid_value(f"spec.scaleTargetRef.{name}", value, fault)
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
            else bad(f"{field}.type", kind, f"must be one of {', '.join(sorted(METRICS))}")
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
        yield invalid_value(f"{where}.type", str(named), "must be either Utilization, Value, or AverageValue")
    if kind in ("Resource", "ContainerResource"):
        if not source.get("name"):
            yield required(f"{field}.{member}.name", "must specify a resource name")
        if target.get("averageUtilization") is None and target.get("averageValue") is None:
            why = "must set either a target raw value or a target utilization"
            yield required(f"{where}.averageUtilization", why)
