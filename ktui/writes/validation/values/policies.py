"""Rules of autoscalers, disruption budgets, quotas and limit ranges (upstream: autoscaling, policy, core)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults, path_segment_faults
from ktui.kube.quantity import amount
from ktui.writes.validation.selectors import operator_errors
from ktui.writes.validation.values.checks import (
    Check,
    Rows,
    below,
    conforms,
    count_or_percent,
    demand,
    dns_label,
    duplicate,
    has,
    inside,
    needs,
    not_negative,
    numbered,
    one_of,
    reference_to,
    selector,
    text_of,
)

SCOPES = (
    "BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass",
)  # fmt: skip
TARGET_TYPES = ("Utilization", "Value", "AverageValue")
# The member of a metric that each of its types has.
_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
METRICS = {kind: kind[0].lower() + kind[1:] for kind in _METRICS}
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
# (lesser, larger, field, shown, words): the members of a limit that may not exceed each other, the one at
# which the error is, the one whose value it shows, and the words for them.
_ORDER = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest",
     "min value {} is greater than default request value {}"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest",
     "default request value {} is greater than max value {}"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest",
     "default request value {} is greater than default limit value {}"),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)  # fmt: skip
_MEMBERS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_OF_CONTAINERS = frozenset({"cpu", "memory", "ephemeral-storage"})
_KNOWN = _COUNTED | _MEASURED
_ONLY_EXIST = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")


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
    ("selectPolicy", one_of("Disabled", "Max", "Min")),
    ("", has("policies", why="must specify at least one Policy")), ("policies[]", _step),
    ("tolerance", not_negative),
)  # fmt: skip


def _one_bound(spec: Obj) -> Iterator[FieldError]:
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = {"MinAvailable": least, "Selector": spec.get("selector"), "MaxUnavailable": most}
        shown["UnhealthyPodEvictionPolicy"] = spec.get("unhealthyPodEvictionPolicy")
        yield invalid("", shown, "minAvailable and maxUnavailable cannot be both set")


def _hard(amounts: Obj) -> Iterator[FieldError]:
    for name, value in amounts.items():
        if "/" in name:
            faults = label_key_faults(name)
        elif name in _COUNTED or name in _MEASURED or name.startswith(_STANDARD_PREFIXES):
            faults = []
        else:
            faults = ["must be a standard resource type or fully qualified"]
            faults = [*label_key_faults(name), *faults, "must be a standard resource for quota"]
        yield from (invalid(f"[{name}]", name, why) for why in faults)
        if amount(value) < 0:
            yield invalid(f"[{name}]", value, "must be greater than or equal to 0")
        elif amount(value) % 1 and (name in _COUNTED or name.startswith("count/")):
            yield invalid(f"[{name}]", value, "must be an integer")


def _scopes(spec: Obj) -> Iterator[FieldError]:
    """Check that a quota's scopes are known, select among what it counts, and go together."""
    scopes = spec.get("scopes") or []
    for name in scopes:
        if name not in SCOPES and "/" not in name:
            yield invalid(".scopes", scopes, "unsupported scope")
        for _ in _unfitting(name, spec):
            yield invalid(".scopes", scopes, "unsupported scope applied to resource")
    for pair in _OPPOSITES:
        if pair <= set(scopes):
            yield invalid(".scopes", scopes, "conflicting scopes")


def _unfitting(scope: str, spec: Obj) -> set[str]:
    """Return what a quota counts of objects that its scope does not select among."""
    known = (_COUNTED | _OF_PODS) & (spec.get("hard") or {}).keys()
    fitting = {"BestEffort": frozenset({"pods"}), **dict.fromkeys(_SCOPES_OF_PODS, _OF_PODS)}.get(scope)
    return set() if fitting is None else set(known - fitting)


def _scope_selector(spec: Obj) -> Iterator[FieldError]:
    """Check what a quota selects by; upstream's path of each requirement is that of their list."""
    selector = spec.get("scopeSelector")
    found = (selector or {}).get("matchExpressions") or []
    for expression in found:
        name = str(expression.get("scopeName") or "")
        if name not in SCOPES:
            yield invalid(".scopeName", name, "unsupported scope")
        for _ in _unfitting(name, spec):
            yield invalid("", selector, "unsupported scope applied to resource")
        yield from _requirement(name, expression)
    for pair in _OPPOSITES:
        if pair <= {each.get("scopeName") for each in found}:
            yield invalid("", spec.get("scopes"), "conflicting scopes")


def _requirement(name: str, expression: Obj) -> Iterator[FieldError]:
    operator = str(expression.get("operator") or "")
    if name in _ONLY_EXIST and operator != "Exists":
        kinds = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort")
        listed = ", ".join(f"ResourceQuotaScope{kind}" for kind in kinds)
        why = f"must be 'Exists' when scope is any of {listed} or ResourceQuotaScopeCrossNamespacePodAffinity"
        yield invalid(".operator", operator, why)
    lacking = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
    yield from operator_errors(expression, "", lacking, lambda field, values: invalid(field, values, why))


def _selected(spec: Obj) -> Iterator[FieldError]:
    yield from inside(".scopeSelector.matchExpressions", _scope_selector(spec))


def _limits(limits: list[Obj]) -> Iterator[FieldError]:
    for where, limit, kind, again in numbered(limits, "type"):
        faults = label_key_faults(kind)
        if not faults and "/" not in kind and kind not in _LIMIT_TYPES:
            faults = ["must be a standard limit type or fully qualified"]
        yield from (invalid(f"{where}.type", kind, why) for why in faults)
        if again:
            yield duplicate(f"{where}.type", kind)
        yield from inside(where, _limit(limit, kind))


def _limit(limit: Obj, kind: str) -> Iterator[FieldError]:
    for member in ("max", "min"):
        yield from _named(limit, member, kind)
    for member in ("default", "defaultRequest"):
        if kind != "Pod":
            yield from _named(limit, member, kind)
        elif limit.get(member):
            yield forbidden(f".{member}", "may not be specified when `type` is 'Pod'")
    least, most = limit.get("min") or {}, limit.get("max") or {}
    if kind == "PersistentVolumeClaim" and "storage" not in least and "storage" not in most:
        yield required(
            ".limits", "either minimum or maximum storage value is required, but neither was provided"
        )
    yield from _named(limit, "maxLimitRequestRatio", kind)
    yield from _bounds(limit, kind)


def _named(limit: Obj, member: str, kind: str) -> Iterator[FieldError]:
    """Check the names of a limit's amounts; those of pods and containers are of what containers have."""
    for name in limit.get(member) or {}:
        faults = label_key_faults(name)
        if not faults and "/" not in name and name not in _KNOWN and not name.startswith(_STANDARD_PREFIXES):
            faults = ["must be a standard resource type or fully qualified"]
        of_containers = name in _OF_CONTAINERS or name.startswith("hugepages-")
        if kind in ("Pod", "Container") and "/" not in name and not of_containers:
            faults = [*faults, "must be a standard resource for containers"]
        yield from (invalid(f".{member}[{name}]", name, why) for why in faults)


def _bounds(limit: Obj, kind: str) -> Iterator[FieldError]:
    """Check each pair of a limit's amounts, by the amounts' names, and that ratios are at least 1."""
    parts = {member: limit.get(member) or {} for member in _MEMBERS}
    if kind == "Pod":
        parts["default"] = parts["defaultRequest"] = {}
    for name in sorted({name for part in parts.values() for name in part}):
        for lesser, larger, field, shown, words in _ORDER:
            low, high = parts[lesser].get(name), parts[larger].get(name)
            if low is not None and high is not None and amount(low) > amount(high):
                value = low if shown == lesser else high
                yield invalid(f".{field}[{name}]", value, words.format(low, high))
        ratio = parts["maxLimitRequestRatio"].get(name)
        if ratio is None:
            continue
        if amount(ratio) < 1:
            yield invalid(f".maxLimitRequestRatio[{name}]", ratio, f"ratio {ratio} is less than 1")
        yield from _ratio(name, ratio, parts["min"].get(name), parts["max"].get(name))


def _ratio(name: str, ratio: str, least: str | None, most: str | None) -> Iterator[FieldError]:
    """A ratio is at most that of the limit's bounds."""
    if least is None or most is None or amount(least) <= 0:
        return
    limit = float(amount(most)) / float(amount(least))
    if float(amount(ratio)) > limit:
        why = f"ratio {ratio} is greater than max/min = {limit:f}"
        yield invalid(f".maxLimitRequestRatio[{name}]", ratio, why)


KINDS: dict[str, Rows] = {
    "horizontalpodautoscalers.autoscaling": (
        ("spec", _autoscaler), ("spec", _used_cpu), ("spec.metrics[]", _metric), ("spec", _scales_to_zero),
        *below("spec.behavior.scaleUp", _SCALING), *below("spec.behavior.scaleDown", _SCALING),
    ),
    "limitranges": (("spec.limits", _limits),),
    "poddisruptionbudgets.policy": (
        ("spec", _one_bound), ("spec.minAvailable", count_or_percent),
        ("spec.maxUnavailable", count_or_percent), ("spec.selector", selector),
        ("spec.unhealthyPodEvictionPolicy", one_of("AlwaysAllow", "IfHealthyBudget")),
    ),
    "resourcequotas": (("spec.hard", _hard), ("spec", _scopes), ("spec", _selected)),
}  # fmt: skip
