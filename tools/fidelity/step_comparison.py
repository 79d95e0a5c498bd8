"""What of an answer to a random request must be as recorded, and which differences are set aside."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tools.fidelity.step_answers import MOST_TEXT, View, sums
from tools.fidelity.values import Difference, canonical, differences, digest

_WRITES = ("POST", "PUT", "PATCH", "DELETE")
_READS = ("GET", "HEAD", "OPTIONS")
# What ktui says that it does not serve.
_NOT_SERVED = re.compile(
    r"^/+(healthz|livez|readyz)(/|$)|^/api/v1/proxy(/|$)"
    r"|/(pods|services|nodes)/[^/]+/proxy(/|$)|/pods/[^/]+/(exec|log|attach)(/|$)"
)
_DESCRIPTION = re.compile(r"^body\.columnDefinitions\[\d+\]\.description$")
_LIST_REVISIONS = re.compile(r"^body(\.json_meta)?\.metadata\.(resourceVersion|continue\.rv)$")
_WORDING = re.compile(r"^(body\.message|body\.details.*|text)$")
_ADDRESS = re.compile(r"\b10\.0\.0\.\d+\b")
_NODE_PORT = re.compile(r"\b3[0-2]\d{3}\b")
_CELL_PORT = re.compile(r"(\d+):<w\d+>/")
_SHORT_TEXT = 10

# Stands for any difference in nothing but the descriptions of a Table's columns, which may be left out.
DESCRIPTIONS = Difference("body.columnDefinitions[0].description", "value", "as recorded", "other")


def compare(wanted: View, found: View, step: Mapping[str, Any] | None = None) -> list[Difference]:
    """Return how an answer differs. `step`: the request; a list may then be as old as it allows."""
    collected = _compare(wanted, found)
    if step is not None and step["method"] == "GET" and _may_be_older(step.get("query")):
        collected = [one for one in collected if not _LIST_REVISIONS.match(one.place)]
    return collected


def compare_watch(wanted: View, found: View) -> list[Difference]:
    """Return how a WATCH differs: its answer, its events in their order, and whether it ended."""
    collected = compare(wanted["view"], found["view"])
    if collected:
        return collected
    if len(wanted["events"]) != len(found["events"]):
        types = ([event["type"] for event in view["events"]] for view in (wanted, found))
        collected.append(Difference("events", "length", *types))
    for recorded, event in zip(wanted["events"], found["events"], strict=False):
        collected += _compare_event(recorded, event)
    if wanted.get("bm") is False and found.get("bm"):
        collected.append(Difference("events", "unexpected", None, "BOOKMARK"))
    if wanted.get("ended") != found.get("ended"):
        collected.append(Difference("ended", "value", wanted.get("ended"), found.get("ended")))
    return collected


def judged(
    found: list[Difference], step: Mapping[str, Any], wanted: View | None, answered: View | None
) -> list[Difference]:
    """Return the differences that count: not descriptions of columns, nor the wording of a refused write."""
    refused = (
        step.get("method") in _WRITES
        and wanted is not None
        and answered is not None
        and wanted["status"] >= 400
        and wanted["status"] == answered["status"]
        and _reason(wanted) == _reason(answered)
    )
    return [
        one
        for one in found
        if not _DESCRIPTION.match(one.place) and not (refused and _WORDING.match(one.place))
    ]


def same_bytes(wanted: View, found: View) -> bool | None:
    """Whether bodies of equal value are also the same bytes, masked; None if the recording has none."""
    if not wanted.get("raw") or not found.get("raw"):
        return None
    return bool(wanted["raw"] == found["raw"])


def is_judged(step: Mapping[str, Any]) -> bool:
    return _NOT_SERVED.search(step["path"].partition("?")[0]) is None


def is_read(step: Mapping[str, Any]) -> bool:
    return step.get("method") in _READS


def _reason(view: View) -> Any:
    body = view.get("json")
    return body.get("reason") if isinstance(body, dict) else None


def _compare(wanted: View, found: View) -> list[Difference]:
    if wanted["status"] != found["status"]:
        return [Difference("status", "value", _outcome(wanted), _outcome(found))]
    collected = differences(wanted["hdr"], found["hdr"], "header")
    if "json_sha" in wanted:
        collected += _compare_sums(wanted, found)
    elif "json" in wanted:
        collected += _compare_bodies(wanted["json"], found)
    for name in ("text", "empty", "pb"):
        same = _same_lines if name == "text" else _equal
        if not same(wanted.get(name), found.get(name)):
            collected.append(Difference(name, "value", wanted.get(name), found.get(name)))
    return collected


def _outcome(view: View) -> str:
    body = view.get("json")
    message = body.get("message") if isinstance(body, dict) else None
    return f"{view['status']}: {message or view.get('text') or ''}"


def _compare_sums(wanted: View, found: View) -> list[Difference]:
    """Compare with a body of which the recording has sums only."""
    if "json" not in found:
        return [Difference("body", "type", "json", "other")]
    body = found["json"]
    if digest(body) == wanted["json_sha"]:
        return []
    if wanted.get("json_sha2") == digest(_without_descriptions(body)):
        return [DESCRIPTIONS]
    recorded = {name: wanted[name] for name in wanted if name.startswith("json_") and "sha" not in name}
    return differences(recorded, sums(body), "body") or [
        Difference("body", "value", wanted["json_sha"], digest(body))
    ]


def _compare_bodies(wanted: Any, found: View) -> list[Difference]:
    if "json" not in found:
        return [Difference("body", "type", "json", found.get("text", "")[:200])]
    body = found["json"]
    if _same_causes(wanted, body) or not differences(wanted, body):
        return []
    one, other = _without_draws(wanted), _without_draws(body)
    collected = differences(one, other, "body")
    if collected and not differences(_without_descriptions(one), _without_descriptions(other)):
        return [DESCRIPTIONS]
    return collected


def _compare_event(wanted: View, found: View) -> list[Difference]:
    if "sha" not in wanted or "object" not in found:
        collected = differences(wanted, found, "events")
        if not collected or "object" not in wanted or "object" not in found:
            return collected
        one, other = (_without_descriptions(event["object"]) for event in (wanted, found))
        alike = wanted["type"] == found["type"] and not differences(one, other)
        return [DESCRIPTIONS] if alike else collected
    if wanted["type"] != found["type"]:
        return [Difference("events.type", "value", wanted["type"], found["type"])]
    obj = found["object"]
    if digest(obj) == wanted["sha"]:
        return []
    if wanted.get("sha2") == digest(_without_descriptions(obj)):
        return [DESCRIPTIONS]
    return [Difference("events.sha", "value", wanted["key"], (obj.get("metadata") or {}).get("name"))]


def _may_be_older(query: Any) -> bool:
    """Whether a list may be as old as it asks for, so that its own revision is not compared."""
    if isinstance(query, str):
        return "resourceVersion=" in query
    if not isinstance(query, list):
        return False
    values = dict(map(tuple, query))
    revision, match = values.get("resourceVersion", ""), values.get("resourceVersionMatch", "")
    limit = values.get("limit", "0")
    if revision == "0":
        return True
    if not revision or match == "Exact" or values.get("continue"):
        return False
    return match == "NotOlderThan" or not (limit.isdigit() and int(limit) > 0)


def _without_descriptions(body: Any) -> Any:
    """Leave out the descriptions of a Table's columns."""
    if not isinstance(body, dict) or not isinstance(body.get("columnDefinitions"), list):
        return body
    columns = [
        {name: column[name] for name in column if name != "description"}
        if isinstance(column, dict)
        else column
        for column in body["columnDefinitions"]
    ]
    return {**body, "columnDefinitions": columns}


def _without_draws(value: Any, name: str = "") -> Any:
    """Mask what a server draws, and sort what upstream leaves unsorted.

    Drawn are cluster IPs and node ports. Unsorted are the managers of one second, the resources of a custom
    group, and component statuses.
    """
    if isinstance(value, dict):
        return {key: _without_draws(inside, key) for key, inside in _sorted_members(value).items()}
    if name == "cells" and isinstance(value, str):
        return _CELL_PORT.sub(r"\1:<port>/", _ADDRESS.sub("<ip>", value))
    if isinstance(value, list):
        found = [_without_draws(inside, name) for inside in value]
        return sorted(found, key=canonical) if name == "managedFields" else found
    if name in ("clusterIP", "clusterIPs") and isinstance(value, str) and _ADDRESS.fullmatch(value):
        return "<ip>"
    if name in ("nodePort", "healthCheckNodePort") and isinstance(value, int) and 30000 <= value <= 32767:
        return "<port>"
    if name in ("message", "reason") and isinstance(value, str) and len(value) > _SHORT_TEXT:
        return _ADDRESS.sub("<ip>", _NODE_PORT.sub("<port>", value))
    return value


def _sorted_members(value: dict[str, Any]) -> dict[str, Any]:
    kind, group = value.get("kind"), str(value.get("groupVersion", ""))
    if kind == "APIResourceList" and isinstance(value.get("resources"), list):
        if not group.endswith(".k8s.io/v1"):
            return {**value, "resources": sorted(value["resources"], key=canonical)}
    elif kind == "ComponentStatusList" and isinstance(value.get("items"), list):
        return {**value, "items": sorted(value["items"], key=canonical)}
    return value


def _same_causes(one: Any, other: Any) -> bool:
    """Whether two Status bodies differ only in the order of their causes."""
    try:
        causes = [sorted(map(canonical, body["details"]["causes"])) for body in (one, other)]
        pieces = [sorted(re.split(r"[\[\],] ?", body["message"])) for body in (one, other)]
    except (KeyError, TypeError):
        return False
    kept = [
        {name: body[name] for name in body if name not in ("message", "details")} for body in (one, other)
    ]
    return causes[0] == causes[1] and pieces[0] == pieces[1] and kept[0] == kept[1]


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other)


def _same_lines(one: str | None, other: str | None) -> bool:
    """Whether texts are equal, or the same JSON lines but for the order of members.

    A recorded text is cut at its limit, so its last line may be a piece of one.
    """
    if not one or not other or one[0] != "{" or other[0] != "{" or len(one) != len(other):
        return one == other
    lines, others = one.split("\n"), other.split("\n")
    if len(lines) != len(others):
        return False
    for number, (line, another) in enumerate(zip(lines, others, strict=True), 1):
        if line == another:
            continue
        first, second = _decoded(line), _decoded(another)
        if first is None and second is None:
            cut = number == len(lines) and len(one) == MOST_TEXT
            return cut and (len(lines) > 1 or sorted(line) == sorted(another))
        if first != second:
            return False
    return True


def _decoded(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
