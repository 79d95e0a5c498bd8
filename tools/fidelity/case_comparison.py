"""What of an answer must be as recorded, and what may differ.

Must: status, media type, Warning, Retry-After, Allow, masked body, a WATCH's events in their order, and the
route. May: the revision of a list that asked for the newest or for one not older than some, periodic
bookmarks, and orders that upstream does not fix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tools.fidelity.case_answers import INITIAL_EVENTS_END, CaseMasking, body_of, events_of, summed_up
from tools.fidelity.client import Answer
from tools.fidelity.values import Difference, canonical, differences

_HEADERS = ("warning", "retry-after", "allow")
_PARTS = ("body", "summary", "text", "text_len")
_LIST_REVISIONS = (
    "body.metadata.resourceVersion",
    "summary.metadata.resourceVersion",
    "metadata.continue.rv",
)
_NEWEST = ("<rv>", "{rv.m15}")  # revisions at or after the last write of the setup
_ASKED = re.compile(r"[?&]resourceVersion=(\d+)")
_DESCRIPTION = re.compile(r"columnDefinitions\[\d+\]\.description$")
_ROUTES = {"cache": "cache", "etcd": "etcd", "cache->etcd fallback": "cache,etcd"}

Case = Mapping[str, Any]


def compare(
    case: Case,
    target: str,
    answer: Answer,
    masking: CaseMasking,
    lines: list[bytes] | None = None,
    writes: list[Answer] | None = None,
) -> list[Difference]:
    """Return how an answer differs. `lines`: of a WATCH that was opened; `writes`: answered meanwhile."""
    if answer.status != case["status"]:
        return [Difference("status", "value", case["status"], f"{answer.status}: {answer.text[:200]}")]
    found = _header_differences(case.get("headers") or {}, answer)
    if lines is not None:
        events = events_of(lines, masking, writes if case.get("during") else None)
        found += _event_differences(case, events)
        statuses = [one.status for one in writes or []]
        found += differences((case.get("during_status") or [])[: len(statuses)], statuses, "during")
    elif case.get("compare", "full") == "full":
        found += _body_differences(case, target, answer, masking)
    return found + _route_differences(case, answer)


def _header_differences(recorded: Mapping[str, str], answer: Answer) -> list[Difference]:
    found = []
    wanted = recorded.get("content-type", "").partition(";")[0]
    if wanted and wanted != answer.media_type.partition(";")[0]:
        found.append(Difference("content-type", "value", wanted, answer.media_type))
    for name in _HEADERS:
        sent = ", ".join(answer.headers(name)) or None
        if recorded.get(name) != sent:
            found.append(Difference(f"header {name}", "value", recorded.get(name), sent))
    return found


def _body_differences(case: Case, target: str, answer: Answer, masking: CaseMasking) -> list[Difference]:
    body = body_of(answer, masking)
    whole = body.get("body")
    if "summary" in case and isinstance(whole, dict) and whole.get("kind") == "Table":
        body = summed_up(whole, always=True)
    found: list[Difference] = []
    for part in _PARTS:
        if part in case or part in body:
            found += differences(_ordered(case.get(part)), _ordered(body.get(part)), part)
    may_differ = _revision_rule(case["request"], target)
    return [one for one in found if not _without_description(one) and not may_differ(one)]


def _without_description(one: Difference) -> bool:
    """Whether only upstream's prose about a column is left out."""
    return one.found == "" and _DESCRIPTION.search(one.place) is not None


def _revision_rule(request: Mapping[str, Any], target: str) -> Callable[[Difference], bool]:
    """Return which differences of a list's own revision are none."""
    query = dict(map(tuple, request.get("query") or []))
    revision, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch", "")
    limit = query.get("limit", "0")
    asked = _ASKED.search(target)
    at_least = int(asked.group(1)) if asked else 0

    def newest(one: Difference) -> bool:
        return one.wanted in _NEWEST and one.found in _NEWEST

    def new_enough(one: Difference) -> bool:
        text = one.found
        if not isinstance(text, str):
            return False
        return text.startswith("{rv.") or text == "<rv>" or (text.isdigit() and int(text) >= at_least)

    paged = limit.isdigit() and int(limit) > 0 and bool(revision.strip("0"))
    if query.get("continue") or not revision:
        rule = newest
    elif match == "Exact" or (not match and paged):
        return lambda one: False
    else:
        rule = new_enough
    return lambda one: one.place.endswith(_LIST_REVISIONS) and rule(one)


def _event_differences(case: Case, events: list[dict[str, Any]]) -> list[Difference]:
    query = dict(map(tuple, case["request"].get("query") or []))
    found: list[Difference] = []
    bookmarks = any(event["type"] == "BOOKMARK" for event in events)
    if bookmarks and query.get("allowWatchBookmarks") not in ("true", "1"):
        found.append(Difference("events", "unexpected", None, "BOOKMARK"))
    wanted, sent = _compared_events(case["events"]), _compared_events(events)
    if case.get("unordered"):
        wanted, sent = sorted(wanted, key=_identity), sorted(sent, key=_identity)
    found += differences(
        [_identity(event) for event in wanted], [_identity(event) for event in sent], "events"
    )
    return found if len(wanted) != len(sent) else found + differences(wanted, sent, "events")


def _compared_events(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Drop periodic bookmarks; the one that ends the initial events stays, with whatever is newest."""
    found = []
    for event in events:
        if event["type"] == "BOOKMARK":
            if INITIAL_EVENTS_END not in (event.get("annotations") or {}):
                continue
            event = {**event, "rv": "<newest>" if event["rv"] in _NEWEST else event["rv"]}
        found.append(event)
    return found


def _identity(event: Mapping[str, Any]) -> list[Any]:
    return [event["type"], event["key"], event["rv"]]


def _ordered(body: Any) -> Any:
    """Sort what upstream leaves unsorted: the resources of discovery, the causes of a Status."""
    if not isinstance(body, dict):
        return body
    if body.get("kind") == "APIResourceList":
        return {**body, "resources": sorted(body.get("resources") or [], key=canonical)}
    causes = (body.get("details") or {}).get("causes") if body.get("kind") == "Status" else None
    if not causes or len(causes) < 2:
        return body
    details = {**body["details"], "causes": sorted(causes, key=canonical)}
    pieces = sorted(re.split(r", |\[|\]", body.get("message", "")))
    return {**body, "message": pieces, "details": details}


def _route_differences(case: Case, answer: Answer) -> list[Difference]:
    told = answer.header("x-ktui-route").replace(" ", "")
    wanted = _ROUTES.get(case.get("route") or "")
    if not told or wanted is None or case["request"]["method"] != "GET" or told == wanted:
        return []
    return [Difference("route", "value", wanted, told)]


def compare_cost(case: Case, answer: Answer) -> list[Difference] | None:
    """Compare X-Ktui-Cost with the recorded server's counters; None if there is nothing to compare."""
    told, route = answer.header("x-ktui-cost"), case.get("route")
    uncounted = case.get("watch") or case.get("setup") or case["request"]["method"] != "GET"
    if not told or uncounted or route not in ("cache", "etcd"):
        return None
    here = dict(part.strip().split("=", 1) for part in told.split(",") if "=" in part)
    recorded = _counted(case.get("counters") or {}, "cache" if route == "cache" else "storage")
    names = ["fetched", "returned", "etcd_gets", "etcd_lists"] + (["evaluated"] if route == "etcd" else [])
    return [
        Difference(f"cost {name}", "value", recorded.get(name, 0), int(here.get(name, "0")))
        for name in names
        if recorded.get(name, 0) != int(here.get(name, "0"))
    ]


def _counted(counters: Mapping[str, int], layer: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for series, value in counters.items():
        family = series.partition("{")[0]
        name = family.removeprefix(f"{layer}_list_").removesuffix("_objects")
        if family == "etcd_requests":
            name = "etcd_gets" if "=get}" in series else "etcd_lists"
        found[name] = found.get(name, 0) + value
    return found
