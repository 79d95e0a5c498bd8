"""Derive the stored form of an object from another: as the server stored `a`, it would store `b`."""

from __future__ import annotations

import re
import uuid
from typing import Any

import msgspec

from ktui.workloads.demo.objects import Create, Json

# A key or a value of a list's item in managed fields: k:{"ip":"10.64.0.2"}, v:"10.64.0.0/24".
_QUOTED = re.compile(r'\\"([^"\\]*)\\"')


class NotAlike(Exception):
    """The objects differ in more than texts and numbers, so one cannot be derived from the other."""


def copy_of(stored: Json, example: Create, wanted: Create) -> Json:
    """Return the object that the server would store for `wanted`; it stored the `alike` object `example` as
    `stored`.

    The copy has its own uid and the example's times. Members that the server omitted in the example are
    omitted in the copy. Raises NotAlike.
    """
    changed: dict[str, str | None] = {}
    copied: Json = _carried(stored, _whole(example), _whole(wanted), changed)
    metadata = {**copied["metadata"], "uid": str(uuid.uuid4())}
    if "managedFields" in metadata:
        metadata["managedFields"] = _renamed(metadata["managedFields"], changed)
    return {**copied, "metadata": metadata}


def _whole(item: Create) -> Json:
    return item.body if item.status is None else {**item.body, "status": item.status}


def _carried(stored: Any, sent: Any, other: Any, changed: dict[str, str | None]) -> Any:
    """Return `stored` with the leaves of `other` instead of `sent`'s; add texts that differ to `changed`."""
    if sent == other:
        return stored
    if isinstance(sent, dict) and isinstance(other, dict) and isinstance(stored, dict):
        if sent.keys() != other.keys():
            raise NotAlike
        return {
            name: _carried(value, sent[name], other[name], changed) if name in sent else value
            for name, value in stored.items()
        }
    if isinstance(sent, list) and isinstance(other, list) and isinstance(stored, list):
        if not len(sent) == len(other) == len(stored):
            raise NotAlike
        return [_carried(*each, changed) for each in zip(stored, sent, other, strict=True)]
    if stored != sent or type(sent) is not type(other):
        raise NotAlike
    if isinstance(sent, str) and changed.setdefault(sent, other) != other:
        changed[sent] = None  # it corresponds to several texts
    return other


def _renamed(fields: list[Json], changed: dict[str, str | None]) -> list[Json]:
    """Return managed fields with the copy's values in the keys of list items."""

    def renamed(found: re.Match[str]) -> str:
        name = changed.get(found[1], found[1])
        if name is None:
            raise NotAlike
        return f'\\"{name}\\"'

    copied: list[Json] = msgspec.json.decode(_QUOTED.sub(renamed, msgspec.json.encode(fields).decode()))
    return copied
