"""Rules of HorizontalPodAutoscalers, in upstream's order (autoscaling/validation)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import path_segment_faults
from ktui.kube.quantity import amount
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    below,
    conforms,
    demand,
    dns_label,
    has,
    inside,
    listed,
    needs,
    not_negative,
    reference_to,
    text_of,
)

TARGET_TYPES = ("Utilization", "Value", "AverageValue")
# The member of a metric that each of its types has.
_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
METRICS = {kind: kind[0].lower() + kind[1:] for kind in _METRICS}


def _reference(reference: Obj, *, core: bool) -> Iterator[FieldError]:
    """A reference to an object of another kind; `core`: it may be of the core group, which has no name."""
    yield from reference_to(reference)
    version = str(reference.get("apiVersion") or "")
    if version.count("/") > 1:
        yield invalid(".apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif not core and not version.partition("/")[1]:
        yield invalid(".apiVersion", version, "apiVersion must specify API group")


def _autoscaler(spec: Obj) -> Iterator[FieldError]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield invalid(".minReplicas", least, "must be greater than or equal to 1")
    if most == 0:
        yield required(".maxReplicas", "must be set and greater than 0")
    elif most < 0:
        yield invalid(".maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        yield invalid(".maxReplicas", most, "must be greater than or equal to `minReplicas`")
    yield from inside(".scaleTargetRef", _reference(spec.get("scaleTargetRef") or {}, core=False))


def _scales_to_zero(spec: Obj) -> Iterator[FieldError]:
    """Without replicas there are no pods to measure."""
    kinds = {metric.get("type") for metric in spec.get("metrics") or []}
    if spec.get("minReplicas") == 0 and not kinds & {"Object", "External"}:
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield forbidden(".metrics", why)


def _used_cpu(spec: Obj) -> Iterator[FieldError]:
    """Check v1's only target, which the internal type has as the first of its metrics."""
    used = spec.get("targetCPUUtilizationPercentage")
    if used is not None and used < 1:
        yield invalid(".metrics[0].resource.target.averageUtilization", used, "must be greater than 0")


def _metric(metric: Obj) -> Iterator[FieldError]:
    """Check a metric: it has the one source that its type names."""
    kind = str(metric.get("type") or "")
    if not kind:
        yield required(".type", "must specify a metric source type")
    if kind not in METRICS:
        yield not_supported(".type", kind, METRICS)
    there = [name for name in _SOURCES if metric.get(name) is not None]
    for name in there[:1]:
        yield from inside(f".{name}", _SOURCES[name](metric[name]))
    member = METRICS.get(kind)
    if member is None:
        yield not_supported(".type", kind, METRICS)
    elif metric.get(member) is None:
        yield required(f".{member}", "must populate information for the given metric source")
    for name in there if len(there) != 1 else ():
        if name != member:
            yield forbidden(f".{name}", "must populate the given metric source only")


def _target(source: Obj) -> Iterator[FieldError]:
    target = source.get("target") or {}
    named, used = str(target.get("type") or ""), target.get("averageUtilization")
    if not named:
        yield required(".target.type", "must specify a metric target type")
    if named not in TARGET_TYPES:
        yield invalid(".target.type", named, "must be either Utilization, Value, or AverageValue")
    for name in ("value", "averageValue"):
        if (value := target.get(name)) is not None and amount(value) <= 0:
            yield invalid(f".target.{name}", value, "must be positive")
    if used is not None and used < 1:
        yield invalid(".target.averageUtilization", used, "must be greater than 0")


def _identified(source: Obj) -> Iterator[FieldError]:
    metric = source.get("metric") or {}
    yield from inside(".metric", has("name", why="must specify a metric name")(metric))
    yield from inside(".metric", text_of("name", conforms(path_segment_faults))(metric))
    yield from _target(source)


def _values(source: Obj) -> set[str]:
    """Return which of the values of a metric's target are set."""
    target = source.get("target") or {}
    return {name for name in ("value", "averageValue") if target.get(name) is not None}


_AVERAGE = ".target.averageValue"
_ONE_VALUE = needs(_values, _AVERAGE, "must set either a target value or averageValue")
_ONE_OR_EACH = needs(_values, _AVERAGE, "must set either a target value for metric or a per-pod target")
_EACH = needs(
    lambda source: "averageValue" in _values(source), _AVERAGE, "must specify a positive target averageValue"
)


def _of_object(source: Obj) -> Iterator[FieldError]:
    yield from inside(".describedObject", _reference(source.get("describedObject") or {}, core=True))
    yield from _identified(source)
    yield from _ONE_VALUE(source)


def _of_external(source: Obj) -> Iterator[FieldError]:
    yield from _identified(source)
    yield from _ONE_OR_EACH(source)
    if len(_values(source)) > 1:
        yield forbidden(".target.value", "may not set both a target value for metric and a per-pod target")


def _of_resource(source: Obj) -> Iterator[FieldError]:
    target = source.get("target") or {}
    if not source.get("name"):
        yield required(".name", "must specify a resource name")
    if "container" in source and not source["container"]:
        yield required(".container", "must specify a container")
    yield from inside(".container", dns_label(str(source.get("container") or "")))
    yield from _target(source)
    used, each = target.get("averageUtilization"), target.get("averageValue")
    if used is None and each is None:
        why = "must set either a target raw value or a target utilization"
        yield required(".target.averageUtilization", why)
    elif None not in (used, each):
        why = "may not set both a target raw value and a target utilization"
        yield forbidden(".target.averageValue", why)


# The sources of a metric, in the order in which the first of them counts.
_SOURCES: dict[str, Check] = {
    "object": _of_object,
    "external": _of_external,
    "pods": lambda source: chain(_identified(source), _EACH(source)),
    "resource": _of_resource,
    "containerResource": _of_resource,
}


def _step(policy: Obj) -> Iterator[FieldError]:
    kind, seconds = str(policy.get("type") or ""), policy.get("periodSeconds") or 0
    if kind not in ("Percent", "Pods"):
        yield not_supported(".type", kind, ("Percent", "Pods"))
    if (policy.get("value") or 0) <= 0:
        yield invalid(".value", policy.get("value") or 0, "must be greater than zero")
    if seconds <= 0:
        yield invalid(".periodSeconds", seconds, "must be greater than zero")
    elif seconds > 1800:
        yield invalid(".periodSeconds", seconds, "must be less than or equal to 1800")


_SCALING: Rows = (
    ("stabilizationWindowSeconds", demand(lambda n: n >= 0, "must be greater than or equal to zero")),
    ("stabilizationWindowSeconds", demand(lambda n: n <= 3600, "must be less than or equal to 3600")),
    ("selectPolicy", listed("Disabled", "Max", "Min")),
    ("", has("policies", why="must specify at least one Policy")), ("policies[]", _step),
    ("tolerance", not_negative),
)  # fmt: skip


KINDS: dict[str, Rows] = {
    "horizontalpodautoscalers.autoscaling": (
        ("spec", _autoscaler), ("spec", _used_cpu), ("spec.metrics[]", _metric), ("spec", _scales_to_zero),
        *below("spec.behavior.scaleUp", _SCALING), *below("spec.behavior.scaleDown", _SCALING),
    ),
}  # fmt: skip
