"""Rules of disruption budgets, quotas and limit ranges (upstream: policy, core)."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.kube.quantity import amount, is_whole
from ktui.writes.validation.selectors import operator_errors
from ktui.writes.validation.values.checks import (
    Rows,
    count_or_percent,
    duplicate,
    inside,
    listed,
    numbered,
    selector,
)

SCOPES = (
    "BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass",
)  # fmt: skip
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
        elif not is_whole(value) and (name in _COUNTED or name.startswith("count/")):
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
    "limitranges": (("spec.limits", _limits),),
    "poddisruptionbudgets.policy": (
        ("spec", _one_bound), ("spec.minAvailable", count_or_percent),
        ("spec.maxUnavailable", count_or_percent), ("spec.selector", selector),
        ("spec.unhealthyPodEvictionPolicy", listed("AlwaysAllow", "IfHealthyBudget")),
    ),
    "resourcequotas": (("spec.hard", _hard), ("spec", _scopes), ("spec", _selected)),
}  # fmt: skip
