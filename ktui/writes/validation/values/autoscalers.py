"""Rules of HorizontalPodAutoscalers, in upstream's order (autoscaling/validation)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import path_segment_faults
from ktui.kube.quantity import amount
from ktui.writes.validation.values.checks import (
    REFERENCE,
    Check,
    Row,
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
    positive,
    table_of,
)
from ktui.writes.validation.values.resources import container_resource

TARGET_TYPES = ("Utilization", "Value", "AverageValue")
# The member of a metric that each of its types has.
_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
METRICS = {kind: kind[0].lower() + kind[1:] for kind in _METRICS}


def _version(version: str) -> Iterable[FieldError]:
    why = f"unexpected GroupVersion string: {version}"
    return [invalid("", version, why)] if version.count("/") > 1 else ()


def _version_of_target(target: Obj) -> Iterator[FieldError]:
    """Of the core group, which has no name, only ReplicationControllers scale."""
    version = str(target.get("apiVersion") or "")
    named = version.partition("/")[0] if "/" in version else target.get("kind") == "ReplicationController"
    missing = () if named else [invalid("", version, "apiVersion must specify API group")]
    yield from inside(".apiVersion", _version(version) or missing)


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


def _values(source: Obj) -> set[str]:
    """Return which of the values of a metric's target are set."""
    target = source.get("target") or {}
    return {name for name in ("value", "averageValue") if target.get(name) is not None}


_AVERAGE = ".target.averageValue"


def _utilized(source: Obj) -> Iterator[FieldError]:
    target = source.get("target") or {}
    used, each = target.get("averageUtilization"), target.get("averageValue")
    if used is None and each is None:
        why = "must set either a target raw value or a target utilization"
        yield required(".target.averageUtilization", why)
    elif None not in (used, each):
        why = "may not set both a target raw value and a target utilization"
        yield forbidden(".target.averageValue", why)


def _one_way(source: Obj) -> Iterator[FieldError]:
    if len(_values(source)) > 1:
        yield forbidden(".target.value", "may not set both a target value for metric and a per-pod target")


_POSITIVE = demand(lambda quantity: amount(quantity) > 0, "must be positive")
_TARGET: Rows = below("target!", (
    ("", has("type", why="must specify a metric target type")),
    ("type:text",
     demand(TARGET_TYPES.__contains__, "must be either Utilization, Value, or AverageValue")),
    ("value", _POSITIVE), ("averageValue", _POSITIVE),
    ("averageUtilization", positive("must be greater than 0")),
))  # fmt: skip
_IDENTIFIED: Rows = (
    ("metric!", has("name", why="must specify a metric name")),
    ("metric!.name:text", conforms(path_segment_faults)), *_TARGET,
)  # fmt: skip
_RESOURCE_NAME: Row = ("", has("name", why="must specify a resource name"))
# The sources of a metric, in the order in which the first of them counts.
_SOURCES: dict[str, Check] = {
    "object": table_of(
        *below("describedObject!", (*REFERENCE, ("apiVersion:text", _version))), *_IDENTIFIED,
        ("", needs(_values, _AVERAGE, "must set either a target value or averageValue")),
    ),
    "external": table_of(
        *_IDENTIFIED, ("", _one_way),
        ("", needs(_values, _AVERAGE, "must set either a target value for metric or a per-pod target")),
    ),
    "pods": table_of(
        *_IDENTIFIED, ("", needs(lambda source: "averageValue" in _values(source), _AVERAGE,
                                 "must specify a positive target averageValue")),
    ),
    "resource": table_of(_RESOURCE_NAME, *_TARGET, ("", _utilized)),
    # Of one container; the name is that of something that containers have.
    "containerResource": table_of(
        _RESOURCE_NAME, ("name", lambda name: container_resource(name, "") if name else ()),
        ("", has("container", why="must specify a container")), ("container:text", dns_label),
        *_TARGET, ("", _utilized),
    ),
}  # fmt: skip
_SCALING: Rows = (
    ("stabilizationWindowSeconds", demand(lambda n: n >= 0, "must be greater than or equal to zero")),
    ("stabilizationWindowSeconds", demand(lambda n: n <= 3600, "must be less than or equal to 3600")),
    ("selectPolicy", listed("Disabled", "Max", "Min")),
    ("", has("policies", why="must specify at least one Policy")),
    ("policies[].type:text", listed("Percent", "Pods")), ("policies[].value:number", positive()),
    ("policies[].periodSeconds:number", positive()),
    ("policies[].periodSeconds", demand(lambda n: n <= 1800, "must be less than or equal to 1800")),
    ("tolerance", not_negative),
)  # fmt: skip


KINDS: dict[str, Rows] = {
    "horizontalpodautoscalers.autoscaling": (
        ("spec", _autoscaler),
        *below("spec.scaleTargetRef!", (*REFERENCE, ("", _version_of_target))),
        ("spec", _used_cpu), ("spec.metrics[]", _metric), ("spec", _scales_to_zero),
        *below("spec.behavior.scaleUp", _SCALING), *below("spec.behavior.scaleDown", _SCALING),
    ),
}  # fmt: skip
