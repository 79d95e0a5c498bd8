"""Parse YAML event by event, and convert it as sigs.k8s.io/yaml converts YAML to JSON.

libyaml's parser keeps its state on the heap; recursive code (PyYAML's composer and
constructors) is not used. Aliases are expanded with the limits of go-yaml v2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml import cyaml

from ktui.documents.jsonreader import MAX_DUPLICATES
from ktui.documents.limits import (
    MAX_CONTAINERS,
    MAX_DEPTH,
    MAX_EXPANDED_BYTES,
    DocumentError,
    TooLarge,
    too_many_containers,
)
from ktui.documents.yamlscalars import (
    MERGE,
    Scalar,
    json_number,
    key_text,
    plain_scalar,
    shown_key,
    tagged_scalar,
)

_NO_KEY = object()
# go-yaml v2: the allowed share of decoded nodes from aliases falls from 99 % to 10 %.
_RATIO_FROM, _RATIO_TO = 400_000, 4_000_000
_MARGIN = 4  # bytes that a node takes in JSON besides its text
_MAX_TAG_DIRECTIVES = 100  # libyaml compares each with all others
_TOO_DEEP = f"exceeded max depth of {MAX_DEPTH}"
_TOO_DEEP_FOR_LIBYAML = "exceeded maximum nesting depth"  # its own limit, since PyYAML 6.0.4

_TAG_DIRECTIVES = re.compile(rb"^(?:%%TAG\b[^\r\n]*+\s++){%d}" % _MAX_TAG_DIRECTIVES, re.MULTILINE)


@dataclass(slots=True)
class _Node:
    """A complete value: the number of nodes it decodes to, its bytes, its levels, and its line (from 0)."""

    value: Any
    nodes: int
    size: int
    height: int
    line: int
    containers: int


@dataclass(slots=True)
class _Open:
    """A mapping or sequence whose end has not been read; `key` is that of the next value."""

    value: dict[str, Any] | list[Any]
    anchor: str | None
    line: int
    nodes: int = 1
    size: int = _MARGIN
    height: int = 0
    containers: int = 1
    key: Any = _NO_KEY
    merges: bool = False
    seen: set[Any] = field(default_factory=set)


def read_yaml(data: bytes, *, duplicates: list[str] | None = None) -> Any:
    """Return the first document in `data`, with JSON's types only. Raises DocumentError.

    A text for each duplicate key of a mapping is appended to `duplicates`; the last value counts.
    """
    return _Reader(data, duplicates).document()


class _Reader:
    def __init__(self, data: bytes, duplicates: list[str] | None) -> None:
        self._data = data
        self._parser: Any = cyaml.CParser(data)  # type: ignore[attr-defined]
        self._duplicates = duplicates
        self._open: list[_Open] = []
        self._anchors: dict[str, _Node | None] = {}
        self._nodes = self._from_aliases = self._containers = 0
        self._document: Any = None

    def document(self) -> Any:
        if self._data.count(b"%TAG") > _MAX_TAG_DIRECTIVES and _TAG_DIRECTIVES.search(self._data):
            raise TooLarge(f"limit is {_MAX_TAG_DIRECTIVES} %TAG directives in one document")
        try:
            for event in iter(self._parser.get_event, None):
                if isinstance(event, yaml.DocumentEndEvent):
                    break
                self._handle(event)
        except yaml.MarkedYAMLError as error:
            problem = _TOO_DEEP if error.problem == _TOO_DEEP_FOR_LIBYAML else error.problem
            raise DocumentError(f"yaml: {_place(error)}{problem}") from None
        except yaml.reader.ReaderError as error:
            raise DocumentError(f"yaml: {error.reason}") from None
        finally:
            self._parser.dispose()
        return self._document

    def _handle(self, event: Any) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._begin({}, event)
            case yaml.SequenceStartEvent():
                self._begin([], event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._end()
            case yaml.AliasEvent():
                self._alias(event)

    def _scalar(self, event: Any) -> None:
        text: str = event.value
        self._count_nodes(1, aliased=0)
        plain = event.implicit[0]
        line = event.start_mark.line
        if self._expects_key() and text == "<<" and (plain or event.tag == MERGE):
            self._open[-1].key, self._open[-1].merges = "<<", True
            return
        value = tagged_scalar(event.tag, text) if event.tag else plain_scalar(text) if plain else text
        node = _Node(value, 1, len(text) + _MARGIN, 0, line, 0)
        if event.anchor:
            self._anchors[event.anchor] = node
        self._add(node)

    def _begin(self, value: dict[str, Any] | list[Any], event: Any) -> None:
        self._count_nodes(1, aliased=0)
        if len(self._open) >= MAX_DEPTH:
            raise DocumentError(f"yaml: line {event.start_mark.line + 1}: {_TOO_DEEP}")
        self._count_containers(1)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._open.append(_Open(value, event.anchor, event.start_mark.line))

    def _end(self) -> None:
        done = self._open.pop()
        node = _Node(done.value, done.nodes, done.size, done.height + 1, done.line, done.containers)
        if done.anchor:
            self._anchors[done.anchor] = node
        self._add(node)

    def _alias(self, event: Any) -> None:
        name = event.anchor
        if name not in self._anchors:
            raise DocumentError(f"yaml: unknown anchor '{name}' referenced")
        target = self._anchors[name]
        if target is None:
            raise DocumentError(f"yaml: anchor '{name}' value contains itself")
        if len(self._open) + target.height > MAX_DEPTH:
            raise DocumentError(f"yaml: {_TOO_DEEP}")
        self._count_nodes(1 + target.nodes, aliased=target.nodes)
        self._count_containers(target.containers)
        line = event.start_mark.line
        self._add(_Node(target.value, 1 + target.nodes, target.size, target.height, line, target.containers))

    def _count_nodes(self, decoded: int, aliased: int) -> None:
        """Count nodes as go-yaml does, against aliases that would exhaust memory. Raises DocumentError."""
        self._nodes += decoded
        self._from_aliases += aliased
        if aliased and self._from_aliases > 100 and self._nodes > 1000:
            beyond = min(max(self._nodes - _RATIO_FROM, 0) / (_RATIO_TO - _RATIO_FROM), 1.0)
            if self._from_aliases / self._nodes > 0.99 - 0.89 * beyond:
                raise DocumentError("yaml: document contains excessive aliasing")

    def _count_containers(self, more: int) -> None:
        self._containers += more
        if self._containers > MAX_CONTAINERS:
            raise too_many_containers()

    def _expects_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is _NO_KEY

    def _add(self, node: _Node) -> None:
        """Add a complete value to its parent."""
        if not self._open:
            self._document = _in_json(node.value)
            return
        outer = self._open[-1]
        outer.nodes += node.nodes
        outer.size += node.size
        outer.height = max(outer.height, node.height)
        outer.containers += node.containers
        if outer.size > MAX_EXPANDED_BYTES:
            raise TooLarge(f"limit is {MAX_EXPANDED_BYTES} with aliases written out")
        if isinstance(outer.value, list):
            outer.value.append(_in_json(node.value))
        elif outer.key is _NO_KEY:
            if isinstance(node.value, dict | list):
                raise DocumentError(f"yaml: invalid map key: {_go_syntax(node.value)}")
            outer.key = node.value
        else:
            self._set(outer, outer.value, node)
            outer.key, outer.merges = _NO_KEY, False

    def _set(self, outer: _Open, members: dict[str, Any], node: _Node) -> None:
        if outer.merges:
            self._merge(outer, members, node)
            return
        self._note_key(outer, outer.key, node.line)
        key = outer.key
        if key is None:
            raise DocumentError(
                f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {_go_syntax(node.value)}"
            )
        members[key_text(key)] = _in_json(node.value)

    def _merge(self, outer: _Open, members: dict[str, Any], node: _Node) -> None:
        """Merge (`<<`) the members of one mapping or of several; the first mapping takes precedence."""
        sources = reversed(node.value) if isinstance(node.value, list) else [node.value]
        for source in sources:
            if not isinstance(source, dict):
                raise DocumentError("yaml: map merge requires map or sequence of maps as the value")
            for name, value in source.items():
                self._note_key(outer, name, node.line)
                members[name] = value

    def _note_key(self, outer: _Open, key: Scalar, line: int) -> None:
        if self._duplicates is None:
            return
        mark = (type(key), key)
        if mark in outer.seen and len(self._duplicates) < MAX_DUPLICATES:
            self._duplicates.append(f"line {line + 1}: key {shown_key(key)} already set in map")
        outer.seen.add(mark)


def _in_json(value: Any) -> Any:
    return json_number(value) if isinstance(value, float) else value


def _go_syntax(value: Any) -> str:
    """Return a value in Go's %#v format; for objects and lists only the type."""
    if isinstance(value, dict):
        return "map[interface {}]interface {}{...}"
    if isinstance(value, list):
        return "[]interface {}{...}"
    return "interface {}(nil)" if value is None else shown_key(value)


def _place(error: yaml.MarkedYAMLError) -> str:
    """Return the line as go-yaml does: counted from 0 except in its scanner's errors, and without line 0."""
    problem, context = (mark.line if mark else 0 for mark in (error.problem_mark, error.context_mark))
    line = problem + isinstance(error, yaml.scanner.ScannerError) if problem else context
    return f"line {line}: " if line else ""
