"""Traced requests as events: folded by the reducer, they are rows of Requests and Watches."""

from __future__ import annotations

import gzip

import pytest

from ktui.contract.events import AnyEvent, RequestFinished, RequestStarted
from ktui.contract.recording import encode_lines
from ktui.core.reducer import apply
from ktui.core.state import RequestRow, State
from ktui.kube.versions import behaviour_of
from ktui.traces.assembly import HOLD, TraceAssembler
from ktui.traces.feed import TraceEvents
from ktui.traces.otlp import decode_json
from ktui.traces.spans import TracedRequest
from tests.unit.traces.recorded import file, truth
from tests.unit.traces.test_versions import PODS, WATCH, new
from tests.unit.traces.trees import handler, span, spans_of

BEHAVIOUR = behaviour_of("1.36")


def requests_of(recording: str) -> list[TracedRequest]:
    assembler = TraceAssembler(settle=60)
    with gzip.open(file(recording, "otlp.jsonl.gz"), "rb") as lines:
        for line in lines:
            assembler.add(decode_json(line, assembler.counts), 0.0)
    return assembler.finish()


def events_of(recording: str) -> list[AnyEvent]:
    made = TraceEvents(BEHAVIOUR)
    return [event for request in requests_of(recording) for event in made.events(request)]


def folded(events: list[AnyEvent]) -> State:
    state = State()
    apply(state, events)
    return state


def rows(recording: str) -> dict[str, RequestRow]:
    """Return the rows by what was sent."""
    sent = truth(recording)
    state = folded(events_of(recording))
    return {sent[row.started.audit_id]["what"]: row for row in state.requests.values()}


def test_every_request_is_a_row_with_its_route() -> None:
    sent_by_id = truth("1.36-default")
    for row in folded(events_of("1.36-default")).requests.values():
        sent = sent_by_id[row.started.audit_id]
        assert (row.route, row.target, row.status) == (sent["route"], sent["path"], sent["status"])
        assert row.started.user_agent == sent["agent"]
        assert row.started.client == sent["agent"].partition("/")[0].partition(" ")[0]


def test_what_a_trace_does_not_contain_is_not_zero() -> None:
    found = rows("1.36-default")
    done = found["events"].finished  # a LIST from etcd
    assert done is not None
    assert {"fetched", "returned", "seats", "etcd_bytes", "cpu_ms"} <= set(done.untold)
    done = found["pods unset"].finished
    assert done is not None
    assert "fetched" not in done.untold
    assert (done.fetched, done.returned, done.etcd_rpcs) == (8000, 8000, 1)


@pytest.mark.parametrize(
    ("recording", "what", "says"),
    [
        ("1.36-default", "pods unset", "as the rules of 1.36 predict: "),
        ("1.36-default", "pods exact old", "the rules of 1.36 predict cache"),
        ("1.33-no-consistent-list", "pods unset", "the rules of 1.36 predict cache"),
        ("1.36-default", "forbidden", "refused with 403"),
    ],
)
def test_why_compares_the_observed_route_with_the_predicted_one(recording: str, what: str, says: str) -> None:
    row = rows(recording)[what]
    assert row.reason_id == "observed"
    assert says in row.reason
    assert [step.phase for step in row.steps] == ["trace", "rules"]
    assert row.steps[1].taken is ("as the rules" in says)


def test_stages_are_chain_and_phases() -> None:
    row = rows("1.36-default")["pods exact"]
    assert [stage.stage for stage in row.started.chain] == [
        "authentication", "impersonation", "flow control", "authorization",
    ]  # fmt: skip
    assert row.finished is not None
    assert list(row.finished.phases)[-3:] == ["list", "encode", "send"]
    refused = rows("1.36-default")["forbidden"]
    assert refused.started.chain[-1].decision == "refused with 403"


def test_a_watch_is_open_until_its_server_span_comes() -> None:
    tree = new(WATCH, 200, handler("WatchList", span("cacher.Watch"), url=PODS, verb="WATCH"))
    spans = spans_of(tree)
    assembler, made, state = TraceAssembler(), TraceEvents(BEHAVIOUR), State()
    assembler.add([each for each in spans if each.kind != 2], 0.0)
    for request in assembler.tick(HOLD):
        apply(state, made.events(request))
    (watcher,) = state.watchers.values()
    assert (watcher.opened.route, watcher.opened.observed, watcher.closed) == ("cache", True, None)
    for request in assembler.add([each for each in spans if each.kind == 2], 600.0):
        apply(state, made.events(request))
    assert not state.watchers
    (row,) = state.requests.values()
    assert (row.route, row.status) == ("cache", 200)


def test_events_can_be_recorded() -> None:
    events = events_of("1.36-default")
    assert {type(event) for event in events} >= {RequestStarted, RequestFinished}
    assert b"untold" in encode_lines(events)


def test_a_hostile_user_agent_is_only_text() -> None:
    request = requests_of("1.36-default")[0]
    request.user_agent, request.path = "\x1b[2J[bold]x\n", "/api/v1/pods?\x1b]0;x\x07"
    (started, *_) = TraceEvents(BEHAVIOUR).events(request)
    assert isinstance(started, RequestStarted)
    assert started.client  # made safe where it is shown, as for every client
