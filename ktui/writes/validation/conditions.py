"""Rules of the conditions of a status (upstream: metav1 ValidateConditions, flowcontrol, apiregistration)."""

from __future__ import annotations

import re

from ktui.writes.validation.values.checks import (
    at_most_bytes,
    demand,
    distinct,
    has,
    label_key,
    listed,
    needed,
    table_of,
)

_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_REASON_FAULT = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  "
    "or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
    f"'{_REASON.pattern}')"
)
_generation = demand(lambda value: value >= 0, "must be greater than or equal to zero")
# Of metav1: they have a status, a time and a reason.
_COMMON = table_of(
    ("type:text", label_key), ("status:text", listed("False", "True", "Unknown")),
    ("observedGeneration", _generation), ("", has("lastTransitionTime")),
    ("reason:text", needed(demand(_REASON.fullmatch, _REASON_FAULT))),
    ("reason", at_most_bytes(1 << 10)), ("message", at_most_bytes(32 << 10)),
)  # fmt: skip
common = distinct("type", then=_COMMON)
"""Conditions of metav1: their types are unique label names."""
of_flow_control = distinct("type", then=has("type"))
"""Conditions of flow schemas and priority levels have unique types."""
