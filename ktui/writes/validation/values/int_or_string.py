"""Checks of values that are numbers or texts (upstream: IntOrString): ports and percentages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ktui.kube.fielderrors import FieldError, invalid
from ktui.writes.validation.values.checks import natural, port_number

_PORT_NAME = re.compile("[a-z0-9-]+")
_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
    "regex used for validation is '[0-9]+%')"
)


def port_name_faults(name: str) -> Iterator[str]:
    """Yield why a port's name is invalid (upstream: IsValidPortName)."""
    if len(name.encode()) > 15:
        yield "must be no more than 15 characters"
    if not _PORT_NAME.fullmatch(name):
        yield "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
    if not re.search("[a-z]", name):
        yield "must contain at least one letter (a-z)"
    if "--" in name:
        yield "must not contain consecutive hyphens"
    if name[:1] == "-" or name[-1:] == "-":
        yield "must not begin or end with a hyphen"


def port_or_name(value: Any) -> Iterable[FieldError]:
    """A port's number, or the name of one."""
    if isinstance(value, str):
        return [invalid("", value, why) for why in port_name_faults(value)]
    return port_number(value)


def whole_or_percent(value: Any) -> Iterable[FieldError]:
    """A number from 0 on, or a percentage."""
    if not isinstance(value, str):
        return natural(value)
    return () if re.fullmatch("[0-9]+%", value) else [invalid("", value, _PERCENT)]


def not_above_all(value: Any) -> Iterable[FieldError]:
    """A number, or a percentage up to 100%."""
    digits = value[:-1].lstrip("0") if isinstance(value, str) and re.fullmatch("[0-9]+%", value) else ""
    if len(digits) > 2 and digits != "100":
        return [invalid("", value, "must not be greater than 100%")]
    return ()


def count_or_percent(value: Any) -> Iterator[FieldError]:
    """A number from 0 on, or a percentage up to 100%."""
    yield from whole_or_percent(value)
    yield from not_above_all(value)
