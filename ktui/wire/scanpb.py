"""Generated scan functions: from a protobuf message to a few of its fields."""

from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

from ktui.wire.jsontext import GO_UTF8
from ktui.wire.pb import CodecError, signed64, varint
from ktui.wire.scanned import Path, Scanned, Selectable, SharedLabels, SharedStrings
from ktui.wire.schema import SchemaField, fields

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
    exec(_code(message, tuple(selectable.paths.items())), names)
    scan: ProtobufScan = names["scan"]
    return scan


@cache
def _code(message: str, paths: tuple[tuple[str, tuple[Path, ...]], ...]) -> CodeType:
    """The scan function of a message, compiled once in a process: each store has scanners of its own."""
    selectable = Selectable(dict(paths))
    variables = {path: f"f{at}" for at, path in enumerate(selectable.all_paths())}
    variables[("metadata", "name")] = "name"
    variables[("metadata", "namespace")] = "namespace"
    wanted = dict(variables)
    wanted[("metadata", "uid")] = "uid"
    wanted[("metadata", "labels")] = "labels"
    lines: list[str] = []
    defaults = dict.fromkeys(wanted.values(), "''") | {"labels": "NONE"}
    _level(message, _tree(wanted), "b", lines, defaults)
    body = "\n".join(f" {line}" for line in lines)
    text = (
        "def scan(raw, start, end):\n b = raw[start:end] + END\n"
        + "".join(f" {name} = {value}\n" for name, value in defaults.items())
        + f"{body}\n return Scanned(namespace, name, uid, labels, {_fields_dict(selectable, variables)})\n"
    )
    return compile(text, f"<scan {message}>", "exec")


def _tree(wanted: dict[Path, str]) -> Tree:
    tree: Tree = {}
    for path, variable in wanted.items():
        node = tree
        for part in path[:-1]:
            node = node.setdefault(part, {})
        node[path[-1]] = variable
    return tree


def _fields_dict(selectable: Selectable, variables: dict[Path, str]) -> str:
    items = []
    for name, paths in selectable.paths.items():
        value = " or ".join(variables[path] for path in paths) or "''"
        items.append(f"{name!r}: {value}")
    return "{" + ", ".join(items) + "}"


def _level(message: str, tree: Tree, data: str, out: list[str], defaults: dict[str, str]) -> None:
    """Append statements that scan one message, in the variable `data`, for the fields of `tree`."""
    at = f"i_{data}"
    out += [f"{at} = 0", f"t = {data}[0]"]
    for field in fields(message):
        goal = tree.get(field.name)
        if goal is None or field.has("i"):
            continue
        if isinstance(goal, str) and not isinstance(goal, dict):
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
    """Return statements that skip all fields with a lower number. `t` is the byte at `at`.

    Of the wire types that occur, only type 2 has bit 1 set.
    """
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
