"""Helpers of the update rules: a field of a tree, equality of two fields, the error for an invalid one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any

from ktui.kube.fielderrors import FieldError, forbidden, invalid
from ktui.kube.json_trees import Obj
from ktui.wire.schema import fields_by_name
from ktui.writes.validation.internal_types import internal

Rule = Callable[[Obj, Obj], Iterable[FieldError]]
"""(stored object, wanted object), both with their defaults → errors."""

Show = Callable[[Any], Any]

IMMUTABLE = "field is immutable"


def at(obj: Obj, path: str) -> Any:
    """Return the member at a path like `spec.selector`, None if it is missing."""
    value: Any = obj
    for name in path.split("."):
        value = (value or {}).get(name)
    return value


def spec_of(obj: Obj) -> Obj:
    spec: Obj = obj.get("spec") or {}
    return spec


def without(obj: Obj | None, *names: str) -> Obj:
    """Return the object without these members."""
    return {name: value for name, value in (obj or {}).items() if name not in names}


def same(one: Any, other: Any) -> bool:
    """Compare semantically: an empty list or map equals a missing one."""
    return bool(one == other) or all(value is None or value in ([], {}) for value in (one, other))


def differs(message: str, old: Obj, new: Obj) -> bool:
    """Return True if a member of a struct has changed; an empty struct behind a pointer is no missing one."""
    pointers = _pointers(message)
    return any(
        old.get(name) != new.get(name) if name in pointers else not same(old.get(name), new.get(name))
        for name in old.keys() | new.keys()
    )


@cache
def _pointers(message: str) -> frozenset[str]:
    known = fields_by_name(message).values()
    return frozenset(field.name for field in known if field.kind == "message" and field.has("p"))


def unchanged(old: Any, new: Any, field: str, show: Show | str = "") -> list[FieldError]:
    """Apply upstream's ValidateImmutableField.

    `show` returns a value in Go's format, if that differs, or is the message of an internal type.
    """
    if same(old, new):
        return []
    if callable(show):
        new = show(new)
    return [invalid(field, internal(new, show) if isinstance(show, str) and show else new, IMMUTABLE)]


def fixed(*paths: str, texts: Collection[str] = (), show: Show | str = "") -> Rule:
    """Return a rule by which none of these fields may change; a missing one of `texts` is shown as ""."""

    def value(obj: Obj, path: str) -> Any:
        found = at(obj, path)
        return "" if found is None and path in texts else found

    def rule(old: Obj, new: Obj) -> Iterator[FieldError]:
        for path in paths:
            yield from unchanged(value(old, path), value(new, path), path, show)

    return rule


def kept(*names: str) -> Rule:
    """Return a rule by which no update may change these members."""

    def rule(old: Obj, new: Obj) -> list[FieldError]:
        changed = [name for name in names if not same(old.get(name), new.get(name))]
        return [forbidden(name, f"updates to {name} are forbidden.") for name in changed]

    return rule


def all_of(*rules: Rule) -> Rule:
    return lambda old, new: [error for rule in rules for error in rule(old, new)]
