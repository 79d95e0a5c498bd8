"""Values to test with: our own, and those that real servers stored and answered."""

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ktui.kube.resources import BUILTIN, Resource
from tools.fidelity.recordings import WIRE, lines

HERE = Path(__file__).parent


class Golden(NamedTuple):
    """A stored value and what a server answers for it at revision 4711."""

    note: str
    raw: bytes
    served: dict[str, Any]


class Pair(NamedTuple):
    """A conformance pair: a stored value and the JSON of a real server."""

    name: str
    raw: bytes
    expected: Any
    release: int
    mod_revision: int | None
    note: str


@cache
def golden() -> tuple[Golden, ...]:
    lines = (HERE / "golden.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    return tuple(Golden(row["note"], base64.b64decode(row["raw"]), row["served"]) for row in rows)


@cache
def conformance() -> tuple[Pair, ...]:
    """Return all pairs."""
    rows = lines(WIRE / "pairs.jsonl.xz")
    return tuple(Pair(**{**row, "raw": base64.b64decode(row["raw"])}) for row in rows)


def resource_of(obj: dict[str, Any]) -> Resource:
    """The resource of an object: built-in, or a custom one made up for it."""
    group, _, version = obj["apiVersion"].rpartition("/")
    for built_in in BUILTIN.all():
        if (built_in.group, built_in.kind) == (group, obj["kind"]) and built_in.stored:
            return BUILTIN.find(group, version, built_in.resource) or built_in
    return Resource(
        group,
        version,
        obj["kind"].lower() + "s",
        obj["kind"],
        obj["kind"].lower(),
        True,
        storage_version=obj["apiVersion"],
        encoding="json",
        custom=True,
    )


def identical(one: Any, other: Any) -> bool:
    """Equal, with booleans told from numbers and integers from floats."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(identical, one, other))
    return bool(one == other)
