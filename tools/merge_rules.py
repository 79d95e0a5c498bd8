"""Write how fields of the built-in types merge, their order and their Go types, from Go sources of the API.

usage: python tools/merge_rules.py SOURCE... [--output FILE]

SOURCE is a checkout of k8s.io/api, k8s.io/apimachinery, k8s.io/apiextensions-apiserver or
k8s.io/kube-aggregator; all four are needed. Read are struct tags (`patchStrategy`, `patchMergeKey`) and
markers (`+listType`, `+listMapKey`, `+mapType`, `+structType`), which kube-apiserver's OpenAPI has as
`x-kubernetes-*`. Only facts are kept: the names of types and fields, and their rules. Go types are kept where
the messages do not tell them: `v1.PullPolicy` of a string.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ktui.wire.misfits import OWN_DECODERS, plain_type
from ktui.wire.schema import fields, kind_messages

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
_IMPORT = re.compile(r'(?:import)?\s+(?:(\w+) )?"([\w./-]+)"$')
_ALIAS = re.compile(r"type (\w+) = ([\w.]+)$")
_WORD = re.compile(r"(?<![\w.])(?:\w+\.)?[A-Z]\w*")
_BYTE = re.compile(r"\bbyte\b")
_TAG = re.compile(r'(\w+):"([^"]*)"')

Markers = dict[str, list[str]]


@dataclass(frozen=True)
class Member:
    """A field of a struct."""

    name: str  # in JSON; "" if it is embedded
    type: str  # as the file has it
    go_type: str  # as Go prints it: without pointer, named by its package
    tags: dict[str, str]
    markers: Markers

    def marked(self, name: str) -> str:
        return self.markers.get(name, [""])[0]


@dataclass
class Struct:
    atomic: bool
    members: list[Member] = field(default_factory=list)


def type_names(lines: list[str], version: str) -> Callable[[str], str]:
    """Return what makes a type of a Go file the text that Go prints: `*PullPolicy` → `v1.PullPolicy`."""
    imports = [found.groups() for line in lines if (found := _IMPORT.match(line))]
    packages = {alias or path.rpartition("/")[2]: path.rpartition("/")[2] for alias, path in imports}
    aliases = dict(found.groups() for line in lines if (found := _ALIAS.match(line)))

    def whole(word: str) -> str:
        package, _, name = aliases.get(word, word).rpartition(".")
        return f"{packages.get(package, package or version)}.{name}"

    return lambda text: _BYTE.sub("uint8", _WORD.sub(lambda found: whole(found[0]), text.lstrip("*")))


def structs_of(lines: list[str], version: str) -> Iterator[tuple[str, Struct]]:
    """Yield the structs of one Go file, by name. Markers are those of the comment directly above."""
    go_type = type_names(lines, version)
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
                    kind = found["type"]
                    struct.members.append(Member(name, kind, go_type(kind), tags, dict(markers)))
            markers = defaultdict(list)


def structs(sources: list[Path]) -> dict[str, Struct]:
    """Return all structs by message name: `core.v1.PodSpec`."""
    found: dict[str, Struct] = {}
    for source in sources:
        for file in sorted(source.rglob("types*.go")):
            group, version = file.parent.parts[-2:]
            if re.match(r"v\d", version):
                lines = file.read_text().splitlines()
                found |= {f"{group}.{version}.{name}": struct for name, struct in structs_of(lines, version)}
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


def types_of(message: str, known: dict[str, Struct]) -> dict[str, str]:
    """Return the Go types of a struct's own fields that their messages do not tell."""
    rows = {row.name: row for row in fields(message) if row.repeated or row.kind not in OWN_DECODERS}
    members = (member for member in known[message].members if member.name in rows)
    return {m.name: m.go_type for m in members if m.go_type != plain_type(rows[m.name])}


def reachable() -> set[str]:
    """Return the messages of all kinds, of all their fields and of the structs that they embed."""
    found: set[str] = set()
    wanted = [*kind_messages(), "meta.v1.ObjectMeta"]
    while wanted:
        message = wanted.pop()
        if message not in found:
            found.add(message)
            wanted += [row.type for row in fields(message) if row.type]
    return found


def table(sources: list[Path]) -> dict[str, Any]:
    known = structs(sources)
    messages = sorted(message for message in reachable() if message in known)
    rules = {message: rules_of(message, known) for message in messages}
    types = {message: types_of(message, known) for message in messages}
    return {
        "notice": NOTICE,
        "atomic": [message for message in messages if known[message].atomic],
        "fields": {message: found for message, found in rules.items() if found},
        "order": {message: found for message in messages if (found := order_of(message, known))},
        "types": {message: found for message, found in types.items() if found},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, default=FILE)
    options = parser.parse_args()
    found = table(options.sources)
    parts = [f'"{name}":{json.dumps(found[name])}' for name in ("notice", "atomic")]
    parts += [f'"{name}":{{\n{_rows(found[name])}\n}}' for name in ("fields", "order", "types")]
    options.output.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def _rows(by_message: dict[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(name)}:{json.dumps(row)}" for name, row in by_message.items())


if __name__ == "__main__":
    main()
