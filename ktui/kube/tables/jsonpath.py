"""The JSONPath of additionalPrinterColumns and selectableFields.

Steps: `.name` (`\\.` for a dot in it), `.*`, `['name']`, `[0]`, `[-1]`, `[1:3]`,
`[*]` and filters `[?(@.type=='Ready')]` with ==, !=, <, <=, >, >= or none (exists).
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ktui.kube.text_cache import cached_by_text

Step = Callable[[Any], Iterable[Any]]

_NAME = re.compile(r"\.((?:[^.\[\\]|\\.)+)")
_BRACKET = re.compile(r"\[((?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\]'\"])*)\]")
_OPERATOR = re.compile("==|!=|<=|>=|<|>")
_SLICE = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip


class JSONPathError(ValueError):
    """The path is not valid or not supported."""


def find(path: str, value: Any) -> Iterator[Any]:
    """Yield all values at `path`, none where members are missing; raise JSONPathError."""
    found: Iterable[Any] = (value,)
    for step in _steps(path):
        found = [hit for base in found for hit in step(base)]
    yield from found


def first(path: str, value: Any) -> Any:
    """Return the first value at `path`, or None (also if the path is not a JSONPath)."""
    try:
        return next(find(path, value), None)
    except JSONPathError:
        return None


@cached_by_text(maxsize=1024)
def _steps(path: str) -> tuple[Step, ...]:
    steps: list[Step] = []
    text = path.strip()
    text = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    text = text.removeprefix("$")
    at = 0
    while at < len(text):
        if match := _NAME.match(text, at):
            name = re.sub(r"\\(.)", r"\1", match[1])
            steps.append(_every if name == "*" else _member(name))
        elif match := _BRACKET.match(text, at):
            steps.append(_bracket(match[1].strip()))
        else:
            raise JSONPathError(f"{path!r} is not understood from {text[at:]!r} on")
        at = match.end()
    return tuple(steps)


def _bracket(inside: str) -> Step:
    if inside == "*":
        return _every
    if inside[:1] in ("'", '"'):
        return _member(re.sub(r"\\(.)", r"\1", inside[1:-1]))
    if inside.startswith("?(") and inside.endswith(")"):
        return _condition(inside[2:-1].strip())
    if bounds := _SLICE.fullmatch(inside):
        part = slice(*(int(n) if n else None for n in bounds.groups()))
        return lambda value: value[part] if isinstance(value, list) else ()
    if re.fullmatch(r"-?\d+", inside):
        return _index(int(inside))
    raise JSONPathError(f"[{inside}] is not understood")


def _condition(text: str) -> Step:
    """Read `@.type=='Ready'`, or without a comparison `@.type`; in steps that do not backtrack."""
    if not text.startswith(("@.", "@[")):
        raise JSONPathError(f"[?({text})] is not understood")
    if (found := _OPERATOR.search(text, 2)) and (literal := text[found.end() :].lstrip()):
        return _where(text[1 : found.start()].rstrip(), found[0], literal)
    return _where(text[1:], None, None)


def _member(name: str) -> Step:
    def step(value: Any) -> Iterable[Any]:
        return (value[name],) if isinstance(value, Mapping) and name in value else ()

    return step


def _every(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else ()


def _index(at: int) -> Step:
    def step(value: Any) -> Iterable[Any]:
        inside = isinstance(value, list) and -len(value) <= at < len(value)
        return (value[at],) if inside else ()

    return step


def _where(path: str, comparison: str | None, literal: str | None) -> Step:
    wanted = _literal(literal) if literal is not None else None

    def keeps(item: Any) -> bool:
        found = list(find(path, item))
        if comparison is None:
            return bool(found)
        try:
            return bool(found) and _COMPARE[comparison](found[0], wanted)
        except TypeError:
            return False

    return lambda value: [item for item in _every(value) if keeps(item)]


def _literal(text: str) -> Any:
    if text[:1] == "'":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    try:
        return json.loads(text)
    except ValueError:
        raise JSONPathError(f"{text!r} is not a value") from None
