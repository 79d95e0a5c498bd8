"""Generated scan functions: from a protobuf message to the few fields that selectors need, and these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

import msgspec

from ktui.wire.jsontext import GO_UTF8, utf8
from ktui.wire.pb import CodecError, signed64, varint, walk
from ktui.wire.schema import SchemaField, fields

Path = tuple[str, ...]

_ELSEWHERE: dict[tuple[str, str], tuple[Path, ...]] = {
    ("Pod", "spec.host"): (),
    ("Pod", "status.podIP"): (("status", "podIPs", "ip"),),
    ("Pod", "status.podIPs"): (),
    ("Job", "status.successful"): (("status", "succeeded"),),
    ("Event", "source"): (("source", "component"), ("reportingComponent",)),
    ("Event", "reportingController"): (("reportingComponent",),),
}
"""(kind, selector) → the paths to try in order; none if it is asked for as another one, or has no value.

Most selectors are themselves the JSON path of their value. These are the others, from `ToSelectableFields` of
each registry in kube-apiserver 1.36. A repeated field in a path means its first element.
"""


Selectable = dict[str, tuple[Path, ...]]
"""The field selectors of a resource, each with the paths of its value."""


def all_paths(selectable: Selectable) -> list[Path]:
    """Return every path once."""
    return list(dict.fromkeys(path for paths in selectable.values() for path in paths))


def selectable_of(resource: Resource) -> Selectable:
    """Return the field selectors of a resource that have values, always with metadata.name and namespace.

    Pods have ten: with an eleventh each dict would take 190 bytes more.
    """
    names = dict.fromkeys(("metadata.name", "metadata.namespace", *resource.field_selectors))
    return {name: paths for name in names if (paths := _paths(resource, name))}


def _paths(resource: Resource, name: str) -> tuple[Path, ...]:
    special = None if resource.custom else _ELSEWHERE.get((resource.kind, name))
    if special is not None:
        return special
    parts = tuple(name.lstrip(".").split("."))
    if resource.kind == "Event" and not resource.custom and parts[0] == "regarding":
        # Stored as a core v1 Event, whichever group serves it.
        parts = ("involvedObject", *parts[1:])
    return (parts,)


def combined(values: dict[Path, str], selectable: Selectable) -> dict[str, str]:
    """Return each field selector's first non-empty value."""
    return {
        name: next((value for path in paths if (value := values.get(path, ""))), "")
        for name, paths in selectable.items()
    }


def as_selected(value: object) -> str:
    """Return a JSON value as text for field selectors; "" for objects and arrays."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""


_MOST = 20_000


class Scanned(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """An object's fields that filters need. Objects with equal labels share one dict: never change it."""

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    fields: dict[str, str]


class SharedStrings(dict[bytes, str]):
    """A cache for texts of few values in many objects: node names, phases, namespaces."""

    def __missing__(self, encoded: bytes) -> str:
        if len(self) > _MOST:
            self.clear()
        text = self[encoded] = utf8(encoded)
        return text


class SharedLabels(dict[bytes, dict[str, str]]):
    """A cache for label sets, which the pods of a ReplicaSet share: encoded entries → one dict."""

    def __missing__(self, run: bytes) -> dict[str, str]:
        if len(self) > _MOST:
            self.clear()
        labels = self[run] = dict(_entry(entry) for _, _, entry in walk(run) if isinstance(entry, bytes))
        return labels


def _entry(encoded: bytes) -> tuple[str, str]:
    parts = {number: part for number, _, part in walk(encoded) if isinstance(part, bytes)}
    return utf8(parts.get(1, b"")), utf8(parts.get(2, b""))


ProtobufScan = Callable[[bytes, int, int], Scanned]
"""(value, start of the message, end of the message) → the scanned fields."""

Tree = dict[str, Any]
"""JSON name → subtree, or the name of the variable for the value."""

END = b"\xff\x7f"
"""Appended to a message: a tag greater than all others, so that loops need no bounds check."""


def compile_scan(message: str, selectable: Selectable) -> ProtobufScan:
    """Return the function that scans a message for the selectors of a resource."""
    names: dict[str, Any] = {
        "END": END,
        "NONE": {},
        "Scanned": Scanned,
        "shared": SharedStrings().__getitem__,
        "labels_of": SharedLabels().__getitem__,
        "skip": _skip,
        "number": _number,
    }
    exec(_code(message, tuple(selectable.items())), names)
    scan: ProtobufScan = names["scan"]
    return scan


@cache
def _code(message: str, paths: tuple[tuple[str, tuple[Path, ...]], ...]) -> CodeType:
    """The scan function of a message, compiled once in a process: each store has scanners of its own."""
    variables = {path: f"f{at}" for at, path in enumerate(all_paths(dict(paths)))}
    variables[("metadata", "name")] = "name"
    variables[("metadata", "namespace")] = "namespace"
    wanted = variables | {("metadata", "uid"): "uid", ("metadata", "labels"): "labels"}
    lines: list[str] = []
    defaults = dict.fromkeys(wanted.values(), "''") | {"labels": "NONE"}
    _level(message, tree_of(wanted), "b", lines, defaults)
    body = "\n".join(f" {line}" for line in lines)
    values = ((name, " or ".join(variables[path] for path in tried)) for name, tried in paths)
    shown = ", ".join(f"{name!r}: {value}" for name, value in values)
    text = (
        "def scan(raw, start, end):\n b = raw[start:end] + END\n"
        + "".join(f" {name} = {value}\n" for name, value in defaults.items())
        + f"{body}\n return Scanned(namespace, name, uid, labels, {{{shown}}})\n"
    )
    return compile(text, f"<scan {message}>", "exec")


def tree_of(leaves: Mapping[Path, Any]) -> Tree:
    tree: Tree = {}
    for path, leaf in leaves.items():
        node = tree
        for part in path[:-1]:
            node = node.setdefault(part, {})
        node.setdefault(path[-1], leaf)
    return tree


def _level(message: str, tree: Tree, data: str, out: list[str], defaults: dict[str, str]) -> None:
    """Append statements that scan one message, in the variable `data`, for the fields of `tree`."""
    at = f"i_{data}"
    out += [f"{at} = 0", f"t = {data}[0]"]
    for field in fields(message):
        goal = tree.get(field.name)
        if goal is None or field.has("i"):
            continue
        if isinstance(goal, str):
            defaults[goal] = _default(field, goal)
        out += _skip_to(field, data, at)
        out += _take(field, goal, data, at, defaults)


def _default(field: SchemaField, variable: str) -> str:
    if variable == "labels":
        return "NONE"
    if field.has("p") or field.kind == "string":
        return "''"
    return {"bool": "'false'", "int32": "'0'", "int64": "'0'"}.get(field.kind, "''")


def _skip_to(field: SchemaField, data: str, at: str) -> list[str]:
    """Return statements that skip lower fields; `t` is the byte at `at`. Only wire type 2 has bit 1 set."""
    tag = field.number << 3 | field.wire_type
    if tag < 128:
        return _skip_while(f"t < {tag}", 1, data, at)
    low, high = tag & 127 | 128, tag >> 7
    lower = f"t < {low} and {data}[{at} + 1] == {high}" + (
        f" or {data}[{at} + 1] < {high}" if high > 1 else ""
    )
    return _skip_while("t < 128", 1, data, at) + _skip_while(lower, 2, data, at)


def _skip_while(condition: str, width: int, data: str, at: str) -> list[str]:
    return [
        f"while {condition}:",
        f" n = {data}[{at} + {width}]",
        " if n < 128:",
        f"  {at} += n + {width + 1} if t & 2 else {width + 1}",
        f" elif t & 2 and {data}[{at} + {width + 1}] < 128:",
        f"  {at} += n + {data}[{at} + {width + 1}] * 128 - {126 - width}",
        f" else: {at} = skip({data}, {at})",
        f" t = {data}[{at}]",
    ]


def _take(field: SchemaField, goal: Any, data: str, at: str, defaults: dict[str, str]) -> list[str]:
    tag = field.number << 3 | field.wire_type
    width = 1 if tag < 128 else 2
    here = f"t == {tag}" if width == 1 else f"t == {tag & 127 | 128} and {data}[{at} + 1] == {tag >> 7}"
    if goal == "labels":
        return [
            f"if {here}:",
            f" k = {at}",
            f" while {here}:",
            f"  n = {data}[{at} + 1]",
            f"  {at} = {at} + n + 2 if n < 128 else skip({data}, {at})",
            f"  t = {data}[{at}]",
            f" labels = labels_of({data}[k:{at}])",
        ]
    read = [f" n = {data}[{at} + {width}]"]
    read += [f" if n < 128: {at} += {width + 1}", f" else: n, {at} = number({data}, {at} + {width})"]
    if isinstance(goal, dict):
        inner = f"{data}{field.number}"
        below: list[str] = []
        _level(field.type, goal, inner, below, defaults)
        taken = [f" {inner} = {data}[{at}:{at} + n] + END", f" {at} += n"] + [f" {line}" for line in below]
    elif field.wire_type == 2:
        value = f"{data}[{at}:{at} + n]"
        unique = goal in ("name", "uid")
        text = f"{value}.decode('utf-8', '{GO_UTF8}')" if unique else f"shared({value})"
        taken = [f" {goal} = {text}", f" {at} += n"]
    elif field.kind == "bool":
        taken = [f" {goal} = 'true' if n else 'false'"]
    else:
        taken = [f" {goal} = str(n)"]
    return [f"if {here}:", *read, *taken, f" t = {data}[{at}]"]


def _skip(data: bytes, at: int) -> int:
    tag, at = varint(data, at)
    match tag & 7:
        case 0:
            return varint(data, at)[1]
        case 2:
            size, at = varint(data, at)
            return at + size
        case 1:
            return at + 8
        case 5:
            return at + 4
        case wire:
            raise CodecError(f"wire type {wire} occurs in no Kubernetes value")


def _number(data: bytes, at: int) -> tuple[int, int]:
    value, at = varint(data, at)
    return signed64(value), at


if TYPE_CHECKING:
    from ktui.kube.resources import Resource
