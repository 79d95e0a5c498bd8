"""Rules of a pod's placement: tolerations, affinity, and its spread over topologies."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, invalid, not_supported, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults, label_value_faults
from ktui.writes.validation.selectors import operator_errors
from ktui.writes.validation.values.checks import (
    Row,
    below,
    demand,
    dns_label,
    duplicate,
    has,
    inside,
    one_of,
    one_of_or_none,
    positive,
    qualified,
    repeated,
    selector,
)

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
WHEN_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")


_weight = demand(lambda weight: 1 <= weight <= 100, "must be in the range 1-100")


def _toleration(toleration: Obj) -> Iterator[FieldError]:
    operator, effect = toleration.get("operator") or "Equal", toleration.get("effect") or ""
    if not toleration.get("key") and operator != "Exists":
        why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(".operator", toleration.get("operator") or "", why)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        yield invalid(".effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if operator == "Equal":
        for why in label_value_faults(toleration.get("value") or ""):
            yield invalid(".operator", toleration["value"], why)
    elif operator == "Exists":
        if toleration.get("value"):
            yield invalid(".operator", toleration, "value must be empty when `operator` is 'Exists'")
    elif operator not in ("Lt", "Gt"):
        yield not_supported(".operator", operator, ("Equal", "Exists"))


def _term(expression: Obj) -> Iterator[FieldError]:
    """Check one requirement of a node selector."""
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


def _constraint(constraint: Obj) -> Iterator[FieldError]:
    skew, when = constraint.get("maxSkew") or 0, str(constraint.get("whenUnsatisfiable") or "")
    if skew <= 0:
        yield invalid(".maxSkew", skew, "must be greater than zero")
    yield from has("topologyKey", why="can not be empty")(constraint)
    if when not in WHEN_UNSATISFIABLE:
        yield not_supported(".whenUnsatisfiable", when, WHEN_UNSATISFIABLE)


def _topology(term: Obj) -> Iterator[FieldError]:
    key = str(term.get("topologyKey") or "")
    if not key:
        yield required(".topologyKey", "can not be empty")
    yield from (invalid(".topologyKey", key, why) for why in label_key_faults(key))


def _preferred(preferred: Obj) -> Iterator[FieldError]:
    yield from inside(".weight", _weight(preferred.get("weight") or 0))
    if preferred.get("podAffinityTerm") is None:
        yield from inside(".podAffinityTerm", _topology({}))


def _spread(constraints: list[Obj]) -> Iterator[FieldError]:
    pairs = ((each.get("topologyKey") or "", each.get("whenUnsatisfiable") or "") for each in constraints)
    for at, (key, when) in repeated((f"[{at}]", pair) for at, pair in enumerate(pairs)):
        yield duplicate(f"{at}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {when}}}")


_EXPRESSIONS: tuple[Row, ...] = (
    ("matchExpressions[].key", qualified),
    ("matchExpressions[]", _term),
    ("matchFields[]", _matched_field),
)
NODE_SELECTOR: tuple[Row, ...] = (
    ("", has("nodeSelectorTerms", why="must have at least one node selector term")),
    *below("nodeSelectorTerms[]", _EXPRESSIONS),
)
_POD_TERM: tuple[Row, ...] = (
    ("", _topology),
    ("labelSelector", selector),
    ("namespaceSelector", selector),
    ("namespaces[]", dns_label),
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_POD_AFFINITY: tuple[Row, ...] = (
    *below(f"{_REQUIRED}[]", _POD_TERM),
    (f"{_PREFERRED}[]", _preferred),
    *below(f"{_PREFERRED}[].podAffinityTerm", _POD_TERM),
)
SCHEDULING: tuple[Row, ...] = (
    ("tolerations[].key", qualified),
    ("tolerations[].effect", one_of_or_none(*EFFECTS)),
    ("tolerations[]", _toleration),
    *below(f"affinity.nodeAffinity.{_REQUIRED}", NODE_SELECTOR),
    (f"affinity.nodeAffinity.{_PREFERRED}[].weight", _weight),
    *below(f"affinity.nodeAffinity.{_PREFERRED}[].preference", _EXPRESSIONS),
    *below("affinity.podAffinity", _POD_AFFINITY),
    *below("affinity.podAntiAffinity", _POD_AFFINITY),
    ("topologySpreadConstraints", _spread),
    ("topologySpreadConstraints[]", _constraint),
    ("topologySpreadConstraints[].labelSelector", selector),
    ("topologySpreadConstraints[].minDomains", positive("must be greater than 0")),
    ("topologySpreadConstraints[].nodeAffinityPolicy", one_of("Honor", "Ignore")),
    ("topologySpreadConstraints[].nodeTaintsPolicy", one_of("Honor", "Ignore")),
)
