"""The requests of a random step, in which names stand for revisions and for what earlier answers had."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tools.fidelity.case_requests import Prepared
from tools.fidelity.client import Answer
from tools.fidelity.values import continue_token, member

_TEMPLATE = re.compile(r"\{\{(cur(?:[+-]\d+)?|cap\.[\w.]+(?:\|\w+)?|tok:[^{}]*)\}\}")
_PIECES = re.compile(r"(\{\{[^{}]*\}\})")
_DELETED = "$del"

Step = Mapping[str, Any]


class Captured:
    """What a sequence of steps has kept of its answers."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        return self._values.get(name)

    def keep(self, wanted: Mapping[str, str], answer: Answer) -> None:
        """Keep members of an answer; what it lacks is forgotten."""
        body = answer.json() if "json" in answer.media_type else None
        for name, path in wanted.items():
            found = member(body, path) if body else None
            if found is None:
                self._values.pop(name, None)
            else:
                self._values[name] = found

    def keep_object(self, answer: Answer) -> None:
        """Keep the object that was read, with its revision and uid."""
        body = answer.json() if "json" in answer.media_type else None
        metadata = body.get("metadata") if isinstance(body, dict) else None
        if answer.status != 200 or not isinstance(metadata, dict):
            return
        revision = metadata.get("resourceVersion")
        self._values.update(obj=body, rv=revision, uid=metadata.get("uid"))
        self._values.setdefault("rv0", revision)


def prepared(step: Step, revision: int, captured: Captured) -> Prepared:
    """Return a step's request. `revision`: etcd's when it was recorded."""
    headers = dict(step.get("headers") or {})
    body = _body(step, revision, captured)
    names = {name.lower() for name in headers}
    if body is not None and "content-type" not in names:
        headers["Content-Type"] = "application/json"
    if "accept" not in names:
        headers["Accept"] = "application/json"
    target = substituted(_target(step), revision, captured)
    return Prepared(step.get("method", "GET"), target, headers, body)


def substituted(text: str, revision: int, captured: Captured) -> str:
    return _TEMPLATE.sub(lambda found: _value(found.group(1), revision, captured), text)


def _value(template: str, revision: int, captured: Captured) -> str:
    if template.startswith("cur"):
        return str(_revision(template, revision))
    if template.startswith("tok:"):
        number, start = template.removeprefix("tok:").split(":", 1)
        return continue_token(_revision(number, revision), start.replace("^", "\0"))
    name, _, change = template.removeprefix("cap.").partition("|")
    found = captured.get(name)
    return _changed("none" if found is None else str(found), change)


def _revision(text: str, revision: int) -> int:
    """Read `cur`, `cur-3` or a number."""
    return revision + int(text[3:] or 0) if text.startswith("cur") else int(text)


def _changed(text: str, change: str) -> str:
    """Damage a captured text as the template says."""
    match change:
        case "trunc":
            return text[:-3]
        case "flip":
            return text[:5] + ("A" if text[5:6] != "A" else "B") + text[6:]
        case "half":
            return text[: len(text) // 2]
        case "plus1":
            return str(int(text) + 1) if text.isdigit() else text
    return text


def _target(step: Step) -> str:
    """Return path and query with the templates still in them."""
    path: str = step["path"]
    query = step.get("query")
    if isinstance(query, str):
        return f"{path}?{query}"
    if not query:
        return path
    return f"{path}?" + "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in query)


def _quoted(text: str) -> str:
    pieces = _PIECES.split(text)
    return "".join(piece if index % 2 else quote(piece, safe="(),!=") for index, piece in enumerate(pieces))


def _body(step: Step, revision: int, captured: Captured) -> bytes | None:
    if step.get("body_from"):
        edits = step.get("edits") or []
        if not step.get("literal"):
            edits = _everywhere(edits, revision, captured)
        body = _edited(captured.get(step["body_from"]) or {}, edits)
    elif step.get("body") is not None:
        body = _everywhere(step["body"], revision, captured)
        if isinstance(body, str):
            return body.encode("utf-8", "surrogatepass")
    else:
        return None
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _everywhere(value: Any, revision: int, captured: Captured) -> Any:
    if isinstance(value, dict):
        return {
            substituted(name, revision, captured): _everywhere(inside, revision, captured)
            for name, inside in value.items()
        }
    if isinstance(value, list):
        return [_everywhere(inside, revision, captured) for inside in value]
    return substituted(value, revision, captured) if isinstance(value, str) else value


def _edited(obj: Any, edits: list[Any]) -> Any:
    """Change members of a copy; an edit whose place does not exist is left out."""
    changed = copy.deepcopy(obj)
    for path, value in edits:
        *above, last = path.split("/")
        place = changed
        try:
            for name in above:
                place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
            _set(place, last, value)
        except (KeyError, IndexError, ValueError, TypeError, AttributeError):
            continue
    return changed


def _set(place: Any, name: str, value: Any) -> None:
    if value == _DELETED:
        if isinstance(place, list):
            place.pop(int(name))
        else:
            place.pop(name, None)
    elif isinstance(place, list) and name == "-":
        place.append(value)
    elif isinstance(place, list):
        place[int(name)] = value
    else:
        place[name] = value
