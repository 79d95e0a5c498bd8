"""JSON values: their canonical text and digest, members, continue tokens, and how two of them differ."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any, NamedTuple

MOST_DIFFERENCES = 30


class Difference(NamedTuple):
    """Where two values differ, and how: `value`, `type`, `missing`, `unexpected` or `length`."""

    place: str
    how: str
    wanted: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.place or '.'}: {self.how}, recorded {short(self.wanted)}, here {short(self.found)}"


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: Any) -> str:
    """Return 16 hexadecimal digits for bytes, or for a value's canonical text."""
    content = value if isinstance(value, bytes) else canonical(value).encode("utf-8", "surrogatepass")
    return hashlib.sha256(content).hexdigest()[:16]


def short(value: Any) -> str:
    text = canonical(value)
    return text if len(text) < 160 else text[:157] + "..."


def member(value: Any, path: str) -> Any:
    """Return the member at `metadata.name` or `items.0.spec`; None if there is none."""
    for name in path.split("."):
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value


def continue_token(revision: int, start: str) -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_token(token: str) -> dict[str, Any] | None:
    """Return the fields of a continue token; None if it is none."""
    try:
        found = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def differences(wanted: Any, found: Any, place: str = "") -> list[Difference]:
    """Return how two values differ, up to a limit. Integers and floats of one value are equal."""
    collected: list[Difference] = []
    _compare(wanted, found, place, collected)
    return collected


def _compare(wanted: Any, found: Any, place: str, collected: list[Difference]) -> None:
    if len(collected) > MOST_DIFFERENCES:
        return
    if _type(wanted) is not _type(found):
        collected.append(Difference(place, "type", wanted, found))
    elif isinstance(wanted, dict):
        for name in sorted(wanted.keys() | found.keys(), key=str):
            inside = f"{place}.{name}"
            if name not in wanted:
                collected.append(Difference(inside, "unexpected", None, found[name]))
            elif name not in found:
                collected.append(Difference(inside, "missing", wanted[name], None))
            else:
                _compare(wanted[name], found[name], inside, collected)
    elif isinstance(wanted, list):
        if len(wanted) != len(found):
            collected.append(Difference(place, "length", len(wanted), len(found)))
        for index, (one, other) in enumerate(zip(wanted, found, strict=False)):
            _compare(one, other, f"{place}[{index}]", collected)
    elif wanted != found:
        collected.append(Difference(place, "value", wanted, found))


def _type(value: Any) -> type:
    """Return its type; numbers are of one type."""
    return float if type(value) is int else type(value)
