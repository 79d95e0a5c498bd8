"""Rules of a pod's placement: tolerations, affinity, and its spread over topologies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, label_key_faults, label_value_faults, subdomain_faults
from ktui.writes.validation.selectors import operator_errors
from ktui.writes.validation.values.checks import (
    Row,
    below,
    demand,
    duplicate,
    has,
    inside,
    one_of,
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
        yield from (invalid(".key", key, why) for why in label_key_faults(key))
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
    elif operator not in ("Lt", "Gt"):
        yield not_supported(".operator", operator, ("Equal", "Exists"))
    if effect and effect not in EFFECTS:
        yield not_supported(".effect", effect, EFFECTS)


def _term(expression: Obj) -> Iterator[FieldError]:
    """Check one requirement of a node selector."""
    if expression.get("operator") not in ("Gt", "Lt"):
        yield from operator_errors(expression)
    elif len(expression.get("values") or []) != 1:
        yield required(".values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    key = str(expression.get("key") or "")
    yield from (invalid(".key", key, why) for why in label_key_faults(key))


def _required_term(expression: Obj) -> Iterator[FieldError]:
    """Check a requirement that a node must meet: its values are values of labels."""
    yield from _term(expression)
    for index, value in enumerate(expression.get("values") or []):
        yield from (invalid(f".values[{index}]", value, why) for why in label_value_faults(value))


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
        yield from (invalid(f".values[{index}]", value, why) for why in subdomain_faults(value))


def spread(constraints: list[Obj]) -> Iterator[FieldError]:
    """Check how pods spread; the first of two constraints on the same is the one too many."""
    pairs = [(each.get("topologyKey") or "", each.get("whenUnsatisfiable") or "") for each in constraints]
    left = Counter(pairs)
    for index, (constraint, (key, when)) in enumerate(zip(constraints, pairs, strict=True)):
        if (skew := constraint.get("maxSkew") or 0) <= 0:
            yield invalid(f"[{index}].maxSkew", skew, "must be greater than zero")
        yield from inside(f"[{index}]", has("topologyKey", why="can not be empty")(constraint))
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
        yield from inside(f"[{index}]", _SPREAD.relative(constraint))


def _merged_keys(part: Obj) -> Iterator[FieldError]:
    """Check the keys of pod labels that are merged into a selector, which must be there and not have them."""
    selector = part.get("labelSelector")
    for member in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = part.get(member) or []
        if keys and selector is None:
            yield forbidden(f".{member}", "must not be specified when labelSelector is not set")
        for index, key in enumerate(keys if selector is not None else ()):
            yield from (invalid(f".{member}[{index}]", key, why) for why in label_key_faults(key))
    both = set(part.get("matchLabelKeys") or ()) & set(part.get("mismatchLabelKeys") or ())
    for index, key in enumerate(part.get("matchLabelKeys") or ()):
        if key in both:
            why = "exists in both matchLabelKeys and mismatchLabelKeys"
            yield invalid(f".matchLabelKeys[{index}]", key, why)


def _topology(term: Obj) -> Iterator[FieldError]:
    for name in term.get("namespaces") or []:
        yield from (invalid(".namespace", name, why) for why in dns_label_faults(name))
    yield from _merged_keys(term)
    key = str(term.get("topologyKey") or "")
    if not key:
        yield required(".topologyKey", "can not be empty")
    yield from (invalid(".topologyKey", key, why) for why in label_key_faults(key))


def _preferred(preferred: Obj) -> Iterator[FieldError]:
    yield from inside(".weight", _weight(preferred.get("weight") or 0))
    if preferred.get("podAffinityTerm") is None:
        yield from inside(".podAffinityTerm", _topology({}))


_SPREAD = table_of(
    ("nodeAffinityPolicy", one_of("Honor", "Ignore")), ("nodeTaintsPolicy", one_of("Honor", "Ignore")),
    ("", _merged_keys), ("labelSelector", selector),
)  # fmt: skip
_FIELDS: tuple[Row, ...] = (("matchFields[]", _matched_field),)
_PREFERENCE: tuple[Row, ...] = (("matchExpressions[]", _term), *_FIELDS)
NODE_SELECTOR: tuple[Row, ...] = (
    ("", has("nodeSelectorTerms", why="must have at least one node selector term")),
    *below("nodeSelectorTerms[]", (("matchExpressions[]", _required_term), *_FIELDS)),
)
_POD_TERM: tuple[Row, ...] = (
    ("labelSelector", selector), ("namespaceSelector", selector), ("", _topology),
)  # fmt: skip
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_POD_AFFINITY: tuple[Row, ...] = (
    *below(f"{_REQUIRED}[]", _POD_TERM),
    (f"{_PREFERRED}[]", _preferred),
    *below(f"{_PREFERRED}[].podAffinityTerm", _POD_TERM),
)
AFFINITY: tuple[Row, ...] = (
    *below(f"nodeAffinity.{_REQUIRED}", NODE_SELECTOR),
    (f"nodeAffinity.{_PREFERRED}[].weight", _weight),
    *below(f"nodeAffinity.{_PREFERRED}[].preference", _PREFERENCE),
    *below("podAffinity", _POD_AFFINITY),
    *below("podAntiAffinity", _POD_AFFINITY),
)
