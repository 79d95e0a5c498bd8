"""Read JSON as Go's encoding/json does, with its error messages."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from ktui.documents.limits import DocumentError, check_nesting
from ktui.kube.golang import jsonscan

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# Digits of numbers that may exceed a float64, or Python's limit for integers.
_HUGE_NUMBER = re.compile(rb"[0-9]{300}|[eE]\+?[0-9]{3}")

MAX_DUPLICATES = 100  # sigs.k8s.io/json reports no more


def read_json(data: bytes) -> Any:
    """Parse JSON. Raises DocumentError with Go's message, which takes long to find in a large document."""
    try:
        return parse_json(data)
    except DocumentError:
        raise
    except ValueError as error:
        try:
            jsonscan.check(data)
        except jsonscan.JSONSyntaxError as fault:
            raise DocumentError(str(fault)) from None
        raise DocumentError(str(error)) from None


def parse_json(data: bytes) -> Any:
    """Parse JSON; invalid UTF-8 is replaced, as in Go. Raises ValueError, without Go's message."""
    check_nesting(data)
    text = data.decode("utf-8", "replace")
    numbers: dict[str, Any] = {}
    if _HUGE_NUMBER.search(data):
        numbers = {"parse_int": _int, "parse_float": _float}
    document = json.loads(text, parse_constant=_no_constant, **numbers)
    if not _SURROGATE.search(text):
        return document
    # Unpaired surrogates become U+FFFD.
    text = json.dumps(document, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _int(digits: str) -> int | float:
    """Return an integer; beyond 64 bits a float, as in Go."""
    return int(digits) if len(digits) <= 20 else _float(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise DocumentError(f"json: cannot unmarshal number {digits[:100]} into Go value of type float64")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"JSON has no {name}")


def duplicate_fields(data: bytes) -> list[str]:
    """Return the paths of duplicate members, at most MAX_DUPLICATES; [] if `data` is not valid JSON."""
    if _is_canonical(data):
        return []
    return list(
        islice((path for path, times in _members(data, only_repeated=True) if times == 2), MAX_DUPLICATES)
    )


def member_places(data: bytes) -> dict[tuple[str, int], int]:
    """Return the places of members in a document, by path and by how many values it had so far (1, 2, …)."""
    return {member: place for place, member in enumerate(_members(data))}


def _members(data: bytes, *, only_repeated: bool = False) -> Iterator[tuple[str, int]]:
    """Yield each member's path, and which of its values begins there; nothing if `data` is not valid JSON."""
    twice: dict[int, list[tuple[str, Any]]] = {}  # all members of the objects that have some twice
    kept: list[dict[str, Any]] = []  # keeps the ids in `twice` from being reused

    def hook(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            twice[id(built)] = pairs
            kept.append(built)
        return built

    try:
        check_nesting(data)
        document = json.loads(data, object_pairs_hook=hook)
    except (ValueError, RecursionError):
        return
    if twice or not only_repeated:
        yield from _members_of(document, "", twice)


def _is_canonical(data: bytes) -> bool:
    """True if encoding the document again gives the same bytes: then no member was lost."""
    try:
        return msgspec.json.encode(msgspec.json.decode(data)) == data.rstrip()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False


def _members_of(value: Any, path: str, twice: dict[int, list[tuple[str, Any]]]) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        counts: Counter[str] = Counter()
        for name, member in twice.get(id(value)) or value.items():
            below = f"{path}.{name}" if path else name
            counts[name] += 1
            yield below, counts[name]
            yield from _members_of(member, below, twice)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _members_of(item, f"{path}[{at}]", twice)
