"""Rules of disruption budgets, quotas and limit ranges (upstream: policy, core)."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.kube.quantity import amount
from ktui.writes.validation.selectors import operator_errors
from ktui.writes.validation.values.checks import (
    Rows,
    conforms,
    distinct,
    inside,
    listed,
    selector,
    table_of,
)
from ktui.writes.validation.values.int_or_string import count_or_percent
from ktui.writes.validation.values.resources import COUNTED, STANDARD, amount_errors, name_faults

SCOPES = (
    "BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
    "Terminating", "VolumeAttributesClass",
)  # fmt: skip
_OPPOSITES = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
# What the scopes of pods apply to.
_OF_PODS = frozenset(
    {"pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)
_SCOPES_OF_PODS = ("NotBestEffort", "NotTerminating", "Terminating")
_PAGES = ("hugepages-", "requests.hugepages-", "limits.hugepages-")
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
_ONLY_EXIST = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")


def _one_bound(spec: Obj) -> Iterator[FieldError]:
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        selector = {name: part for name, part in (spec.get("selector") or {}).items() if part}
        chosen = None if spec.get("selector") is None else selector
        shown = {"MinAvailable": least, "Selector": chosen, "MaxUnavailable": most}
        shown["UnhealthyPodEvictionPolicy"] = spec.get("unhealthyPodEvictionPolicy")
        yield invalid("", shown, "minAvailable and maxUnavailable cannot be both set")


def amounts(amounts: Obj) -> Iterator[FieldError]:
    """Check what a quota counts, and how much of it (upstream: ValidateResourceQuotaResourceName)."""
    for name, value in amounts.items():
        faults = name_faults(name)
        counted = "/" in name or name in STANDARD or name.startswith(_PAGES[:2])
        if not counted or name == "storage":
            faults = [*faults, "must be a standard resource for quota"]
        yield from (invalid(f"[{name}]", name, why) for why in faults)
        yield from inside(f"[{name}]", amount_errors(name, value))


def _scopes(spec: Obj) -> Iterator[FieldError]:
    """Check that a quota's scopes are known, select among what it counts, and go together."""
    scopes = spec.get("scopes") or []
    for name in scopes:
        if name not in SCOPES:
            yield invalid(".scopes", scopes, "unsupported scope")
        for _ in _unfitting(name, spec):
            yield invalid(".scopes", scopes, "unsupported scope applied to resource")
    for pair in _OPPOSITES:
        if pair <= set(scopes):
            yield invalid(".scopes", scopes, "conflicting scopes")


def _unfitting(scope: str, spec: Obj) -> set[str]:
    """Return what a quota counts of objects that its scope does not select among."""
    known = (COUNTED | _OF_PODS) & (spec.get("hard") or {}).keys()
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


def _type_faults(kind: str) -> list[str]:
    faults, known = label_key_faults(kind), "/" in kind or kind in _LIMIT_TYPES
    return faults or ([] if known else ["must be a standard limit type or fully qualified"])


def _limit(limit: Obj) -> Iterator[FieldError]:
    kind = str(limit.get("type") or "")
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
        faults = name_faults(name, _PAGES)
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
        if ratio is not None and amount(ratio) < 1:
            yield invalid(f".maxLimitRequestRatio[{name}]", ratio, f"ratio {ratio} is less than 1")
        if ratio is not None:
            yield from _ratio(name, ratio, parts["min"].get(name), parts["max"].get(name))
        yield from _exact(name, parts["default"].get(name), parts["defaultRequest"].get(name))


def _exact(name: str, limit: str | None, request: str | None) -> Iterator[FieldError]:
    """What pods cannot share is requested exactly (upstream: IsOvercommitAllowed)."""
    shared = ("/" not in name or "kubernetes.io/" in name) and not name.startswith("hugepages-")
    if limit is not None and request is not None and not shared and amount(limit) != amount(request):
        why = f"default value {limit} must equal to defaultRequest value {request} in {name}"
        yield invalid(f".defaultRequest[{name}]", request, why)


def _ratio(name: str, ratio: str, least: str | None, most: str | None) -> Iterator[FieldError]:
    """A ratio is at most that of the limit's bounds."""
    if least is None or most is None or amount(least) <= 0:
        return
    limit = float(amount(most)) / float(amount(least))
    if float(amount(ratio)) > limit:
        why = f"ratio {ratio} is greater than max/min = {limit:f}"
        yield invalid(f".maxLimitRequestRatio[{name}]", ratio, why)


KINDS: dict[str, Rows] = {
    "limitranges": (
        ("spec.limits", distinct("type", table_of(("type:text", conforms(_type_faults))), _limit)),
    ),
    "poddisruptionbudgets.policy": (
        ("spec", _one_bound), ("spec.minAvailable", count_or_percent),
        ("spec.maxUnavailable", count_or_percent), ("spec.selector", selector),
        ("spec.unhealthyPodEvictionPolicy", listed("AlwaysAllow", "IfHealthyBudget")),
    ),
    "resourcequotas": (("spec.hard", amounts), ("spec", _scopes), ("spec", _selected)),
}  # fmt: skip
