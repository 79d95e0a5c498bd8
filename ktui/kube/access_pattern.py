"""Advice on a client's access pattern: how often it sends a request, how many at a time, as which user, in
which format.

A single request does not show these; `AccessPattern` holds what else is known of the client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, urlencode

from ktui.kube.gates import SHARDED, phase_of
from ktui.kube.requestinfo import pairs, split_url
from ktui.kube.resources import NODE_NAME
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.request import ReadRequest
from ktui.kube.selectors.shards import shard
from ktui.kube.versions import Behaviour

Parameters = list[tuple[str, str]]


def rewritten(request: ReadRequest, **changes: str | None) -> str:
    """Return the same path with changed parameters; None removes a parameter."""
    return request.info.path + query_text(changed(request, **changes))


def changed(request: ReadRequest, **changes: str | None) -> Parameters:
    kept = [(key, value) for key, value in pairs(split_url(request.url)[1]) if key not in changes]
    return kept + [(key, value) for key, value in changes.items() if value is not None]


def query_text(parameters: Parameters) -> str:
    return "?" + urlencode(parameters, safe="=,./:()!", quote_via=quote) if parameters else ""


JSON, PROTOBUF = "application/json", "application/vnd.kubernetes.protobuf"
METADATA_ONLY = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

# A client that repeats a request within this many seconds polls; a rarer one may be cheaper than a watch.
POLLING_SECONDS = 600.0
# From this many agents on, a simultaneous start is a thundering herd.
HERD = 10
# From this many pages on, larger pages are advised, unless a page has at least PAGE objects already.
MANY_PAGES, PAGE = 10, 500
# Answers below this size (bytes) are cheap in any format.
BIG_ANSWER = 256 * 1024
RESTARTS_PER_MINUTE = 0.1  # of the agents
_SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class AccessPattern:
    """Facts about the client that its request does not contain.

    `client` is its name. `repeated_every` is in seconds, None for once or unknown; `times` is how
    often that was seen (0: not counted). `pages` of one LIST were fetched one after the other.
    `keeps_part`: each of the agents keeps only a part of the answer, by the hash of uid or namespace.
    `informer`: it sends the LIST and then a WATCH of the same collection.
    `agents` of the same kind send the same request, `together` if all do so at the same time (a rollout, a
    restart); `node` is the agent's node. `account` is its user name, "" if unknown;
    `account_shared_with` names other clients with the same account. `accept` is its Accept header,
    None if unknown; `answer_bytes` is the size of the answer before gzip.
    """

    client: str = ""
    repeated_every: float | None = None
    times: int = 0
    pages: int = 0
    agents: int = 1
    together: bool = False
    keeps_part: bool = False
    informer: bool = False
    node: str = ""
    account: str = ""
    account_shared_with: tuple[str, ...] = ()
    accept: str | None = None
    answer_bytes: int | None = None


UNKNOWN = AccessPattern()

_STREAMING = {"resourceVersion": None, "resourceVersionMatch": "NotOlderThan", "sendInitialEvents": "true"}
Headers = tuple[tuple[str, str], ...]


class Hint(NamedTuple):
    """Advice whose route is not predicted yet. `path` may equal the request's own path."""

    id: str
    why: str
    path: str
    headers: Headers = ()


Hints = Iterator[Hint]


def hints(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    """Yield what the client could do instead; nothing for a request that the server refuses."""
    if plan.error is None:
        for rule in _RULES:
            yield from rule(request, plan, behaviour, pattern)


def _watch(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    every = pattern.repeated_every
    if every is None or every > POLLING_SECONDS or request.verb == "watch" or request.options.continue_:
        return
    seen = f" ({pattern.times} times so far)" if pattern.times else ""
    who = f"{pattern.client} asks" if pattern.client else "asked"
    asked = f"{who} again every {_seconds(every)}{seen}"
    kept = {"limit": None, "resourceVersionMatch": None, "timeoutSeconds": None}
    begin: dict[str, str | None] = {**kept, "watch": "true", "allowWatchBookmarks": "true"}
    if behaviour.enabled("WatchList"):
        begin |= _STREAMING
        how = "a WATCH (WatchList, an informer)"
    else:
        begin |= {"resourceVersion": "0"}
        how = "an informer (LIST, then WATCH)"
    why = f"{asked}: {how} gets the state once and then only what changes"
    yield Hint("a.watch", why, _collection(request, begin))


def _watch_list(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    """Advise a streaming list to an informer that LISTs (client-go sends it by itself since 0.35)."""
    if not pattern.informer or request.verb != "list" or request.options.continue_:
        return
    # On in 1.32, off in 1.33: no advice before it stays on.
    if not behaviour.enabled("WatchList") or behaviour.minor < 34:
        return
    who = pattern.client or "an informer"
    why = (
        f"{who} LISTs and then WATCHes: a WATCH with sendInitialEvents gets the same objects one by one, "
        "which the server never holds as one answer (client-go ≥ 0.35 does it by itself, 0.34 with "
        "KUBE_FEATURE_WatchListClient=true; do not turn it on in 0.32 and 0.33)"
    )
    match = {"limit": None, "resourceVersion": None, "resourceVersionMatch": None}  # shown in this order
    begin = {**match, **_STREAMING, "watch": "true", "allowWatchBookmarks": "true"}
    yield Hint("a.watch_list", why, rewritten(request, **begin))


def _collection(request: ReadRequest, changes: dict[str, str | None]) -> str:
    """Return the path of the LIST of the request's collection: a GET becomes a field selector of its name."""
    info = request.info
    if request.verb != "get":
        return rewritten(request, **changes)
    collection = rewritten(request, **changes, fieldSelector=f"metadata.name={info.name}")
    return collection.replace(f"/{info.resource}/{info.name}", f"/{info.resource}", 1)


def _node(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    if not pattern.node or request.verb == "get" or not request.of_pods:
        return
    if request.required_node is not None or request.options.continue_:
        return
    selector = ",".join(filter(None, [request.options.field_selector, f"{NODE_NAME}={pattern.node}"]))
    changes: dict[str, str | None] = {"fieldSelector": selector}
    if plan.source is Source.ETCD:  # etcd has no indexes
        changes |= {"resourceVersion": "0", "resourceVersionMatch": None, "limit": None}
    why = "the watch cache has an index of pods by spec.nodeName: an agent gets its own node's only"
    yield Hint("a.node", why, rewritten(request, **changes))


def _metadata(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    if request.verb != "list" or request.scope(behaviour).single or not _whole_objects(pattern):
        return
    wanted = PROTOBUF if _protobuf_first(pattern.accept) else JSON
    why = (
        "the metadata alone, as a PartialObjectMetadataList, if spec and status are not read: fewer bytes "
        "are sent; the server reads as many objects"
    )
    yield Hint("a.metadata", why, request.url, (("Accept", f"{wanted};{METADATA_ONLY}"),))


def _protobuf(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    built_in = request.resource is not None and not request.resource.custom
    if request.verb == "get" or not built_in or request.scope(behaviour).single:
        return
    if _whole_objects(pattern) and not _protobuf_first(pattern.accept):
        why = "protobuf is smaller than JSON and cheaper to decode"
        yield Hint("a.protobuf", why, request.url, (("Accept", f"{PROTOBUF}, {JSON}"),))


def _larger_pages(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    limit = request.options.limit
    if request.verb == "list" and pattern.pages >= MANY_PAGES and 0 < limit < PAGE:
        each = "; of each etcd counts all the keys that are left" if plan.source is Source.ETCD else ""
        why = f"{pattern.pages} pages of {limit} so far: pages of {PAGE} are fewer requests{each}"
        yield Hint("a.larger_pages", why, rewritten(request, limit=str(PAGE), **{"continue": None}))


def _backoff(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    if request.verb != "get" and pattern.together and pattern.agents >= HERD:
        at_once = max(1, int(pattern.agents * RESTARTS_PER_MINUTE))
        why = (
            f"{pattern.agents:,} agents ask at the same time: restart at most {at_once:,} a minute "
            "(10 % of the nodes), each with a backoff that grows and is random"
        )
        yield Hint("a.backoff", why, request.url)


def _shard(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    """Advise a shard where each agent discards what the others keep (KEP-5866, alpha since 1.36)."""
    count = pattern.agents
    if not pattern.keeps_part or count < 2 or request.verb == "get" or request.options.shard_selector:
        return
    if phase_of(SHARDED, behaviour.minor) is None:
        return
    why = (
        f"each of {count:,} {pattern.client or 'agents'} keeps a part: a shardSelector of its own "
        f"(here the first of {count:,}) sends it that part of the bytes and events; the server still "
        "tests every object"
    )
    if behaviour.enabled(SHARDED):
        yield Hint("a.shard", why, rewritten(request, shardSelector=str(shard(0, count))))
    else:
        yield Hint("a.shard", f"{why}. The gate {SHARDED} (alpha) is off", request.url)


def _account(request: ReadRequest, plan: Plan, behaviour: Behaviour, pattern: AccessPattern) -> Hints:
    if not pattern.account.startswith(_SERVICE_ACCOUNT) or not behaviour.enabled("APIPriorityAndFairness"):
        return
    own = "with a ServiceAccount of its own a FlowSchema can set the client apart from the others"
    if pattern.account.endswith(":default"):
        shared = "is shared by every client without one"
    elif pattern.account_shared_with:
        others = ", ".join(pattern.account_shared_with[:3])
        more = len(pattern.account_shared_with) - 3
        shared = f"is used by {others}{f' and {more} more' if more > 0 else ''} as well"
    else:
        return
    yield Hint("a.account", f"{pattern.account} {shared}: {own}", request.url)


def _whole_objects(pattern: AccessPattern) -> bool:
    """True if whole objects are known to be requested and not known to be few."""
    small = pattern.answer_bytes is not None and pattern.answer_bytes < BIG_ANSWER
    return pattern.accept is not None and "as=" not in pattern.accept and not small


def _protobuf_first(accept: str | None) -> bool:
    return (accept or "").split(",")[0].split(";")[0].strip() == PROTOBUF


def _seconds(every: float) -> str:
    return f"{every:.0f} s" if every >= 1 else f"{every * 1000:.0f} ms"


_Rule = Callable[[ReadRequest, Plan, Behaviour, AccessPattern], Hints]
_RULES: tuple[_Rule, ...] = (
    _watch, _watch_list, _larger_pages, _node, _shard, _metadata, _protobuf, _backoff, _account,
)  # fmt: skip
