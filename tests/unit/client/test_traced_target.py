"""`ktui list --try --otlp`: requests are judged by their own traces."""

from __future__ import annotations

import pytest

from ktui.client.measure import ApiRequest
from ktui.client.target import CLIENT_ONLY, SHARED
from ktui.client.traced_target import FROM_TRACE, NO_TRACE, TracedTarget, judge
from ktui.core.lab.measured import Measured
from ktui.traces.receiver import OtlpReceiver
from ktui.traces.spans import TracedRequest

pytestmark = pytest.mark.anyio


def traced(audit_id: str, route: str = "cache", **more: object) -> TracedRequest:
    return TracedRequest("list", "/api/v1/pods", 1, 2, audit_id=audit_id, route=route, why="seen", **more)  # type: ignore[arg-type]


def measured(*audit_ids: str) -> Measured:
    counters = {"fetched": 999, "etcd_bytes": 5, "sent_bytes": 7}
    return Measured(
        "/api/v1/pods", 200, "etcd", counters=counters, remarks=[SHARED, "other"], audit_ids=[*audit_ids]
    )


def test_a_trace_takes_the_place_of_the_counters_that_others_move() -> None:
    run = measured("a1")
    judge(run, [traced("a1", scanned=80, returned=20, rpcs=1, stages={"probe": 1.0, "list": 2.0})])
    assert (run.route, run.first_route, run.reason) == ("cache", "cache", "seen")
    assert run.counters == {"fetched": 80, "returned": 20, "etcd_rpcs": 1, "sent_bytes": 7}
    assert run.phases == {"probe": 1.0, "list": 2.0}
    assert run.remarks == ["other", FROM_TRACE]


def test_pages_are_added_and_what_no_trace_counts_is_left_out() -> None:
    run = measured("a1", "a2")
    judge(run, [traced("a1", scanned=80, returned=50, rpcs=0), traced("a2", "etcd", returned=50, rpcs=2)])
    assert run.route == "cache,etcd"
    assert run.counters == {"returned": 100, "etcd_rpcs": 2, "sent_bytes": 7}


def test_without_its_trace_a_request_keeps_what_the_counters_say() -> None:
    run = measured("a1", "a2")
    judge(run, [traced("a1")])
    assert (run.route, run.counters["fetched"]) == ("etcd", 999)
    assert run.remarks == [SHARED, "other", NO_TRACE]


async def test_a_request_asks_for_its_trace_and_waits_for_it() -> None:
    sent: list[ApiRequest] = []

    class Server:
        real, client = True, None

        async def measure(self, request: ApiRequest, keep: object = None) -> Measured:
            sent.append(request)
            return measured("a1")

    receiver = OtlpReceiver("127.0.0.1", 0, 0)
    target = TracedTarget(Server(), receiver, wait=0.0)  # type: ignore[arg-type]
    run = await target.measure(ApiRequest("/api/v1/pods"))
    version, trace, span, flags = sent[0].headers["traceparent"].split("-")
    assert (version, len(trace), len(span), flags) == ("00", 32, 16, "01")
    receiver._give([traced("a1", scanned=1, returned=1)])
    receiver.drain()  # by the dashboard
    await target.settle([run])
    assert run.route == "cache"
    assert not receiver._searches


class _Nowhere:
    client = None


async def test_counters_are_not_compared_with_traces() -> None:
    receiver = OtlpReceiver("127.0.0.1", 0, 0)
    target = TracedTarget(_Nowhere(), receiver, wait=0.0)  # type: ignore[arg-type]
    target._found = receiver.search()
    receiver._give([traced("a1", scanned=1, returned=1)])
    runs = [measured("a1"), measured("a2")]
    await target.settle(runs)
    assert [run.counters.get("fetched") for run in runs] == [1, None]
    assert runs[1].remarks == ["other", NO_TRACE]


def test_what_metrics_do_not_say_the_trace_does() -> None:
    run = measured("a1")
    run.remarks = [CLIENT_ONLY.format("HTTP 403")]
    judge(run, [traced("a1")])
    assert run.remarks == [FROM_TRACE]
