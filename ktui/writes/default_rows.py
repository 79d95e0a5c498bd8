"""Rows of defaults: a path and the value that a missing member gets, made into functions once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, cast

from ktui.kube.json_trees import Obj, copied

Table: TypeAlias = "tuple[tuple[str, Any], ...]"
"""Rows of a path and a default: the member's value if it is missing, an `Unset` also if it is empty. A
function or another table is applied to each object at the path.

`a.b` is where it is in objects that are there, `a!` makes the object if it is missing, `a[]` is each object
of a list; "" is the object itself. Rows apply in their order.
"""


class Unset(NamedTuple):
    """The default of a member for which Go's type cannot tell missing and empty apart."""

    value: Any


Fill = Callable[[Obj], object]


def filler(table: Table) -> Fill:
    """Return a function that applies a table to an object, in place."""
    fillers = [_of_row(path.split(".") if path else [], default) for path, default in table]

    def fill(obj: Obj) -> None:
        for filler in fillers:
            filler(obj)

    return fill


def _of_row(steps: list[str], default: Any) -> Fill:
    """Return a function that applies a row to an object; `steps` are those of its path."""
    is_value = isinstance(default, Unset) or not (isinstance(default, tuple) or callable(default))
    if not steps:
        return filler(default) if isinstance(default, tuple) else cast("Fill", default)
    if len(steps) == 1 and is_value:
        return _of_value(steps[0], default)
    name, fill = steps[0].rstrip("[]!"), _of_row(steps[1:], default)
    each, makes = steps[0].endswith("[]"), steps[0].endswith("!")

    def step(obj: Obj) -> None:
        found = obj.setdefault(name, {}) if makes else obj.get(name)
        for below in (found or ()) if each else (found,):
            if isinstance(below, dict):
                fill(below)

    return step


def _of_value(name: str, default: Any) -> Fill:
    empty, value = isinstance(default, Unset), default.value if isinstance(default, Unset) else default
    is_tree = isinstance(value, dict | list)

    def fill(obj: Obj) -> None:
        if name not in obj or (empty and not obj[name]):
            obj[name] = copied(value) if is_tree else value

    return fill


def by_kind(tables: Mapping[str, Table]) -> Fill:
    """Return a function that applies the table of an object's kind; other kinds stay as they are."""
    fillers = {kind: filler(table) for kind, table in tables.items()}

    def fill(obj: Obj) -> None:
        if own := fillers.get(str(obj.get("kind"))):
            own(obj)

    return fill


def members(**values: Any) -> Table:
    """Return a row for each member."""
    return tuple(values.items())
