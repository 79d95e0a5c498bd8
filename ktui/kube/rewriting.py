"""Rewrite a read request: change, add or remove parameters and keep the order of the others."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from ktui.kube.query import pairs
from ktui.kube.requestinfo import split_url
from ktui.kube.routing.request import ReadRequest

Parameters = list[tuple[str, str]]


def rewritten(request: ReadRequest, **changes: str | None) -> str:
    """Return the same path with changed parameters; None removes a parameter."""
    return request.info.path + query_text(changed(request, **changes))


def changed(request: ReadRequest, **changes: str | None) -> Parameters:
    kept = [(key, value) for key, value in pairs(split_url(request.url)[1]) if key not in changes]
    return kept + [(key, value) for key, value in changes.items() if value is not None]


def without(path: str, parameter: str) -> str:
    plain, query = split_url(path)
    return plain + query_text([(key, value) for key, value in pairs(query) if key != parameter])


def query_text(parameters: Parameters) -> str:
    return "?" + urlencode(parameters, safe="=,./:()!", quote_via=quote) if parameters else ""
