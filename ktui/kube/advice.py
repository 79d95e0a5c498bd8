"""Find cheaper variants of a request: the rewritten path, the reason, the predicted plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import quote

from ktui.kube.access_pattern import (
    PAGE,
    UNKNOWN,
    AccessPattern,
    Headers,
    Hint,
    Hints,
    changed,
    hints,
    query_text,
    rewritten,
)
from ktui.kube.listoptions import PARAMETERS
from ktui.kube.requestinfo import pairs, split_url
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.predict import predict
from ktui.kube.routing.request import ReadRequest, RequestError, parse_request
from ktui.kube.versions import Behaviour

# Approximate cost of etcd reads: one key, a page, the whole collection.
_OPERATION_COST = {
    "revision_probe": 1, "get_key": 1, "get_key_at_rev": 1, "range_page": 10, "range_at_rev": 20,
    "range_rest": 30, "range_full": 30,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Advice:
    """A cheaper variant. `path` is the rewritten request, `plan` its predicted plan.

    The client has to send `headers` with it. Where neither path nor headers change, the advice is about the
    client's access pattern and the request stays the same (`tryable` False). docs/advice.md has the evidence
    for each id.
    """

    id: str
    why: str
    path: str
    plan: Plan
    headers: Headers = ()
    tryable: bool = True


def near_parameter(name: str) -> str | None:
    """Return the list option that a client probably meant, None if no option has a similar name."""
    by_lower = {parameter.lower(): parameter for parameter in PARAMETERS}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[near[0]] if near else None


def advise(
    request: ReadRequest, state: CacheState, behaviour: Behaviour, pattern: AccessPattern = UNKNOWN
) -> tuple[Advice, ...]:
    """Return cheaper variants, the most effective first; none for a request that is refused or cheap already.

    A misspelt parameter is corrected first, and the other variants start from the corrected request.
    `pattern` adds what is known of the client and cannot be seen in one request.
    """
    found = []
    corrected = _corrected(request)
    if corrected is not None:
        each = (f"`{name}` is not a parameter; did you mean `{meant}`?" for name, meant in _misspelt(request))
        why = f"{'; '.join(each)} The server ignores it"
        found.append(Advice("a.parameter", why, corrected.url, predict(corrected, state, behaviour)))
        request = corrected
    plan = predict(request, state, behaviour)
    for rule in _RULES:
        for hint in rule(request, plan, behaviour):
            predicted = predict(parse_request(hint.path, request.verb), state, behaviour)
            if _cheaper(predicted, plan):
                found.append(Advice(hint.id, hint.why, hint.path, predicted))
    for hint in hints(request, plan, behaviour, pattern):
        predicted = predict(parse_request(hint.path), state, behaviour)
        tryable = bool(hint.headers) or hint.path != request.url
        found.append(Advice(hint.id, hint.why, hint.path, predicted, hint.headers, tryable))
    return tuple(found)


def _misspelt(request: ReadRequest) -> list[tuple[str, str]]:
    near = ((name, near_parameter(name)) for name in request.options.unknown)
    return [(name, meant) for name, meant in near if meant and meant != name]


def _corrected(request: ReadRequest) -> ReadRequest | None:
    """Return the request with correctly spelt parameters; None if none is misspelt, or a value is invalid."""
    names = dict(_misspelt(request))
    if not names:
        return None
    parameters = [(names.get(key, key), value) for key, value in pairs(split_url(request.url)[1])]
    try:
        return parse_request(request.info.path + query_text(parameters), request.verb)
    except RequestError:
        return None  # the value is not a valid selector: the warning has to suffice


def etcd_cost(plan: Plan) -> int:
    """Return the approximate weight of a plan's etcd reads; weights can only be compared with each other."""
    return sum(_OPERATION_COST.get(op, 0) for op in plan.unstreamed_ops)


def _cheaper(predicted: Plan, plan: Plan) -> bool:
    if predicted.error is not None:
        return False
    return plan.error is not None or etcd_cost(predicted) < etcd_cost(plan)


def _any_version(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Hints:
    if request.options.resource_version or request.options.continue_ or request.verb == "watch":
        return
    pages = request.options.limit > 0
    if pages and plan.source is not Source.ETCD:
        return  # a page is smaller than the whole collection, which resourceVersion=0 would return
    why = "resourceVersion=0 answers from memory without etcd, if a slightly old answer will do"
    if pages:
        why += "; the limit is then ignored, everything comes at once"
    if request.required_node is not None:
        why += "; pods are indexed by spec.nodeName, so only that node's are looked at"
    yield Hint("a.rv0", why, rewritten(request, resourceVersion="0"))


def _not_exact(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Hints:
    options = request.options
    if request.verb != "list" or options.continue_ or options.resource_version in ("", "0"):
        return
    if options.resource_version_match == "" and options.limit > 0:
        if behaviour.minor >= 31:
            why = "limit with resourceVersion means exactly that revision (the legacy rule)"
            why += "; NotOlderThan lets the cache serve the page"
            yield Hint("a.not_older_than", why, rewritten(request, resourceVersionMatch="NotOlderThan"))
        else:
            why = "without the limit the cache serves it: limit with resourceVersion is read from etcd"
            yield Hint("a.no_limit", why, rewritten(request, limit=None))
    elif options.resource_version_match == "NotOlderThan" and options.limit > 0 and behaviour.minor <= 30:
        why = "without the limit the cache serves it: up to 1.30 the cache cannot paginate"
        yield Hint("a.no_limit", why, rewritten(request, limit=None))
    elif options.resource_version_match == "Exact":
        why = "NotOlderThan lets the cache answer with what it has, if a newer answer will do as well"
        unlimited: dict[str, str | None] = {} if behaviour.minor >= 31 else {"limit": None}
        path = rewritten(request, resourceVersionMatch="NotOlderThan", **unlimited)
        yield Hint("a.not_older_than", why, path)


def _namespace(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Hints:
    namespace, info = request.required_namespace, request.info
    if request.verb != "list" or not namespace or info.namespace or request.cluster_scoped:
        return
    if behaviour.minor <= 26 and request.resource is not None:
        root = f"/api/{info.version}" if not info.group else f"/apis/{info.group}/{info.version}"
        path = f"{root}/namespaces/{quote(namespace)}/{info.resource}"
        rest = str(request.fields.without("metadata.namespace"))
        query = query_text(changed(request, fieldSelector=rest or None))
        why = "the namespace in the path narrows the read; up to 1.26 a metadata.namespace selector does not"
        yield Hint("a.namespace", why, path + query)


def _pages(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Hints:
    if request.verb != "list" or request.scope(behaviour).selective:
        return
    if "range_full" in plan.unstreamed_ops:
        if plan.stream_supported:
            return  # RangeStream reads in chunks anyway
        why = f"pages of {PAGE} keep each read of etcd small, if the answer has to be the newest"
        why += "; etcd 3.7 sends it in chunks anyway" if plan.unstreamed is not None else ""
    elif "n.429" in plan.reasons:
        why = "a page without selectors is read from etcd while the cache is being filled"
    else:
        return
    yield Hint("a.page", why, rewritten(request, limit=str(PAGE)))


Rule = Callable[[ReadRequest, Plan, Behaviour], Hints]
_RULES: tuple[Rule, ...] = (_any_version, _not_exact, _namespace, _pages)
