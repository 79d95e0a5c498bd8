"""Rules of a pod's placement: tolerations, affinity, and its spread over topologies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_value_faults
from ktui.writes.validation.selectors import operator_errors
from ktui.writes.validation.values.checks import (
    Rows,
    any_dns_label,
    any_subdomain,
    below,
    conforms,
    demand,
    duplicate,
    has,
    inside,
    label_key,
    listed,
    selector,
    table_of,
)

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
WHEN_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")


_weight = demand(lambda value: 1 <= value <= 100, "must be in the range 1-100")


def toleration(toleration: Obj) -> Iterator[FieldError]:
    """Check a toleration; one without an operator is for equal values."""
    operator, effect = toleration.get("operator") or "Equal", toleration.get("effect") or ""
    if key := toleration.get("key"):
        yield from inside(".key", label_key(key))
    elif operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(".operator", toleration.get("operator") or "", why)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(".effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    value = toleration.get("value") or ""
    if operator == "Equal":
        if faults := label_value_faults(value):
            yield invalid(".operator", value, ";".join(faults))
    elif operator == "Exists":
        if value:
            yield invalid(".operator", value, "value must be empty when `operator` is 'Exists'")
    else:
        of_numbers = ("Lt", "Gt") if operator in ("Lt", "Gt") else ()  # the gate that allows them is off
        yield not_supported(".operator", operator, ("Equal", "Exists", *of_numbers))
    if effect and effect not in EFFECTS:
        yield not_supported(".effect", effect, EFFECTS)


def _operator(expression: Obj) -> Iterator[FieldError]:
    """Check the operator of a requirement of a node selector, and how many values it has."""
    if expression.get("operator") not in ("Gt", "Lt"):
        yield from operator_errors(expression)
    elif len(expression.get("values") or []) != 1:
        yield required(".values", "must be specified single value when `operator` is 'Lt' or 'Gt'")


def _matched_field(expression: Obj) -> Iterator[FieldError]:
    operator, values = expression.get("operator") or "", expression.get("values") or []
    if operator not in ("In", "NotIn"):
        yield invalid(".operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        yield required(
            ".values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        )
    if expression.get("key") != "metadata.name":
        yield invalid(".key", expression.get("key") or "", "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from inside(f".values[{index}]", any_subdomain(value))


def spread(constraints: list[Obj]) -> Iterator[FieldError]:
    """Check how pods spread; the first of two constraints on the same is the one too many."""
    pairs = [(each.get("topologyKey") or "", each.get("whenUnsatisfiable") or "") for each in constraints]
    left = Counter(pairs)
    for index, (constraint, (key, when)) in enumerate(zip(constraints, pairs, strict=True)):
        if (skew := constraint.get("maxSkew") or 0) <= 0:
            yield invalid(f"[{index}].maxSkew", skew, "must be greater than zero")
        if not key:
            yield required(f"[{index}].topologyKey", "can not be empty")
        if when not in WHEN_UNSATISFIABLE:
            yield not_supported(f"[{index}].whenUnsatisfiable", when, WHEN_UNSATISFIABLE)
        left[key, when] -= 1
        if left[key, when]:
            yield duplicate(f"[{index}].{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}")
        if (least := constraint.get("minDomains")) is not None and least <= 0:
            yield invalid(f"[{index}].minDomains", least, "must be greater than zero")
        if least is not None and when != "DoNotSchedule":
            why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
            yield invalid(f"[{index}].minDomains", least, why)
        yield from inside(f"[{index}]", _SPREAD(constraint))


def _merged_keys(part: Obj) -> Iterator[FieldError]:
    """Check the keys of pod labels that are merged into a selector, which must be there and not have them."""
    selector = part.get("labelSelector")
    for member in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = part.get(member) or []
        if keys and selector is None:
            yield forbidden(f".{member}", "must not be specified when labelSelector is not set")
        for index, key in enumerate(keys if selector is not None else ()):
            yield from inside(f".{member}[{index}]", label_key(key))
    if selector is not None:
        yield from _selected_twice(part.get("matchLabelKeys") or [], selector)
    both = set(part.get("matchLabelKeys") or ()) & set(part.get("mismatchLabelKeys") or ())
    for index, key in enumerate(part.get("matchLabelKeys") or ()):
        if key in both:
            why = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f".matchLabelKeys[{index}]", key, why)


def _selected_twice(keys: list[str], selector: Obj) -> Iterator[FieldError]:
    """A key's own requirement in the selector is the only one; upstream's path leaves out the member."""
    places, seen = {key: index for index, key in enumerate(keys)}, set(selector.get("matchLabels") or {})
    for expression in selector.get("matchExpressions") or []:
        key = str(expression.get("key") or "")
        if key in places and key in seen:
            yield invalid(f"[{places[key]}]", key, "exists in both matchLabelKeys and labelSelector")
        seen.add(key)


def _namespaces(term: Obj) -> Iterator[FieldError]:
    """Check the names of namespaces; upstream's path of them is that of no member."""
    for name in term.get("namespaces") or []:
        yield from inside(".namespace", any_dns_label(name))


_SPREAD = table_of(
    ("nodeAffinityPolicy", listed("Honor", "Ignore")), ("nodeTaintsPolicy", listed("Honor", "Ignore")),
    ("", _merged_keys), ("labelSelector", selector),
)  # fmt: skip
_FIELDS: Rows = (("matchFields[]", _matched_field),)
_TERM: Rows = (("", _operator), ("key:text", label_key))
_PREFERENCE: Rows = (*below("matchExpressions[]", _TERM), *_FIELDS)
NODE_SELECTOR: Rows = (
    ("", has("nodeSelectorTerms", why="must have at least one node selector term")),
    *below("nodeSelectorTerms[].matchExpressions[]", _TERM),
    ("nodeSelectorTerms[].matchExpressions[].values[]", conforms(label_value_faults)),
    *below("nodeSelectorTerms[]", _FIELDS),
)
_POD_TERM: Rows = (
    ("labelSelector", selector), ("namespaceSelector", selector), ("", _namespaces), ("", _merged_keys),
    ("", has("topologyKey", why="can not be empty")), ("topologyKey:text", label_key),
)  # fmt: skip
REQUIRED, PREFERRED = (f"{kind}DuringSchedulingIgnoredDuringExecution" for kind in ("required", "preferred"))
POD_TERMS = tuple(
    f"affinity.{kind}.{terms}"
    for kind in ("podAffinity", "podAntiAffinity")
    for terms in (f"{REQUIRED}[]", f"{PREFERRED}[].podAffinityTerm!")
)
_POD_AFFINITY: Rows = (
    *below(f"{REQUIRED}[]", _POD_TERM),
    (f"{PREFERRED}[].weight:number", _weight),
    *below(f"{PREFERRED}[].podAffinityTerm!", _POD_TERM),
)
AFFINITY: Rows = (
    *below(f"nodeAffinity.{REQUIRED}", NODE_SELECTOR),
    (f"nodeAffinity.{PREFERRED}[].weight", _weight),
    *below(f"nodeAffinity.{PREFERRED}[].preference", _PREFERENCE),
    *below("podAffinity", _POD_AFFINITY),
    *below("podAntiAffinity", _POD_AFFINITY),
)
