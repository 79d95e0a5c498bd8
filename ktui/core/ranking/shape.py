"""The shape of a request: verb, resource, scope and parameters without the names in them."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from ktui.core.ranking.canonical import canonical
from ktui.kube.routing.parameters import TokenState, parse_rv
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.selectors.requirements import Operator, Requirement
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of

LONGEST_URI = 8192
_SELECTORS_SHOWN = 8
_LONGEST = 120
_OPERATORS = {
    Operator.EXISTS: "", Operator.EQUALS: "=", Operator.NOT_EQUALS: "!=",
    Operator.IN: " in", Operator.NOT_IN: " notin", Operator.GREATER_THAN: ">", Operator.LESS_THAN: "<",
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
        narrowing=_narrowing(request),
    )


def _narrowing(request: ReadRequest) -> str:
    if request.verb == "get":
        return ""
    scope = request.scope(_NEWEST)
    if scope.single:
        return "name"
    return "namespace" if scope.narrowed else ""


def _selectors(request: ReadRequest) -> tuple[str, ...]:
    """Return keys and operators of the selectors; values are left out because they differ per client."""
    labels = {_shown(r) for r in request.labels.requirements}
    fields = {f"{t.field}{'!=' if t.negated else '='}" for t in request.fields.terms}
    if request.info.name:
        fields.discard("metadata.name=")  # from the path
    return (*sorted(fields)[:_SELECTORS_SHOWN], *sorted(labels)[:_SELECTORS_SHOWN])


def _shown(requirement: Requirement) -> str:
    if requirement.operator is Operator.DOES_NOT_EXIST:
        return f"!{requirement.key}"
    return f"{requirement.key}{_OPERATORS[requirement.operator]}"


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
