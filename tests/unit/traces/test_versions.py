"""The spans of each Kubernetes version: what changed in their names, attributes and places."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.traces.assembly import HOLD, TraceAssembler
from ktui.traces.spans import TracedRequest
from tests.unit.traces.trees import Tree, handler, request_of, server, span, spans_of

RANGE = span("etcdserverpb.KV/Range")
TXN = span("etcdserverpb.KV/Txn")
PROBE = span(
    "List(recursive=false) etcd3", RANGE, key="/pods", limit="1", **{"continue": "", "resourceVersion": ""}
)
FROM_ETCD = span("List(recursive=true) etcd3", RANGE, key="/pods", limit="0")
ONE_KEY = span(
    "List(recursive=false) etcd3",
    RANGE,
    key="/pods/a/x",
    limit="1",
    **{"continue": "", "resourceVersion": ""},
)
LISTED = {
    "Ready": {}, "watchCache locked acquired": {}, "watchCache fresh enough": {},
    "Listed items from cache": {"count": 7}, "Filtered items": {"count": 3},
}  # fmt: skip
UNCOUNTED = {**LISTED, "Listed items from cache": {}}
GAVE_UP = ("Ready", "watchCache locked acquired")
GET = "/api/v1/namespaces/a/pods/x"
WATCH = "/api/v1/pods?watch=1"


def old(target: str, status: int, *below: Tree) -> Tree:
    """The server span of 1.25 to 1.28."""
    attributes = {
        "http.method": "GET", "http.target": target, "http.user_agent": "x/1", "http.status_code": status,
        "http.wrote_bytes": 5,
    }  # fmt: skip
    return server("KubernetesAPI", attributes, *below)


def middle(target: str, status: int, *below: Tree) -> Tree:
    """That of 1.29 to 1.33: the span below its filters, `http.target` from kube-apiserver itself."""
    attributes = {
        "http.method": "GET", "http.target": target, "user_agent.original": "x/1", "http.status_code": status,
        "http.response_content_length": 5,
    }  # fmt: skip
    return server("KubernetesAPI", attributes, span("authentication", span("audit", *below)))


def new(target: str, status: int, *below: Tree) -> Tree:
    """That of 1.34 and later."""
    attributes = {
        "http.request.method": "GET", "http.target": target, "user_agent.original": "x/1",
        "http.response.status_code": status, "http.response.body.size": 5, "audit-id": "a1",
    }  # fmt: skip
    return server("GET /api/v1/pods", attributes, span("audit", span("authorization", *below)))


def get(*below: Tree) -> Tree:
    return handler("Get", *below, events=("About to Get from storage",), url=GET, verb="GET")


def cached(*below: Tree, name: str = "cacher.GetList", events: Any = LISTED) -> Tree:
    return span(name, *below, events=events, type="pods")


def found_in(name: str, *said: str, below: tuple[Tree, ...] = ()) -> Tree:
    return span(name, *below, events=said)


PODS = "/api/v1/pods"
STORAGE, CACHE = "About to Get from underlying storage", "About to fetch object from cache"
CASES: dict[str, tuple[Tree, str, bool | None, int, int]] = {
    # name: tree, route, fallback, scanned, returned
    "1.25 LIST at the cache": (old(f"{PODS}?resourceVersion=0", 200), "cache", False, -1, -1),
    "1.25 LIST at etcd": (old(PODS, 200, RANGE), "etcd", False, -1, -1),
    "1.25 GET": (old(GET, 200, RANGE), "etcd", False, 1, 1),
    "1.25 GET at the cache": (old(f"{GET}?resourceVersion=0", 200), "cache", False, 1, 1),
    "1.25 refused": (old(PODS, 403), "none", False, 0, 0),
    "1.27 cacher list": (old(PODS, 200, handler("List", cached(name="cacher list"))), "cache", False, 7, 3),
    "1.31 the probe is beside the cacher": (
        middle(PODS, 200, handler("List", PROBE, cached(name="cacher list"))),
        "cache",
        False,
        7,
        3,
    ),
    "1.31 fallback inside the cacher": (
        middle(PODS, 200, handler("List", PROBE, cached(FROM_ETCD, name="cacher list", events=GAVE_UP))),
        "etcd",
        True,
        -1,
        -1,
    ),
    "1.31 the probe fails": (middle(PODS, 500, handler("List", PROBE)), "none", False, 0, 0),
    "1.31 a GET has no span of the cacher": (
        middle(f"{GET}?resourceVersion=0", 200, get()),
        "cache",
        False,
        1,
        1,
    ),
    "1.31 a WATCH has no span": (middle(WATCH, 200), "", None, -1, -1),
    "1.32 cacher.Get": (
        middle(GET, 200, get(found_in("cacher.Get", STORAGE, below=(RANGE,)))),
        "etcd",
        False,
        1,
        1,
    ),
    "1.33 the cache is not ready": (
        middle(GET, 200, get(found_in("cacher.Get", f"{STORAGE} - cache not initialized", below=(RANGE,)))),
        "etcd",
        True,
        1,
        1,
    ),
    "1.34 cacher.Get at the cache": (new(GET, 200, get(found_in("cacher.Get", CACHE))), "cache", False, 1, 1),
    "1.34 the probe is inside the cacher": (
        new(PODS, 200, handler("List", cached(PROBE))),
        "cache",
        False,
        7,
        3,
    ),
    "1.34 fallback after the cacher": (
        new(PODS, 200, handler("List", cached(PROBE, events=GAVE_UP), FROM_ETCD)),
        "etcd",
        True,
        -1,
        -1,
    ),
    "1.34 too large a resourceVersion": (
        new(f"{PODS}?resourceVersion=9", 504, handler("List", cached(events=GAVE_UP))),
        "cache",
        False,
        0,
        0,
    ),
    "1.34 the cache is not ready": (new(PODS, 429, handler("List", cached(events=()))), "none", False, 0, 0),
    "1.34 spans of the fallback are lost": (
        new(PODS, 200, handler("List", cached(PROBE, events=GAVE_UP))),
        "",
        None,
        -1,
        -1,
    ),
    "1.36 a LIST by name at etcd, limit 1": (
        new(
            "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx&limit=1", 200, handler("List", ONE_KEY)
        ),
        "etcd",
        False,
        -1,
        -1,
    ),
    "1.36 WATCH": (
        new(WATCH, 200, span("cacher.Watch"), span("WatchServer.HandleHTTP")),
        "cache",
        False,
        -1,
        -1,
    ),
    "1.36 WATCH of events": (
        new("/api/v1/events?watch=1", 200, span("WatchServer.HandleHTTP")),
        "etcd",
        False,
        -1,
        -1,
    ),
    "1.36 WATCH whose first spans are lost": (
        new(WATCH, 200, span("WatchServer.HandleHTTP")),
        "",
        None,
        -1,
        -1,
    ),
    "1.37 GET at etcd": (new(GET, 200, get(span("Get etcd3", RANGE))), "etcd", False, 1, 1),
    "1.37 GET at the cache": (
        new(GET, 200, get(span("cacher.Get", events=("watchCache locked acquired",)))),
        "cache",
        False,
        1,
        1,
    ),
    "1.37 the probe is a plain read": (new(PODS, 200, handler("List", cached(RANGE))), "cache", False, 7, 3),
    "1.37 a streamed LIST": (
        new(
            PODS,
            200,
            handler("List", span("List(recursive=true) etcd3", span("etcdserverpb.KV/RangeStream"))),
        ),
        "etcd",
        False,
        -1,
        -1,
    ),
    "1.38 without a count": (
        new(PODS, 200, handler("List", cached(events=UNCOUNTED))),
        "cache",
        False,
        -1,
        3,
    ),
    "a review is not stored": (
        new("/apis/authorization.k8s.io/v1/subjectaccessreviews", 201, handler("Create")),
        "none",
        False,
        -1,
        -1,
    ),
    "a log is no object": (
        new(f"{GET}/log", 200, get(found_in("cacher.Get", STORAGE, below=(RANGE,)))),
        "etcd",
        False,
        -1,
        -1,
    ),
    "health": (new("/livez", 200), "none", False, -1, -1),
    "passed on to another server": (
        new("/apis/metrics.k8s.io/v1beta1/nodes", 200, span("HTTP GET")),
        "",
        None,
        -1,
        -1,
    ),
    "a write": (new(GET, 200, handler("Patch", span("GuaranteedUpdate etcd3", TXN))), "etcd", False, 1, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_route_and_objects(case: str) -> None:
    tree, route, fallback, scanned, returned = CASES[case]
    request = request_of(tree)
    assert (request.route, request.fallback) == (route, fallback), request.why
    assert (request.scanned, request.returned) == (scanned, returned)
    assert (request.body, request.user_agent) == (5, "x/1")
    assert request.complete


def test_the_audit_id_is_on_the_handlers_span_before_1_34() -> None:
    assert request_of(middle(PODS, 200, handler("List", cached()))).audit_id == "a1"


def test_an_unknown_span_is_counted_by_its_name() -> None:
    assembler = TraceAssembler()
    (request,) = assembler.add(
        spans_of(new(PODS, 200, handler("List", span("cacher.NewThing", cached())))), 0.0
    )
    assert assembler.counts.unknown == {"cacher.NewThing": 1}
    assert request.route == "cache"  # what is known still says so


def test_a_request_of_the_apiserver_itself_is_another_request() -> None:
    inner = new("/api/v1/namespaces", 200, handler("List", FROM_ETCD))
    outer = new(PODS, 200, handler("List", cached(), span("HTTP GET", inner)))
    found = {request.path: request.route for request in TraceAssembler().add(spans_of(outer), 0.0)}
    assert found == {PODS: "cache", "/api/v1/namespaces": "etcd"}


def test_spans_of_other_services_are_left_out() -> None:
    assembler = TraceAssembler()
    spans = spans_of(new(PODS, 200))
    for each in spans:
        each.service = "checkout"
    assert not assembler.add(spans, 0.0)
    assert (assembler.counts.others, len(assembler)) == (len(spans), 0)


def test_a_watch_is_told_while_it_is_open_and_again_when_it_ends() -> None:
    tree = new(WATCH, 200, handler("WatchList", span("cacher.Watch"), url=PODS, verb="WATCH"))
    whole = spans_of(tree)
    top, first = [each for each in whole if each.kind == 2], [each for each in whole if each.kind != 2]
    assembler = TraceAssembler()
    assert assembler.add(first, 0.0) == []
    assert assembler.tick(HOLD - 1) == []
    (opened,) = assembler.tick(HOLD)
    assert (opened.route, opened.complete, opened.verb, opened.took) == ("cache", False, "watch", -1)
    assert assembler.tick(HOLD + 1) == []
    (ended,) = assembler.add(top, 600.0)
    assert (ended.route, ended.complete, ended.continues) == ("cache", True, True)
    assert len(assembler) == 0


def test_memory_is_bounded() -> None:
    assembler = TraceAssembler(most_spans=20)
    half = [each for each in spans_of(new(PODS, 200, handler("List", cached()))) if each.kind != 2]
    found: list[TracedRequest] = []
    for number in range(100):
        for each in half:
            each.trace = f"{number + 1:032x}"
        found += assembler.add([each.__copy__() for each in half], 0.0)
    assert len(assembler) <= 20
    assert {request.complete for request in found} == {False}


def test_parents_in_a_circle_end() -> None:
    spans = spans_of(new(PODS, 200, handler("List", cached())))
    spans[-1].parent, spans[1].parent = spans[1].id, spans[-1].id
    (request,) = TraceAssembler().add(spans, 0.0)
    assert request.path == PODS
