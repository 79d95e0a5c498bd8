"""A stored object as the example of others: what the server makes of `b`, from what it made of `a`."""

from __future__ import annotations

import re
import uuid
from typing import Any

import msgspec

from ktui.workloads.demo.objects import Create, Json

# A key or a value of a list's member in managed fields: k:{"ip":"10.64.0.2"}, v:"10.64.0.0/24".
_QUOTED = re.compile(r'\\"([^"\\]*)\\"')


class NotAlike(Exception):
    """The objects differ in more than their texts and numbers: this one is no copy of the example."""


def copy_of(stored: Json, example: Create, wanted: Create) -> Json:
    """The object that the server would store for `wanted`, which is `alike` the `example` stored as `stored`.

    The copy has a uid of its own and the example's times. What the server left out of the example it
    leaves out of the copy. Raises NotAlike.
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
    """`stored` with `other`'s leaves in place of those of `sent`; adds texts that differ to `changed`."""
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
        changed[sent] = None  # it stands for several texts
    return other


def _renamed(fields: list[Json], changed: dict[str, str | None]) -> list[Json]:
    """Managed fields whose members' keys have the copy's values."""

    def renamed(found: re.Match[str]) -> str:
        name = changed.get(found[1], found[1])
        if name is None:
            raise NotAlike
        return f'\\"{name}\\"'

    copied: list[Json] = msgspec.json.decode(_QUOTED.sub(renamed, msgspec.json.encode(fields).decode()))
    return copied
