"""From the spans of one request to its record: its route, objects, bytes and stages.

The rules. A span or an event that is there proves what it says. One that is missing proves something only in
a complete tree, and never against the response: a LIST with status 200 read objects from somewhere, so if no
span says where, spans were lost and the route is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from ktui.kube.requestinfo import RequestInfo, api_verb, parse_path, request_verb, selected_name
from ktui.kube.routing.request import is_cached
from ktui.traces import span_names as names
from ktui.traces.span_names import Role
from ktui.traces.spans import SERVER, STAGES, SpanCounts, TracedRequest, TraceSpan, whole

Children = Mapping[str, Sequence[TraceSpan]]
Add = Callable[[str, float], None]
_MS = 1_000_000
_DEEPEST = 200


class _Part(NamedTuple):
    """A span of a request: its role, and the roles of the spans above it."""

    span: TraceSpan
    role: Role
    above: tuple[Role, ...]


def is_server(span: TraceSpan) -> bool:
    """True for the span of a request that an apiserver received."""
    if span.service not in ("", names.SERVICE):
        return False
    if span.name == names.SERVER_NAME:
        return True
    return span.kind == SERVER and (bool(span.text(*names.TARGET)) or names.AUDIT_ID in span.attributes)


def is_handler(span: TraceSpan) -> bool:
    """True for the span of a handler, which names its request although the server span is missing."""
    return span.name in names.HANDLERS and names.HANDLER_URL in span.attributes


def read_request(
    top: TraceSpan, children: Children, counts: SpanCounts, above: TraceSpan | None = None,
    *, torn: bool = False,
) -> TracedRequest:  # fmt: skip
    """Return the record of a request from its server span, or its handler's span without one.

    `above` is the server span's parent, if it came; `torn`: spans of this trace are known to be lost.
    """
    spans = _Spans(top, list(_parts(top, children, counts)))
    request = _from_server(top, spans) if is_server(top) else _from_handler(top)
    request.probes = len(spans.probes)
    request.rpcs = spans.rpcs
    sure = request.complete and not torn
    _route(request, spans, sure=sure)
    _objects(request, spans, sure=sure)
    request.stages = _stages(request, spans, above)
    return request


def _parts(top: TraceSpan, children: Children, counts: SpanCounts) -> Iterator[_Part]:
    """Yield the spans below a server span, without those of requests that the apiserver sent itself."""
    seen = {top.id}
    todo: list[tuple[TraceSpan, tuple[Role, ...]]] = [(top, ())]
    while todo:
        span, above = todo.pop()
        role = Role.SERVER if span is top and is_server(top) else names.role_of(span.name)
        if role is None:
            counts.add_unknown(span.name)
            role = Role.OTHER
        yield _Part(span, role, above)
        if len(above) >= _DEEPEST:
            continue
        below = (*above, role)
        for child in reversed(children.get(span.id, ())):
            if child.id not in seen and not is_server(child):
                seen.add(child.id)
                todo.append((child, below))


class _Spans:
    """The spans of a request by what they say."""

    def __init__(self, top: TraceSpan, parts: list[_Part]) -> None:
        self.top = top
        self.parts = parts
        self.handler = self._first(Role.HANDLER)
        self.list = self._first(Role.CACHE_LIST)
        self.get = self._first(Role.CACHE_GET)
        self.watch = self._first(Role.CACHE_WATCH)
        self.encode = self._first(Role.ENCODE)
        self.stream = self._first(Role.WATCH_STREAM)
        self.rpcs = sum(part.role is Role.ETCD_RPC for part in parts)
        name = _name_of(self.handler, top)
        etcd = [part for part in parts if _is_etcd(part)]
        self.probes = [part.span for part in etcd if self._is_probe(part, name)]
        probing = set(map(id, self.probes))
        self.etcd = [part.span for part in etcd if id(part.span) not in probing]
        self.proxied = any(part.role is Role.CLIENT for part in parts)

    def _first(self, role: Role) -> TraceSpan | None:
        return next((part.span for part in self.parts if part.role is role), None)

    def _is_probe(self, part: _Part, name: str) -> bool:
        """True for the read of one key that finds etcd's current revision for a consistent read."""
        span, cached = part.span, Role.CACHE_LIST in part.above or Role.CACHE_WATCH in part.above
        if part.role is Role.ETCD_RPC:  # from 1.37 on it has no span of its own
            return cached and span.name in names.READ_RPCS
        if part.role is not Role.ETCD_LIST or span.name == names.RECURSIVE or span.text(names.LIMIT) != "1":
            return False
        if span.text(names.REVISION) or span.text(names.CONTINUE):
            return False
        key = span.text(names.KEY)
        return cached or self.list is not None or not name or not key.endswith(f"/{name}")


def _is_etcd(part: _Part) -> bool:
    """True for a span that reads or writes etcd, and is not part of another such span."""
    if Role.ETCD_LIST in part.above or Role.ETCD_GET in part.above or Role.ETCD_WRITE in part.above:
        return False
    if part.role is Role.ETCD_RPC:
        return part.span.name in (*names.READ_RPCS, *names.WRITE_RPCS, names.WATCH_RPC)
    return part.role in (Role.ETCD_LIST, Role.ETCD_GET, Role.ETCD_WRITE)


def _name_of(handler: TraceSpan | None, top: TraceSpan) -> str:
    """Return the name of the object that the request is for, or selects; "" for none."""
    if handler is not None and (name := handler.text(names.HANDLER_NAME)):
        return name
    target = top.text(*names.TARGET)
    query = target.partition("?")[2]
    if "metadata.name" in query:
        return selected_name(info_of(target), "LIST", query)
    return info_of(target).name


def info_of(path: str) -> RequestInfo:
    """Return what a path, with or without its query, says of a request."""
    return parse_path(unquote(path.partition("?")[0]))


def _from_server(span: TraceSpan, spans: _Spans) -> TracedRequest:
    handler = spans.handler
    target = span.text(*names.TARGET)
    if not target:
        target, query = span.text(*names.PATH), span.text(*names.QUERY)
        target = f"{target}?{query}" if query else target
    info, method = info_of(target), span.text(*names.METHOD)
    verb = request_verb(method, info, target.partition("?")[2]) if info.is_resource else method
    host, port = span.text(*names.CLIENT), span.text(*names.PEER_PORT)
    told = handler.text if handler is not None else lambda *_: ""
    return TracedRequest(
        verb=(api_verb(verb) if info.is_resource else "") or verb.lower(),
        path=target or told(names.HANDLER_URL), at=span.start // 1000, took=span.took // 1000,
        audit_id=next((found for part in spans.parts if (found := part.span.text(names.AUDIT_ID))), ""),
        user_agent=span.text(*names.AGENT) or told(names.HANDLER_AGENT), client=host,
        peer=f"{host}:{port}" if host and port else host, status=span.number(*names.STATUS),
        body=span.number(*names.BODY), query=bool(span.text(*names.TARGET)), trace_id=span.trace,
        name=told(names.HANDLER_NAME), accept=told(names.HANDLER_ACCEPT),
    )  # fmt: skip


def _from_handler(span: TraceSpan) -> TracedRequest:
    """Return the record of a request whose server span is missing: without query, status and bytes.

    Of another span than a handler's only the Audit-ID and the route are known.
    """
    path = span.text(names.HANDLER_URL)
    return TracedRequest(
        verb=handler_verb(span.name, span.text(names.HANDLER_VERB), path) if path else "", path=path,
        at=span.start // 1000, took=span.took // 1000 if path and span.name != "WatchList" else -1,
        audit_id=span.text(names.AUDIT_ID), user_agent=span.text(names.HANDLER_AGENT),
        client=span.text(names.HANDLER_CLIENT), complete=False, query=False, trace_id=span.trace,
        name=span.text(names.HANDLER_NAME), accept=span.text(names.HANDLER_ACCEPT),
    )  # fmt: skip


def handler_verb(handler: str, verb: str, path: str) -> str:
    """Return the API's verb of a handler's span, whose own `verb` is GET, LIST, WATCH, POST …"""
    if handler == "Delete" and not info_of(path).name:
        return "deletecollection"
    return names.HANDLERS.get(handler) or api_verb(verb) or verb.lower()


def _route(request: TracedRequest, spans: _Spans, *, sure: bool) -> None:
    """Set route, fallback and why. `sure`: the tree is complete, so a missing span means something."""
    if spans.etcd:
        request.route, request.why = "etcd", f"it has the span {spans.etcd[0].name!r}"
        asked = spans.list is not None and not _listed(spans.list)
        not_ready = spans.get is not None and _says(spans.get, names.NOT_READY)
        request.fallback = asked or not_ready
        return
    route, why = _from_cache(spans, request.status)
    if route and (route != "none" or sure):
        request.route, request.why = route, why
        request.fallback = False
        return
    request.route, request.why = _without_storage(request, spans, sure=sure)
    request.fallback = False if request.route else None


def _listed(span: TraceSpan) -> bool:
    return any(event.name in names.LISTED_EVENTS for event in span.events)


def _says(span: TraceSpan, text: str) -> bool:
    return any(text in event.name for event in span.events)


def _from_cache(spans: _Spans, status: int) -> tuple[str, str]:
    """Return the route that the cacher's spans prove, and why; "" if they prove none."""
    if (found := spans.list) is not None:
        if _listed(found):
            return "cache", f"{found.name!r} listed the objects"
        if not _says(found, names.READY) or (spans.probes and not _says(found, names.LOCKED)):
            return ("none" if status >= 400 else ""), f"{found.name!r} ended before the cache was asked"
        return ("cache" if status >= 400 else ""), f"{found.name!r} waited for the cache and gave up"
    if (found := spans.get) is not None:
        if _says(found, names.FROM_STORAGE):
            return "etcd", f"{found.name!r}: {names.FROM_STORAGE!r}"
        if _says(found, names.FROM_CACHE) or _says(found, names.LOCKED):
            return "cache", f"{found.name!r}: {names.FROM_CACHE!r}"
        return ("none" if status == 400 else ""), f"{found.name!r} ended before anything was read"
    if spans.watch is not None:
        return "cache", f"it has the span {spans.watch.name!r}"
    return "", ""


_UNSTORED = ("authorization.k8s.io", "authentication.k8s.io", "componentstatuses")  # groups, and resources
_OF_OBJECT = ("", "status", "scale")  # subresources whose GET returns the object
_MISSING = "no span says where it was read from"


def _without_storage(request: TracedRequest, spans: _Spans, *, sure: bool) -> tuple[str, str]:
    """Return the route of a request without spans of etcd or of the cacher's decision."""
    if not sure:
        return "", "its spans are incomplete"
    if spans.proxied and spans.handler is None:
        return "", "it was passed on to another server"
    info = info_of(request.path)
    if not info.is_resource:
        return "none", "no resource"
    if info.group in _UNSTORED or info.resource_id in _UNSTORED:
        return "none", f"{info.resource} are not stored"
    refused = request.status >= 400
    reached = spans.handler is not None and _says(spans.handler, names.GET_STORAGE)
    if request.verb == "get" and (reached or (spans.handler is None and not refused)):
        return _old_get(request, spans)
    if refused:
        return "none", f"refused ({request.status}) before anything was read"
    if request.verb == "watch":
        if spans.stream is not None and not is_cached(info.group, info.resource):
            return "etcd", f"{info.resource} have no watch cache, and it has no span 'cacher.Watch'"
        return "", "up to 1.35 a WATCH has no span that says where from"
    filtered = any(part.role is Role.FILTER for part in spans.parts)
    if request.verb == "list" and spans.handler is None and not filtered:
        return "cache", "no RPC to etcd (1.25 has no other spans)"
    return "", _MISSING


def _old_get(request: TracedRequest, spans: _Spans) -> tuple[str, str]:
    """Return the route of a GET without `cacher.Get`, which 1.32 brought."""
    if request.status >= 400 and request.status not in (404, 504):
        return "none", f"refused ({request.status}) before anything was read"
    if spans.get is not None or names.AUDIT_ID in spans.top.attributes:  # 1.34 and later have `cacher.Get`
        return "", _MISSING
    return "cache", "no RPC to etcd"


def _objects(request: TracedRequest, spans: _Spans, *, sure: bool) -> None:
    """Set the objects that were read and returned, where spans tell."""
    if spans.list is not None and request.route == "cache":
        request.scanned = _count(spans.list, names.LISTED)
        request.returned = _count(spans.list, names.FILTERED)
    if not sure:
        return
    of_object = info_of(request.path).subresource in _OF_OBJECT
    read = request.route in ("cache", "etcd") and request.status in (200, 404)
    if request.verb == "get" and read and of_object:
        request.scanned = request.returned = int(request.status == 200)
    elif request.verb == "list" and request.status >= 400:
        request.returned = 0
        if not spans.etcd:
            request.scanned = max(0, request.scanned)


def _count(span: TraceSpan, name: str) -> int:
    event = span.event(name)
    value = event.attributes.get(names.COUNT) if event is not None else None
    return whole(value) if value is not None else -1


def _stages(request: TracedRequest, spans: _Spans, above: TraceSpan | None) -> dict[str, float]:
    """Return the milliseconds of each stage. Filters nest: the time of one is its span less the next one."""
    found: dict[str, float] = {}

    def add(stage: str, nanoseconds: float) -> None:
        if nanoseconds > 0:
            found[stage] = found.get(stage, 0.0) + nanoseconds / _MS

    top = spans.top
    if above is not None and above.name == names.AUTHENTICATION:
        add("authentication", above.took - top.took)
    _filters(spans, add, watch=request.verb == "watch")
    if (cached := spans.list) is not None:  # until the cache is ready, the wait for the revision, the listing
        ready, locked, fresh = map(cached.event, (names.READY, names.LOCKED, names.FRESH))
        if ready is not None:
            add("ready", ready.at - cached.start)
        if locked is not None:
            add("wait", (fresh.at if fresh is not None else cached.end) - locked.at)
        if fresh is not None:
            add("list", cached.end - fresh.at)
    if spans.get is not None and request.route == "cache":
        add("get", spans.get.took)
    if spans.handler is not None and spans.handler.name == "WatchList":
        add("initial events", spans.handler.took)
    add("probe", sum(span.took for span in spans.probes))
    add("etcd", sum(span.took for span in spans.etcd if span.name != names.WATCH_RPC))
    if (encode := spans.encode) is not None:
        started = encode.event(names.WRITING)
        begin = min(max(started.at, encode.start), encode.end) if started is not None else encode.end
        add("encode", begin - encode.start)
        add("send", encode.end - begin)
    add("admission", sum(part.span.took for part in spans.parts if part.role is Role.WEBHOOK))
    add("transform", sum(part.span.took for part in spans.parts if part.role is Role.TRANSFORM))
    if request.verb != "watch" and is_server(top):
        known = sum(ms for stage, ms in found.items() if stage != "authentication")
        add("other", top.took - known * _MS)
    return {stage: round(found[stage], 3) for stage in STAGES if stage in found}


def _filters(spans: _Spans, add: Add, *, watch: bool) -> None:
    chain = [part.span for part in spans.parts if part.role is Role.FILTER]
    for span, inner in pairwise(chain):
        add(names.FILTERS[span.name], span.took - inner.took)
    if chain and not watch:  # the last filter of a WATCH runs as long as its stream, which has no span
        last = len(chain)
        inside = sum(part.span.took for part in spans.parts if len(part.above) == last + 1)
        add(names.FILTERS[chain[-1].name], chain[-1].took - inside)
