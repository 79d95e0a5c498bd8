"""Rules of the conditions of a status (upstream: metav1 ValidateConditions, flowcontrol, apiregistration)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid, limited, not_supported, required, too_long
from ktui.kube.json_trees import Obj
from ktui.kube.names import label_key_faults
from ktui.writes.validation.values.checks import duplicate, inside

_MOST_REASON, _MOST_MESSAGE = 1 << 10, 32 << 10
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_REASON_FAULT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  "
    "or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    f"'{_REASON.pattern}')"
)


@limited
def common(conditions: list[Any]) -> Iterator[FieldError]:
    """Conditions of metav1: their types are unique label names, with a status, a time and a reason."""
    return _each(conditions, _common)


def _each(conditions: list[Any], rule: Callable[[Obj], Iterator[FieldError]]) -> Iterator[FieldError]:
    """Apply a rule to each condition; their types are unique."""
    seen: set[str] = set()
    for at, condition in enumerate(conditions):
        kind = condition.get("type") or ""
        if kind in seen:
            yield duplicate(f"[{at}].type", kind)
        seen.add(kind)
        yield from inside(f"[{at}]", rule(condition))


def _common(condition: Obj) -> Iterator[FieldError]:
    kind, status, reason = (condition.get(name) or "" for name in ("type", "status", "reason"))
    yield from (invalid(".type", kind, fault) for fault in label_key_faults(kind))
    if status not in ("True", "False", "Unknown"):
        yield not_supported(".status", status, ("False", "True", "Unknown"))
    if (generation := condition.get("observedGeneration") or 0) < 0:
        yield invalid(".observedGeneration", generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        yield required(".lastTransitionTime")
    if not reason:
        yield required(".reason")
    elif not _REASON.fullmatch(reason):
        yield invalid(".reason", reason, _REASON_FAULT)
    if len(reason.encode()) > _MOST_REASON:
        yield too_long(".reason", _MOST_REASON)
    if len((condition.get("message") or "").encode()) > _MOST_MESSAGE:
        yield too_long(".message", _MOST_MESSAGE)


@limited
def of_flow_control(conditions: list[Any]) -> Iterator[FieldError]:
    """Conditions of flow schemas and priority levels have unique types."""
    return _each(conditions, _typed)


def _typed(condition: Obj) -> Iterator[FieldError]:
    if not condition.get("type"):
        yield required(".type")


@limited
def of_services(conditions: list[Any]) -> Iterator[FieldError]:
    """Conditions of APIServices have one of three states."""
    for at, condition in enumerate(conditions):
        if (status := condition.get("status") or "") not in ("True", "False", "Unknown"):
            yield not_supported(f"[{at}].status", status, ("True", "False", "Unknown"))
