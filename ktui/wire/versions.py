"""Convert an object to another version of its group.

Three ways, tried in this order: versions whose messages have the same fields need no change; Events and
HorizontalPodAutoscalers have their own rules; any other object is converted if the wanted version has each of
its fields.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from ktui.wire import events, hpa
from ktui.wire.schema import fields, message_of

Obj = dict[str, Any]

_RULES: dict[tuple[str, str, str], Callable[[Obj], Obj]] = {
    ("Event", "v1", "events.k8s.io/v1"): events.to_events_group,
    ("Event", "events.k8s.io/v1", "v1"): events.to_core,
    ("HorizontalPodAutoscaler", "autoscaling/v2", "autoscaling/v1"): hpa.to_v1,
    ("HorizontalPodAutoscaler", "autoscaling/v1", "autoscaling/v2"): hpa.to_v2,
}


def convert(stored: str, kind: str, wanted: str, obj: Obj) -> Obj | None:
    """An object of version `stored` as version `wanted`, with its apiVersion; None if no rule applies."""
    rule = _RULES.get((kind, stored, wanted))
    if rule is None:
        return {**obj, "apiVersion": wanted} if same_fields(stored, wanted, kind) else None
    return {**rule(obj), "apiVersion": wanted}


def same_fields(stored: str, wanted: str, kind: str) -> bool:
    """Return True if two versions of a kind are the same message except for its name."""
    one, other = message_of(stored, kind), message_of(wanted, kind)
    return one is not None and other is not None and _alike(one, other)


@cache
def _alike(one: str, other: str) -> bool:
    return _compare(one, other, set())


def _compare(one: str, other: str, seen: set[tuple[str, str]]) -> bool:
    if one == other or (one, other) in seen:
        return True
    seen.add((one, other))
    left, right = fields(one), fields(other)
    if len(left) != len(right):
        return False
    for mine, theirs in zip(left, right, strict=True):
        if msgspec.structs.replace(theirs, type=mine.type) != mine:
            return False
        if mine.type and not _compare(mine.type, theirs.type, seen):
            return False
    return True
