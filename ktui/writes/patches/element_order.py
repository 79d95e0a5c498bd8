"""The order of a merged list: that of the patch among its items, that of the live list among all others.

What the patch has and the live list lacks comes as early as both orders allow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any


def in_order_of(
    merged: list[Any], patch: list[Any], live: list[Any], identity: Callable[[Any], Hashable]
) -> list[Any]:
    """Return the items of `merged`, ordered; `identity` tells items apart."""
    wanted, there = _places(patch, identity), _places(live, identity)
    last = len(merged) + len(live)
    mine = sorted((item for item in merged if identity(item) in wanted), key=lambda i: wanted[identity(i)])
    others = sorted(
        (item for item in merged if identity(item) not in wanted), key=lambda i: there.get(identity(i), last)
    )
    return _merged(others, mine, lambda item: there.get(identity(item)))


def _places(items: list[Any], identity: Callable[[Any], Hashable]) -> dict[Hashable, int]:
    places: dict[Hashable, int] = {}
    for place, item in enumerate(items):
        places.setdefault(identity(item), place)
    return places


def _merged(left: list[Any], right: list[Any], place: Callable[[Any], int | None]) -> list[Any]:
    """Return both lists as one: an item of `left` comes first only if it is known to be before `right`'s."""
    found: list[Any] = []
    at = 0
    for item in right:
        before = place(item)
        while before is not None and at < len(left):
            here = place(left[at])
            if here is None or here >= before:
                break
            found.append(left[at])
            at += 1
        found.append(item)
    return found + left[at:]
