"""Normalise URIs that differ only in names, revisions and tokens, before anything is parsed.

A log has a few shapes of requests, repeated many times with other names and revisions. The
replacements never change a routing decision (a revision stays a revision, a token a
token of its kind); unusual URIs are left unchanged and then parsed in full.
"""

from __future__ import annotations

import base64
import binascii
import re

from ktui.kube import continuetoken

_PATH = re.compile(
    r"(/api/v\w++|/apis/[\w.-]++/v\w++)(?:(/namespaces/)[a-z0-9][-a-z0-9]{0,62}+)?+"
    r"/(?!namespaces/|watch/)([a-z]++)(/[a-z0-9][-a-z0-9.]*+)?+((?:/[a-z]++)?+)"
)
_REVISION, _REVISION_VALUE = "resourceVersion=", re.compile(r"[1-9]\d{0,17}+(?![^&])")
_TIMEOUT, _TIMEOUT_VALUE = "timeoutSeconds=", re.compile(r"\d{1,9}+(?![^&])")
_SELECTED = re.compile(r"%3D[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?=&|$|%2C)")
_CONTINUE = re.compile(r"(?<![^&])continue=([\w-]{20,2000})(?![^&])")

_TOKEN = re.compile(
    rb'\{"v":"meta\.k8s\.io/v1","rv":(-1|[1-9]\d{0,17}),"start":"[a-z0-9][-a-z0-9]*'
    rb'(?:/[a-z0-9][-a-z0-9.]*)?(?:\\u0000)?"\}'
)
_AT_REVISION, _AT_LATEST = (f"continue={continuetoken.encode(rv, 'x')}" for rv in (1000, -1))


def canonical(uri: str) -> str:
    """Return `uri` with placeholders for names, concrete revisions, timeouts and page tokens."""
    path, mark, query = uri.partition("?")
    if found := _PATH.fullmatch(path):
        root, namespaces, resource, name, subresource = found.groups()
        scope = "/namespaces/x" if namespaces else ""
        path = f"{root}{scope}/{resource}{'/x' if name else ''}{subresource}"
    return f"{path}?{_query(query)}" if mark else path


def _query(query: str) -> str:
    if (at := query.find(_REVISION)) >= 0:
        query = _with(query, at, _REVISION, _REVISION_VALUE, "1000")
    if (at := query.find(_TIMEOUT)) >= 0:
        query = _with(query, at, _TIMEOUT, _TIMEOUT_VALUE, "1")
    if "%3D" in query:
        query = _SELECTED.sub("%3Dx", query)
    return _CONTINUE.sub(_token, query) if "continue=" in query else query


def _with(query: str, at: int, name: str, value: re.Pattern[str], placeholder: str) -> str:
    """Replace the value of the parameter at `at`.

    A search by regular expression takes three times as long.
    """
    found = value.match(query, at + len(name)) if not at or query[at - 1] == "&" else None
    return f"{query[:at]}{name}{placeholder}{query[found.end() :]}" if found else query


def _token(match: re.Match[str]) -> str:
    text = match[1]
    try:
        inside = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return match[0]
    found = _TOKEN.fullmatch(inside)
    if found is None:
        return match[0]
    return _AT_LATEST if found[1] == b"-1" else _AT_REVISION
