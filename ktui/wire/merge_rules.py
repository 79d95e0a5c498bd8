"""What upstream's Go types say and messages do not: how fields merge, and the order of members in JSON.

`data/merge_rules.json` is made by `tools/merge_rules.py`. Server-side apply reads `keys` and `relationship`,
strategic merge patches `strategy` and `merge_key`: they differ for some fields.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec


class MergeRule(msgspec.Struct, frozen=True, array_like=True):
    """The rule of one field.

    `keys` are those of a keyed list's items, () for a set, None for an atomic list. `strategy` is a list of
    `merge`, `replace` and `retainKeys`; `merge_key` is "" for lists of plain values. `relationship` is
    `atomic` or `granular` where the field differs from its type.
    """

    keys: tuple[str, ...] | None = None
    strategy: str = ""
    merge_key: str = ""
    relationship: str = ""

    @property
    def merges(self) -> bool:
        return "merge" in self.strategy.split(",")

    @property
    def replaces(self) -> bool:
        return "replace" in self.strategy.split(",")


NO_RULE = MergeRule()


class _File(msgspec.Struct):
    atomic: frozenset[str]
    fields: dict[str, dict[str, MergeRule]]
    order: dict[str, tuple[int, ...]]


@cache
def _file() -> _File:
    data = resources.files("ktui.wire").joinpath("data/merge_rules.json").read_bytes()
    return msgspec.json.decode(data, type=_File)


def rule_of(message: str, field: str) -> MergeRule:
    """Return the rule of a field by its message and its JSON name."""
    return _file().fields.get(message, {}).get(field, NO_RULE)


def is_atomic(message: str) -> bool:
    """Return True for a struct that is owned and replaced as a whole."""
    return message in _file().atomic


def member_order(message: str) -> tuple[int, ...]:
    """Return the field numbers in the order of the struct's members; () if that is ascending."""
    return _file().order.get(message, ())
