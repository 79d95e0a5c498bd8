"""Paths that lead to parts of an object, such as `spec.ports[].port`: of the tables of rules and of warnings.

`[]` stands for each item of a list, `{}` for each value of a map. What is missing is skipped, unless the path
says what it counts as: `spec!` is an empty object, `name:text` an empty text, `count:number` zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

_STEPS = re.compile(r"\[\]|\{\}|[^.\[{]+")
_MISSING: dict[str, Any] = {"object": {}, "text": "", "number": 0}


@cache
def steps_of(path: str) -> tuple[str, ...]:
    return tuple(_STEPS.findall(path))


@cache
def _member_of(step: str) -> tuple[str, str, Any]:
    """Return the member that a step leads to, its path, and what it counts as if it is missing."""
    name, _, kind = step.replace("!", ":object").partition(":")
    return name, f".{name}", _MISSING.get(kind)


def parts(value: Any, step: str) -> Iterable[tuple[str, Any]]:
    """Return what a step of a path leads to, each with its own path: a member, each item, each value."""
    if isinstance(value, dict):
        if step == "{}":
            return ((f"[{name}]", member) for name, member in value.items())
        name, path, missing = _member_of(step)
        member = value.get(name)
        if member is None:
            member = missing
        return () if member is None else ((path, member),)
    if step == "[]" and isinstance(value, list):
        return ((f"[{at}]", item) for at, item in enumerate(value) if item is not None)
    return ()


def found_at(value: Any, path: str) -> Sequence[tuple[str, Any]]:
    """Return each part of an object at a path, with its own path."""
    found = [("", value)]
    for step in steps_of(path):
        found = [(f"{at}{name}", part) for at, each in found for name, part in parts(each, step)]
        if not found:
            return ()
    return [(at.removeprefix("."), part) for at, part in found]


def values_at(value: Any, path: str) -> list[Any]:
    """Return each part of an object at a path."""
    return [part for _, part in found_at(value, path)]
