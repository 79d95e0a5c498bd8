"""Validate label selectors of workloads: valid, not empty, and matching the labels of the pod template."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid, limited, required
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults, label_value_faults
from ktui.kube.selectors import LabelSelector
from ktui.kube.selectors.requirements import requirements_of

WITH_VALUES, WITHOUT_VALUES = ("In", "NotIn"), ("Exists", "DoesNotExist")
MISMATCH = "`selector` does not match template `labels`"
_LABELS = {"controller-uid": "uid", "job-name": "name"}
_PREFIXED_LABELS = {f"batch.kubernetes.io/{label}": member for label, member in _LABELS.items()}


@limited
def label_selector_errors(selector: Any, field: str) -> Iterator[FieldError]:
    """Yield the errors of a LabelSelector: keys, operators and values."""
    if not isinstance(selector, dict):
        return
    yield from label_errors(selector.get("matchLabels") or {}, f"{field}.matchLabels")
    for number, expression in enumerate(selector.get("matchExpressions") or []):
        place = f"{field}.matchExpressions[{number}]"
        yield from operator_errors(expression, place)
        yield from requirement_errors(expression, place)


def requirement_errors(requirement: Obj, field: str) -> Iterator[FieldError]:
    """Yield the errors of a requirement's key and values."""
    key = requirement.get("key", "")
    yield from (invalid(f"{field}.key", key, fault) for fault in label_key_faults(key))
    for at, value in enumerate(requirement.get("values") or []):
        yield from (invalid(f"{field}.values[{at}]", value, fault) for fault in label_value_faults(value))


def label_errors(labels: Obj, field: str) -> Iterator[FieldError]:
    """Yield the errors of labels, all at the same field."""
    for key, value in labels.items():
        yield from (invalid(field, key, fault) for fault in label_key_faults(key))
        yield from (invalid(field, value, fault) for fault in label_value_faults(str(value)))


def operator_errors(
    expression: Obj,
    field: str = "",
    lacking: str = "must be specified when `operator` is 'In' or 'NotIn'",
    unwanted: Callable[[str, Any], FieldError] = lambda field, _: forbidden(
        field, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    ),
) -> Iterator[FieldError]:
    """Yield the errors of the operator of a requirement, and of the number of its values."""
    operator, values = expression.get("operator") or "", expression.get("values") or []
    if operator in WITH_VALUES:
        if not values:
            yield required(f"{field}.values", lacking)
    elif operator in WITHOUT_VALUES:
        if values:
            yield unwanted(f"{field}.values", values)
    else:
        yield invalid(f"{field}.operator", operator, "not a valid selector operator")


def template_mismatch(spec: Obj) -> Iterator[FieldError]:
    """Yield the error of a template that a workload's selector does not match; a missing one matches none.

    A ReplicationController's selector is a map of labels.
    """
    selector, labels = spec.get("selector"), _template_labels(spec)
    if isinstance(selector, dict) and not selector.keys() & {"matchLabels", "matchExpressions"}:
        selector = {"matchLabels": selector}
    if selector is None or not matches(selector, labels):
        given = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
        shown = None if given is None else dict(sorted(given.items()))
        yield invalid(".template.metadata.labels", shown, MISMATCH)


def generated_labels(minor: int) -> dict[str, str]:
    """Return a Job's generated labels, by the member of its metadata: since 1.27 also with a prefix."""
    return _LABELS | (_PREFIXED_LABELS if minor >= 27 else {})


def has_prefixed_labels(job: Obj) -> bool:
    """Whether a stored Job has the generated labels with a prefix; older ones lack them."""
    return _PREFIXED_LABELS.keys() <= _template_labels(job.get("spec") or {}).keys()


def generated_selector_errors(job: Obj, *, prefixed: bool) -> Iterator[FieldError]:
    """Yield the errors of a Job without manual selector, which has generated labels that only it selects."""
    spec, metadata = job.get("spec") or {}, job.get("metadata") or {}
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    labels = _template_labels(spec)
    generated = _LABELS | (_PREFIXED_LABELS if prefixed else {})
    expected = {label: str(metadata.get(member, "")) for label, member in generated.items()}
    for label, value in expected.items():
        field = f"spec.template.metadata.labels[{label}]"
        if label not in labels:
            yield required(field, f"must be '{value}'")
        elif labels[label] != value:
            yield invalid(field, dict(sorted(labels.items())), f"must be '{value}'")
    valid = not label_selector_errors(spec["selector"], "")  # upstream skips what it cannot convert
    if valid and not matches(spec["selector"], expected):
        yield invalid("spec.selector", selector_shown(spec["selector"]), "`selector` not auto-generated")


def selector_shown(selector: Any) -> Any:
    """Return a LabelSelector in the order of its Go type, with sorted maps."""
    if not isinstance(selector, dict):
        return selector
    shown: Obj = {}
    if labels := selector.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(labels.items()))
    if expressions := selector.get("matchExpressions"):
        shown["matchExpressions"] = [
            {"key": e.get("key") or "", "operator": e.get("operator") or "", **_values(e)}
            for e in expressions
        ]
    return shown


def _values(expression: Obj) -> Obj:
    return {"values": expression["values"]} if expression.get("values") else {}


def _template_labels(spec: Obj) -> Obj:
    labels: Obj = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    return labels


def matches(selector: Obj, labels: Obj, *, unknown: bool = True) -> bool:
    """Return whether a LabelSelector selects the labels; `unknown`: the result for an unknown operator."""
    try:
        return LabelSelector(requirements_of(selector)).matches(labels)
    except ValueError:
        return unknown
