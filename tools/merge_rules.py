"""Write how fields of the built-in types merge, and the order of their members, from Go sources of the API.

usage: python tools/merge_rules.py SOURCE... [--output FILE]

SOURCE is a checkout of k8s.io/api, k8s.io/apimachinery, k8s.io/apiextensions-apiserver or
k8s.io/kube-aggregator; all four are needed. Read are struct tags (`patchStrategy`, `patchMergeKey`) and
markers (`+listType`, `+listMapKey`, `+mapType`, `+structType`), which kube-apiserver's OpenAPI has as
`x-kubernetes-*`. Only facts are kept: the names of types and fields, and their rules.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ktui.wire.schema import fields, fields_by_name, kind_messages

FILE = Path(__file__).parents[1] / "ktui" / "wire" / "data" / "merge_rules.json"
NOTICE = (
    "Merge rules of the Kubernetes API, drawn from the struct tags and markers of k8s.io/api, "
    "k8s.io/apimachinery, k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator 1.36. "
    "Copyright The Kubernetes Authors. Licensed under the Apache License, Version 2.0. "
    "Made by tools/merge_rules.py."
)
_STRUCT = re.compile(r"type (\w+) struct \{$")
_FIELD = re.compile(r"\s+(?:\w+\s+)?(?P<type>[\w.*\[\]]+)\s+`(?P<tags>[^`]*)`")
_MARKER = re.compile(r"\s*//\s*\+(\w+)=(\S+)")
_TAG = re.compile(r'(\w+):"([^"]*)"')

Markers = dict[str, list[str]]


@dataclass(frozen=True)
class Member:
    """A field of a struct."""

    name: str  # in JSON; "" if it is embedded
    type: str
    tags: dict[str, str]
    markers: Markers

    def marked(self, name: str) -> str:
        return self.markers.get(name, [""])[0]


@dataclass
class Struct:
    atomic: bool
    members: list[Member] = field(default_factory=list)


def structs_of(lines: list[str]) -> Iterator[tuple[str, Struct]]:
    """Yield the structs of one Go file, by name. Markers are those of the comment directly above."""
    markers: Markers = defaultdict(list)
    struct: Struct | None = None
    for line in lines:
        if marker := _MARKER.match(line):
            markers[marker[1]].append(marker[2])
        elif line.lstrip().startswith("//"):
            continue
        else:
            if opened := _STRUCT.match(line):
                struct = Struct(atomic="atomic" in markers["structType"])
                yield opened[1], struct
            elif line.startswith("}"):
                struct = None
            elif struct is not None and (found := _FIELD.match(line)):
                tags = dict(_TAG.findall(found["tags"]))
                name, _, options = tags.get("json", "").partition(",")
                if name or "inline" in options:
                    struct.members.append(Member(name, found["type"], tags, dict(markers)))
            markers = defaultdict(list)


def structs(sources: list[Path]) -> dict[str, Struct]:
    """Return all structs by message name: `core.v1.PodSpec`."""
    found: dict[str, Struct] = {}
    for source in sources:
        for file in sorted(source.rglob("types*.go")):
            group, version = file.parent.parts[-2:]
            if re.match(r"v\d", version):
                lines = file.read_text().splitlines()
                found |= {f"{group}.{version}.{name}": struct for name, struct in structs_of(lines)}
    return found


def list_keys(member: Member) -> list[str] | None:
    """Return the keys of a list's items; [] for a set; None: the list is atomic."""
    if kind := member.marked("listType"):
        return {"map": member.markers.get("listMapKey", []), "set": []}.get(kind)
    if "merge" not in member.tags.get("patchStrategy", "").split(","):
        return None
    key = member.tags.get("patchMergeKey")
    return [key] if key else []


def rules_of(message: str, known: dict[str, Struct]) -> dict[str, Any]:
    """Return the rules of a struct's fields, with those of embedded structs."""
    rules: dict[str, Any] = {}
    for member in known[message].members:
        if not member.name:
            embedded = message.rpartition(".")[0] + "." + member.type
            rules |= rules_of(embedded, known) if embedded in known else {}
            continue
        plain_list = member.type.startswith("[]") and member.type != "[]byte"
        is_list = plain_list or bool(member.marked("listType"))
        keys = list_keys(member) if is_list else None
        strategy, key = (member.tags.get(tag, "") for tag in ("patchStrategy", "patchMergeKey"))
        relationship = "" if is_list else member.marked("mapType") or member.marked("structType")
        rule = [keys, strategy, key, relationship]
        if rule != [None, "", "", ""]:
            rules[member.name] = rule
    return rules


def order_of(message: str, known: dict[str, Struct]) -> list[int]:
    """Return the field numbers in the order of the struct's members; [] if that is ascending.

    Fields that the struct lacks (of other releases) follow those of the number before.
    """
    names = [member.name or member.type.rpartition(".")[2] for member in known[message].members]
    ranks, last = {}, -1
    for row in fields(message):
        name = row.type.rpartition(".")[2] if row.has("i") else row.name
        last = names.index(name) if name in names else last
        ranks[row.number] = last
    order = sorted(ranks, key=lambda number: (ranks[number], number))
    return [] if order == sorted(order) else order


def reachable() -> set[str]:
    """Return the messages of all kinds and of all their fields."""
    found: set[str] = set()
    wanted = [*kind_messages(), "meta.v1.ObjectMeta"]
    while wanted:
        message = wanted.pop()
        if message not in found:
            found.add(message)
            wanted += [row.type for row in fields_by_name(message).values() if row.type]
    return found


def table(sources: list[Path]) -> dict[str, Any]:
    known = structs(sources)
    messages = sorted(message for message in reachable() if message in known)
    rules = {message: rules_of(message, known) for message in messages}
    return {
        "notice": NOTICE,
        "atomic": [message for message in messages if known[message].atomic],
        "fields": {message: found for message, found in rules.items() if found},
        "order": {message: found for message in messages if (found := order_of(message, known))},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, default=FILE)
    options = parser.parse_args()
    found = table(options.sources)
    rows = ",\n".join(f"{json.dumps(name)}:{json.dumps(rules)}" for name, rules in found["fields"].items())
    order = ",\n".join(f"{json.dumps(name)}:{json.dumps(found)}" for name, found in found["order"].items())
    head = f'"notice":{json.dumps(found["notice"])},\n"atomic":{json.dumps(found["atomic"])}'
    options.output.write_text(f'{{\n{head},\n"fields":{{\n{rows}\n}},\n"order":{{\n{order}\n}}\n}}\n')


if __name__ == "__main__":
    main()
