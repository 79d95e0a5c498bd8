"""Values to test with: our own, and those that lie beside the checkout where there are any."""

import base64
import csv
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ktui.kube.resources import BUILTIN, Resource

HERE = Path(__file__).parent
SHARED = Path(os.environ.get("KTUI_SHARED", HERE.parents[3] / "shared"))


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


def conformance() -> list[Pair]:
    """All pairs; skips the test when they are not there."""
    index = SHARED / "facts" / "wire" / "open" / "index.tsv"
    if not index.exists():
        pytest.skip(f"no conformance corpus at {index.parent}")
    return list(_pairs(index))


def _pairs(index: Path) -> Iterator[Pair]:
    with index.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            path = index.parent / f"{row['name']}.{row['ext']}"
            answer = index.parent / f"{row['name']}.json"
            if not answer.exists():
                continue
            yield Pair(
                row["name"],
                path.read_bytes(),
                json.loads(answer.read_bytes()),
                int(row["release"].partition(".")[2]),
                int(row["mod_revision"]) if row["mod_revision"] else None,
                row["note"],
            )


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
