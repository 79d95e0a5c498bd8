"""Answers to recorded cases in the form in which they were recorded: masked, and large ones summed up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from tools.fidelity.case_requests import Names
from tools.fidelity.client import Answer
from tools.fidelity.masking import FUTURE, OLDEST, UUID, Masking
from tools.fidelity.values import canonical, digest, member

LARGE = 5000  # characters from which on a body is summed up
LARGE_EVENT = 4000
MOST_TEXT = 2000
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_WHOLE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_NUMBER = re.compile(r"(?<![\w.-])\d{4,9}(?!\d)(?![\w.-]*[a-z-])")
_TOO_LARGE = re.compile(r"(Too large resource version: [^,]+, current: )[^\s,]+")
_AGE = re.compile(r"(\d+[ydhms])+")
_TEXTS = ("message", "reason", "detail")
_MOST_REVISION = 20_000  # larger numbers in a text are no revisions of these runs


class CaseMasking(Masking):
    def __init__(self, names: Names) -> None:
        super().__init__(names.made_at, names.uids, _AGE)
        self._names = names

    def revision(self, text: str) -> str:
        return self._names.masked(text)

    def token_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        revision = fields.get("rv", 0)
        shown = revision if revision < 0 else self.revision(str(revision))
        return {"v": fields.get("v"), "rv": shown, "start": str(fields.get("start", "")).lstrip("/")}

    def text(self, text: str, name: str = "") -> str:
        if found := _WHOLE_TIME.fullmatch(text):
            return self.time(found)
        if name in _TEXTS:
            text = _WHOLE_TIME.sub(self.time, UUID.sub(self.uid, text))
            text = OLDEST.sub(r"\1 (<oldest>)", text)
            return _TOO_LARGE.sub(r"\1<rv>", _NUMBER.sub(self._number, text))
        found = UUID.fullmatch(text)
        return self.uid(found) if found else text

    def _number(self, found: re.Match[str]) -> str:
        number = int(found.group(0))
        known = number < _MOST_REVISION or number == FUTURE
        return self.revision(found.group(0)) if known else found.group(0)


def body_of(answer: Answer, masking: CaseMasking) -> dict[str, Any]:
    """Return `body`, `summary`, or `text` with its length."""
    if "json" in answer.media_type and (found := answer.json()) is not None:
        return summed_up(masking.value(found))
    text = answer.text
    return (
        {"text": text, "text_len": None} if len(text) < MOST_TEXT else {"text": None, "text_len": len(text)}
    )


def summed_up(value: Any, *, always: bool = False) -> dict[str, Any]:
    """Return a masked body under `body`, or its sums under `summary` if it is large."""
    if not isinstance(value, dict) or (not always and len(canonical(value)) <= LARGE):
        return {"body": value}
    found = {name: value.get(name) for name in ("kind", "apiVersion", "metadata")}
    if value.get("kind") == "Table":
        found["columnDefinitions"] = value.get("columnDefinitions")
        found["rows"] = [row["cells"] for row in value["rows"]]
        found["objects_sha"] = digest([row.get("object") for row in value["rows"]])
    elif isinstance(value.get("items"), list):
        found["count"] = len(value["items"])
        found["items"] = [_item(item) for item in value["items"]]
        found["items_sha"] = digest(value["items"])
    elif isinstance(value.get("resources"), list):
        found["resources"] = sorted(one.get("name") or one.get("resource") for one in value["resources"])
    elif isinstance(value.get("groups"), list):
        found["groups"] = sorted(group["name"] for group in value["groups"])
    else:
        return {"body": value}
    return {"summary": found}


def _item(item: dict[str, Any]) -> str:
    metadata = item.get("metadata") or {}
    return f"{_key(metadata, item.get('name'))}@{metadata.get('resourceVersion', '')}"


def _key(metadata: dict[str, Any], otherwise: Any = "") -> str:
    namespace = metadata.get("namespace")
    return (f"{namespace}/" if namespace else "") + str(metadata.get("name", otherwise))


def events_of(
    raw_lines: Iterable[bytes], masking: CaseMasking, writes: list[Answer] | None = None
) -> list[dict[str, Any]]:
    """Return the events of a WATCH.

    With `writes`, those sent meanwhile, new revisions are `<e1>`, `<e2>`, … in their order: the event of a
    deletion has the deletion's revision, a synthesised one that of the change.
    """
    events = [json.loads(line) for line in raw_lines]
    order = {} if writes is None else _order(events, writes, masking)
    found: list[dict[str, Any]] = []
    for event in events:
        found.append(_event(event, masking, order, whole=len(found) < 2))
    return found


def _order(events: list[dict[str, Any]], writes: list[Answer], masking: CaseMasking) -> dict[str, str]:
    seen = [
        member(event, "object.metadata.resourceVersion")
        for event in events
        if event.get("type") in ("ADDED", "MODIFIED", "DELETED")
    ]
    seen += [member(answer.json(), "metadata.resourceVersion") for answer in writes]
    new = {int(text) for text in seen if str(text).isdigit() and masking.revision(text) == "<rv>"}
    return {str(revision): f"<e{number}>" for number, revision in enumerate(sorted(new), 1)}


def _event(
    event: dict[str, Any], masking: CaseMasking, order: dict[str, str], *, whole: bool
) -> dict[str, Any]:
    obj = event.get("object") or {}
    metadata = obj.get("metadata") or {}
    if obj.get("kind") == "Table" and obj.get("rows"):
        of_row = (obj["rows"][0].get("object") or {}).get("metadata") or {}
        metadata = {**of_row, "resourceVersion": metadata.get("resourceVersion", "")}
    revision, kind = metadata.get("resourceVersion", ""), event.get("type")
    found = {
        "type": kind,
        "kind": obj.get("kind"),
        "key": _key(metadata),
        "rv": order.get(revision) or masking.revision(revision),
    }
    masked = masking.value(obj)
    if kind == "BOOKMARK":
        return {**found, "annotations": metadata.get("annotations"), "fields": sorted(_fields(obj))}
    if kind in ("ERROR", "TRANSPORT") or (whole and len(canonical(masked)) < LARGE_EVENT):
        return {**found, "object": masked}
    return {**found, "sha": digest(masked)}


def _fields(obj: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the paths of all members, annotations as one."""
    for name, value in obj.items():
        if isinstance(value, dict) and value and name != "annotations":
            yield from _fields(value, f"{path}{name}.")
        else:
            yield path + name
