"""Convert a report into a LoadProfile of kperf, which repeats the load (https://github.com/Azure/kperf)."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Any

from ktui.audit.report import GroupReport, Report
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request

CONNECTIONS = 10


def load_profile(report: Report) -> tuple[dict[str, Any], int]:
    """Return the document, and the number of requests left out because kperf cannot express them.

    Shares are the requests counted in the log, the rate is that of all of them.
    """
    requests, left_out, counted = [], 0, 0
    for group in report.groups:
        form = _form(group)
        if form is None:
            left_out += group.count
        else:
            requests.append({"shares": group.count, **form})
            counted += group.count
    seconds = report.span.seconds if report.span else 0.0
    spec: dict[str, Any] = {
        "rate": round(counted / seconds, 3) if seconds else 1.0,
        "duration": max(1, ceil(min(seconds, 3600))),
        "conns": CONNECTIONS,
        "client": max(1, len(_clients(report.groups))),
        "contentType": "json",
        "disableHTTP2": False,
        "maxRetries": 0,
        "requests": requests,
    }
    first = report.span.first if report.span else "an unknown time"
    return {"version": 1, "description": f"observed by ktui audit from {first}", "specs": [spec]}, left_out


def _clients(groups: Iterable[GroupReport]) -> set[tuple[str, str]]:
    return {(group.client, group.user) for group in groups}


def _form(group: GroupReport) -> dict[str, Any] | None:
    """Return the request in kperf's format; None for a WATCH, a later page or a revision."""
    try:
        request = parse_request(group.example)
    except RequestError:
        return None
    if group.subresource or group.continued or len(group.possible_routes) > 1 or group.route == "none":
        return None
    if group.verb == "watch":
        return {"watchList": _target(request)} if group.initial_events else None
    if group.resource_version not in ("unset", "0"):
        return None
    stale = group.resource_version == "0"
    if group.verb == "get":
        name = {**_target(request), "name": request.info.name}
        return {"staleGet" if stale else "quorumGet": name}
    selectors = {"seletor": request.options.label_selector, "fieldSelector": request.options.field_selector}
    target = {**_target(request), **{name: text for name, text in selectors.items() if text}}
    if stale:  # the cache ignores a limit with resourceVersion=0, and kperf refuses it
        return {"staleList": target}
    return {"quorumList": {**target, **({"limit": group.limit} if group.limit else {})}}


def _target(request: ReadRequest) -> dict[str, Any]:
    info = request.info
    named = {"group": info.group, "version": info.version, "resource": info.resource}
    return {**named, **({"namespace": info.namespace} if info.namespace else {})}
