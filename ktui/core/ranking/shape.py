"""The shape of a request: verb, resource, scope and parameters without the names in them."""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache

import msgspec

from ktui.kube import continuetoken
from ktui.kube.routing.parameters import TokenState, parse_rv
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.selectors.requirements import Operator
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of

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
    """Return `uri` with placeholders for names, concrete revisions, timeouts and page tokens.

    A log has a few shapes of requests, repeated many times with other names and revisions: URIs that differ
    only in these are made equal before anything is parsed. The replacements never change a routing decision
    (a revision stays a revision, a token a token of its kind); unusual URIs are left unchanged and then
    parsed in full.
    """
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


LONGEST_URI = 8192
_SELECTORS_SHOWN = 8
_LONGEST = 120
_OPERATORS = {
    Operator.EXISTS: "{}", Operator.DOES_NOT_EXIST: "!{}", Operator.EQUALS: "{}=",
    Operator.NOT_EQUALS: "{}!=", Operator.IN: "{} in", Operator.NOT_IN: "{} notin",
    Operator.GREATER_THAN: "{}>", Operator.LESS_THAN: "{}<",
}  # fmt: skip
_NEWEST = behaviour_of(KNOWN_VERSIONS[-1])


class RequestShape(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """The parts of a request that routing depends on, without values that differ from call to call.

    `resource` is an id (`leases.coordination.k8s.io`). `scope`: `all` (every namespace, or a
    cluster-scoped resource), `namespace`, `name`. `selectors`: keys with their operators
    (`spec.nodeName=`). `resource_version`: `unset`, `0`, `N` or `bad`. `continued`: "",
    `at revision`, `at latest` or `bad`; `given` for a WATCH, which ignores it.
    `initial_events`: None unless sendInitialEvents was sent. `refused`: the parameters cannot
    be parsed (400). `narrowing`: `name` or `namespace` if a selector narrows the key prefix to it.
    """

    verb: str
    resource: str
    scope: str
    selectors: tuple[str, ...]
    resource_version: str
    match: str
    limit: int
    continued: str
    initial_events: bool | None
    unknown: tuple[str, ...]
    refused: bool
    subresource: str = ""
    bookmarks: bool = False
    narrowing: str = ""


def shape_of_uri(uri: str) -> RequestShape | None:
    """Return the shape of a GET, LIST or WATCH; None if it does not read a stored resource."""
    return _shape_of(canonical(uri)) if len(uri) <= LONGEST_URI else None


@lru_cache(maxsize=2048)
def _shape_of(uri: str) -> RequestShape | None:
    try:
        return shape_of(parse_request(uri))
    except RequestError:
        return None


def shape_of(request: ReadRequest) -> RequestShape:
    info, options = request.info, request.options
    scope = request.scope(_NEWEST) if request.verb != "get" else None
    return RequestShape(
        verb=request.verb,
        resource=info.resource_id[:_LONGEST],
        scope="name" if info.name else "namespace" if info.namespace else "all",
        selectors=_selectors(request),
        resource_version=_version_class(options.resource_version),
        match=options.resource_version_match[:_LONGEST],
        limit=max(options.limit, 0),
        continued=_continued(request),
        initial_events=options.send_initial_events,
        unknown=tuple(name[:_LONGEST] for name in options.unknown[:_SELECTORS_SHOWN]),
        refused=request.refused,
        subresource=info.subresource[:_LONGEST],
        bookmarks=options.allow_watch_bookmarks,
        narrowing="" if scope is None else "name" if scope.single else "namespace" if scope.narrowed else "",
    )


def _selectors(request: ReadRequest) -> tuple[str, ...]:
    """Return keys and operators of the selectors; values are left out because they differ per client."""
    labels = {_OPERATORS[each.operator].format(each.key) for each in request.labels.requirements}
    fields = {f"{t.field}{'!=' if t.negated else '='}" for t in request.fields.terms}
    if request.info.name:
        fields.discard("metadata.name=")  # from the path
    return (*sorted(fields)[:_SELECTORS_SHOWN], *sorted(labels)[:_SELECTORS_SHOWN])


def _version_class(text: str) -> str:
    revision = parse_rv(text)
    if revision is None:
        return "bad"
    if text in ("", "0"):
        return text or "unset"
    return "N" if revision else "00"  # another spelling of zero: the rules compare with the text "0"


def _continued(request: ReadRequest) -> str:
    if request.verb == "watch":
        return "given" if request.options.continue_ else ""
    if request.token.state is TokenState.NONE:
        return ""
    if request.token.state is TokenState.GARBAGE:
        return "bad"
    return "at latest" if request.token.rv < 0 else "at revision"
