"""Rules of autoscalers, disruption budgets, quotas and limit ranges (upstream: autoscaling, policy, core)."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults, path_segment_faults
from ktui.kube.quantity import amount
from ktui.writes.validation.selectors import operator_errors
from ktui.writes.validation.values.checks import (
    Row,
    below,
    count_or_percent,
    inside,
    more_than_nothing,
    one_of,
    positive,
    selector,
    unique,
)

SCOPES = (
    "BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass",
)  # fmt: skip

METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
_OPPOSITES = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
# Amounts that a quota counts in whole objects or as a resource, besides `count/…` and names with a domain.
_COUNTED = frozenset({
    "configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas", "secrets",
    "services", "services.loadbalancers", "services.nodeports",
})  # fmt: skip
_MEASURED = frozenset({
    "cpu", "ephemeral-storage", "limits.cpu", "limits.ephemeral-storage", "limits.memory", "memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory", "requests.storage", "storage",
})  # fmt: skip
# What the scopes of pods apply to.
_OF_PODS = frozenset(
    {"pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)
_SCOPES_OF_PODS = ("NotBestEffort", "NotTerminating", "Terminating")
_STANDARD_PREFIXES = ("hugepages-", "requests.hugepages-", "limits.hugepages-")
_LIMIT_TYPES = ("Container", "PersistentVolumeClaim", "Pod")
# (lesser, larger): the members of a limit that may not exceed each other; upstream's words for them.
_ORDER = (
    ("min", "max", "min", "max"),
    ("min", "defaultRequest", "min", "default request"),
    ("defaultRequest", "max", "default request", "max"),
    ("defaultRequest", "default", "default request", "default limit"),
    ("min", "default", "min", "default"),
    ("default", "max", "default", "max"),
)


def _metric_target(source: Obj) -> Iterator[FieldError]:
    target = source.get("target") or {}
    if target.get("averageUtilization") is not None and target.get("averageValue") is not None:
        yield forbidden(
            ".target.averageValue", "may not set both a target raw value and a target utilization"
        )


def _behaviour(rules: Obj) -> Iterator[FieldError]:
    window = rules.get("stabilizationWindowSeconds")
    if window is not None and window < 0:
        yield invalid(".stabilizationWindowSeconds", window, "must be greater than or equal to zero")
    if window is not None and window > 3600:
        yield invalid(".stabilizationWindowSeconds", window, "must be less than or equal to 3600")
    if rules.get("policies") == []:
        yield required(".policies", "must specify at least one Policy")


def _step(policy: Obj) -> Iterator[FieldError]:
    seconds = policy.get("periodSeconds") or 0
    if (policy.get("value") or 0) <= 0:
        yield invalid(".value", policy.get("value") or 0, "must be greater than zero")
    if seconds <= 0:
        yield invalid(".periodSeconds", seconds, "must be greater than zero")
    elif seconds > 1800:
        yield invalid(".periodSeconds", seconds, "must be less than or equal to 1800")


_SCALING: tuple[Row, ...] = (
    ("", _behaviour),
    ("selectPolicy", one_of("Disabled", "Max", "Min")),
    ("policies[].type", one_of("Percent", "Pods")),
    ("policies[]", _step),
)
_TARGET: tuple[Row, ...] = (
    ("", _metric_target),
    ("target.averageUtilization", positive("must be greater than 0")),
    ("target.value", more_than_nothing),
    ("target.averageValue", more_than_nothing),
)


def _named_metric(source: Obj) -> Iterator[FieldError]:
    if not (source.get("metric") or {}).get("name"):
        yield required(".metric.name", "must specify a metric name")


def _each_pod(source: Obj) -> Iterator[FieldError]:
    if (source.get("target") or {}).get("averageValue") is None:
        yield required(".target.averageValue", "must specify a positive target averageValue")


def _some_value(source: Obj) -> Iterator[FieldError]:
    target = source.get("target") or {}
    if target.get("value") is None and target.get("averageValue") is None:
        why = "must set either a target value for metric or a per-pod target"
        yield required(".target.averageValue", why)


def _autoscaler(spec: Obj) -> Iterator[FieldError]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield invalid(".minReplicas", least, "must be greater than or equal to 1")
    if most < 1:
        yield required(".maxReplicas", "must be set and greater than 0")
    if most < (1 if least is None else least):
        yield invalid(".maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    for name in ("kind", "name"):
        value = str(target.get(name) or "")
        if not value:
            yield required(f".scaleTargetRef.{name}")
        elif faults := path_segment_faults(value):
            yield invalid(f".scaleTargetRef.{name}", value, " and ".join(faults))


def _metric(metric: Obj) -> Iterator[FieldError]:
    kind = str(metric.get("type") or "")
    member = kind[:1].lower() + kind[1:]
    if not kind:
        yield required(".type", "must specify a metric source type")
    elif kind not in METRICS:
        yield invalid(".type", kind, f"must be one of {', '.join(METRICS)}")
    elif (source := metric.get(member)) is None:
        yield required(f".{member}", "must populate information for the given metric source")
    else:
        yield from inside(f".{member}", _source(source, of_resource="Resource" in kind))


def _source(source: Obj, of_resource: bool) -> Iterator[FieldError]:
    target = source.get("target") or {}
    named = target.get("type") or ""
    if not named:
        yield required(".target.type", "must specify a metric target type")
    if named not in ("Utilization", "Value", "AverageValue"):
        yield invalid(".target.type", str(named), "must be either Utilization, Value, or AverageValue")
    if not of_resource:
        return
    if not source.get("name"):
        yield required(".name", "must specify a resource name")
    if target.get("averageUtilization") is None and target.get("averageValue") is None:
        why = "must set either a target raw value or a target utilization"
        yield required(".target.averageUtilization", why)


AUTOSCALER: tuple[Row, ...] = (
    ("spec", _autoscaler),
    ("spec.metrics[]", _metric),
    *below("spec.metrics[].resource", _TARGET),
    *below("spec.metrics[].containerResource", _TARGET),
    *below("spec.metrics[].pods", _TARGET),
    *below("spec.metrics[].object", _TARGET),
    *below("spec.metrics[].external", _TARGET),
    ("spec.metrics[].pods", _named_metric),
    ("spec.metrics[].pods", _each_pod),
    ("spec.metrics[].object", _named_metric),
    ("spec.metrics[].object", _some_value),
    ("spec.metrics[].external", _named_metric),
    ("spec.metrics[].external", _some_value),
    *below("spec.behavior.scaleUp", _SCALING),
    *below("spec.behavior.scaleDown", _SCALING),
)


def _one_bound(spec: Obj) -> Iterator[FieldError]:
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = {"MinAvailable": least, "Selector": spec.get("selector"), "MaxUnavailable": most}
        yield invalid("", shown, "minAvailable and maxUnavailable cannot be both set")


BUDGET: tuple[Row, ...] = (
    ("spec", _one_bound),
    ("spec.minAvailable", count_or_percent),
    ("spec.maxUnavailable", count_or_percent),
    ("spec.selector", selector),
    ("spec.unhealthyPodEvictionPolicy", one_of("AlwaysAllow", "IfHealthyBudget")),
)


def _hard(amounts: Obj) -> Iterator[FieldError]:
    for name, value in amounts.items():
        if "/" in name:
            faults = label_key_faults(name)
        elif name in _COUNTED or name in _MEASURED or name.startswith(_STANDARD_PREFIXES):
            faults = []
        else:
            faults = [*label_key_faults(name), "must be a standard resource type or fully qualified"]
            faults.append("must be a standard resource for quota")
        yield from (invalid(f"[{name}]", name, why) for why in faults)
        if amount(value) < 0:
            yield invalid(f"[{name}]", value, "must be greater than or equal to 0")
        elif amount(value) % 1 and (name in _COUNTED or name.startswith("count/")):
            yield invalid(f"[{name}]", value, "must be an integer")


def _scopes(scopes: list[str]) -> Iterator[FieldError]:
    for name in scopes:
        if name not in SCOPES and "/" not in name:
            yield invalid("", scopes, "unsupported scope")
    for pair in _OPPOSITES:
        if pair <= set(scopes):
            yield invalid("", scopes, "conflicting scopes")


def _scoped(spec: Obj) -> Iterator[FieldError]:
    """Check that a quota's scopes select among objects of the kinds that it counts."""
    scopes = spec.get("scopes") or []
    known = (_COUNTED | _OF_PODS) & (spec.get("hard") or {}).keys()
    for name in scopes:
        fitting = {"BestEffort": frozenset({"pods"}), **dict.fromkeys(_SCOPES_OF_PODS, _OF_PODS)}.get(name)
        if fitting is not None and known - fitting:
            yield invalid(".scopes", scopes, "unsupported scope applied to resource")


def _scope(expression: Obj) -> Iterator[FieldError]:
    name = expression.get("scopeName") or ""
    if name not in SCOPES:
        yield invalid(".scopeName", name, "unsupported scope")
    lacking = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    why = "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector"
    yield from operator_errors(
        expression, lacking=lacking, unwanted=lambda field, values: invalid(field, values, why)
    )


QUOTA: tuple[Row, ...] = (
    ("spec.hard", _hard),
    ("spec.scopes", _scopes),
    ("spec", _scoped),
    ("spec.scopeSelector.matchExpressions[]", _scope),
)


def _limit(limit: Obj) -> Iterator[FieldError]:
    kind = limit.get("type") or ""
    if kind not in _LIMIT_TYPES:
        faults = label_key_faults(kind) if kind else ["must be a standard limit type or fully qualified"]
        if kind and not faults and "/" not in kind:
            faults = ["must be a standard limit type or fully qualified"]
        yield from (invalid(".type", kind, why) for why in faults)
    for name in ("default", "defaultRequest") if kind == "Pod" else ():
        if limit.get(name):
            yield forbidden(f".{name}", "may not be specified when `type` is 'Pod'")
    least, most = limit.get("min") or {}, limit.get("max") or {}
    if kind == "PersistentVolumeClaim" and "storage" not in least and "storage" not in most:
        yield required(
            ".limits", "either minimum or maximum storage value is required, but neither was provided"
        )
    yield from _bounds(limit)


def _bounds(limit: Obj) -> Iterator[FieldError]:
    """Check each pair of a limit's amounts, and that ratios are at least 1."""
    for lesser, larger, what, other in _ORDER:
        low, high = limit.get(lesser) or {}, limit.get(larger) or {}
        for name, value in low.items():
            if name in high and amount(value) > amount(high[name]):
                why = f"{what} value {value} is greater than {other} value {high[name]}"
                yield invalid(f".{lesser}[{name}]", value, why)
    for name, ratio in (limit.get("maxLimitRequestRatio") or {}).items():
        if amount(ratio) < 1:
            yield invalid(f".maxLimitRequestRatio[{name}]", ratio, f"ratio {ratio} is less than 1")


LIMIT_RANGE: tuple[Row, ...] = (("spec.limits", unique("type")), ("spec.limits[]", _limit))
