"""Telemetry folded into state."""

from __future__ import annotations

import pytest
from replayed import traffic

from ktui.contract.events import (
    CacheStatus,
    Dropped,
    EtcdCall,
    EtcdProgress,
    EtcdUsage,
    ProgressTick,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    ServerInfo,
    WatcherClosed,
    WatcherOpened,
)
from ktui.core import reducer
from ktui.core.recordings.markers import Timeline
from ktui.core.reducer import apply, state_events
from ktui.core.rows import badge_of
from ktui.core.state import CALLS_A_REQUEST, READ_LOG, WRITE_LOG, Rewind, State


def started(number: int, at: float = 1.0, **changes: object) -> RequestStarted:
    fields = {
        "verb": "LIST", "path": "/api/v1/pods", "query": "", "resource": "pods", "namespace": "",
        "name": "", "client": "kubectl", "user_agent": "kubectl/v1.36", **changes,
    }  # fmt: skip
    return RequestStarted(id=number, at=at, **fields)


def routed(number: int, route: str = "etcd", wait: str = "none") -> RequestRouted:
    steps = [RouteStep("resourceVersion unset?", "unset", True)]
    return RequestRouted(
        id=number, route=route, reason_id="d.unset", reason="because", steps=steps, wait=wait
    )


def finished(number: int, route: str = "etcd", status: int = 200) -> RequestFinished:
    return RequestFinished(id=number, status=status, route=route, ms=6.0, fetched=210, returned=198)


def test_a_request_grows_by_its_events() -> None:
    state = State()
    apply(state, [started(7)])
    assert badge_of(state.requests[7]).letter == "·"
    apply(state, [routed(7, "cache", wait="up_to_3s")])
    assert badge_of(state.requests[7]).letter == "W"
    apply(state, [finished(7, "cache")])
    row = state.requests[7]
    assert (badge_of(row).letter, row.done) == ("C", True)


def test_the_final_route_wins_over_the_predicted_one() -> None:
    state = State()
    apply(state, [started(1), routed(1, "cache"), finished(1, "cache,etcd")])
    assert badge_of(state.requests[1]).letter == "E"


def test_an_error_shows_before_its_route() -> None:
    state = State()
    apply(state, [started(1), routed(1), finished(1, status=410)])
    assert badge_of(state.requests[1]).letter == "!"


def test_rows_are_replaced_never_altered() -> None:
    state = State()
    apply(state, [started(1)])
    before = state.requests[1]
    apply(state, [routed(1)])
    assert before.routed is None and state.requests[1] is not before


def test_the_log_is_bounded_and_counts_what_it_forgot() -> None:
    state = State()
    apply(state, [started(number) for number in range(READ_LOG + 5)])
    assert len(state.requests) == READ_LOG
    assert (state.seen, state.reads.dropped) == (READ_LOG + 5, 5)
    assert next(iter(state.requests)) == 5


def test_writes_never_displace_reads() -> None:
    state = State()
    apply(state, [started(1)])
    apply(state, [started(number, verb="PATCH") for number in range(2, WRITE_LOG + 9)])
    assert 1 in state.requests and len(state.requests) == 1 + WRITE_LOG
    assert (state.reads.dropped, state.writes.dropped) == (0, 7)


def test_events_of_an_unknown_request_are_no_row() -> None:
    state = State()
    apply(state, [routed(9), finished(9)])
    assert state.requests == {}


def test_etcd_calls_go_to_their_request_up_to_a_bound() -> None:
    state = State()
    calls = [EtcdCall(op="range", request="key", request_id=1) for _ in range(CALLS_A_REQUEST + 9)]
    apply(state, [started(1), *calls, EtcdCall(op="status", request="")])
    assert len(state.requests[1].calls) == CALLS_A_REQUEST
    assert len(state.calls) == CALLS_A_REQUEST + 10


def test_the_head_never_goes_back_and_its_rate_comes_from_event_times() -> None:
    state = State()
    apply(
        state,
        [EtcdProgress(at=10.0, head=100), EtcdProgress(at=12.0, head=174), EtcdProgress(at=12.1, head=170)],
    )
    assert state.head.revision == 174
    assert 34 <= state.revisions_per_second <= 37


def test_a_head_of_another_history_is_taken_as_it_is() -> None:
    state = State()
    apply(state, [
        EtcdProgress(at=10.0, head=4_000),
        CacheStatus(at=10.0, resource="pods", state="ready", rv=3_990),
        ProgressTick(at=10.5, resource="pods", rv=4_000),
        EtcdProgress(at=11.0, head=7, histories=1),
        CacheStatus(at=11.0, resource="pods", state="ready", rv=5),
    ])  # fmt: skip
    assert (state.head.revision, state.revisions_per_second) == (7, 0.0)
    assert state.caches["pods"].rv == 5 and state.caches["pods"].lag(7) == 2
    assert state.rewind == Rewind(11.0, 4_000, 7)
    late = State()
    apply(late, [EtcdProgress(at=12.0, head=9, histories=1)])
    assert late.head.revision == 9 and late.rewind is None, "nothing of the old history was shown"


def test_rates_fall_when_nothing_moves_though_no_event_says_so() -> None:
    state = State()
    moving = [EtcdProgress(at=at, head=int(100 * at)) for at in (10.0, 11.0, 12.0)]
    fed = [
        CacheStatus(at=at, resource="pods", state="ready", events=int(100 * at)) for at in (10.0, 11.0, 12.0)
    ]
    apply(state, [*moving, *fed])
    assert state.revisions_per_second == state.events_per_second("pods") == 100.0
    apply(state, [EtcdUsage(at=18.0, rpcs=1, sent_bytes=1, received_bytes=1)])
    assert state.revisions_per_second == state.events_per_second("pods") == 25.0
    apply(state, [EtcdUsage(at=23.0, rpcs=2, sent_bytes=2, received_bytes=2)])
    assert state.revisions_per_second == state.events_per_second("pods") == 0.0
    assert state.events_per_second("nodes") == 0.0


def test_a_progress_tick_moves_a_cache_on_without_an_event() -> None:
    state = State()
    apply(
        state, [EtcdProgress(at=1.0, head=120), CacheStatus(at=1.0, resource="nodes", state="ready", rv=90)]
    )
    assert state.caches["nodes"].lag(state.head.revision) == 30
    apply(state, [ProgressTick(at=1.1, resource="nodes", rv=118)])
    assert (state.caches["nodes"].rv, state.caches["nodes"].lag(120)) == (118, 2)
    apply(state, [CacheStatus(at=1.2, resource="nodes", state="ready", rv=91)])
    assert state.caches["nodes"].rv == 118


def test_a_cache_that_is_not_ready_has_no_lag() -> None:
    state = State()
    apply(state, [CacheStatus(at=1.0, resource="pods", state="initializing", loaded=3, expected=9)])
    assert state.caches["pods"].lag(500) == 0


def test_watchers_come_and_go_and_drops_are_counted() -> None:
    state = State()
    apply(state, [WatcherOpened(id=3, resource="pods", since="1", client="kubelet"), Dropped(count=12)])
    assert set(state.watchers) == {3} and state.dropped == 12
    apply(state, [WatcherClosed(id=3, resource="pods", delivered=4)])
    assert not state.watchers and len(state.closed_watchers) == 1


def test_touched_tells_which_part_has_moved() -> None:
    state = State()
    before = state.touched.requests
    apply(state, [EtcdProgress(at=1.0, head=1)])
    assert state.touched.requests == before
    apply(state, [started(1)])
    assert state.touched.requests > before


# A recording that begins late begins with how things stand.


def folded(events: object) -> State:
    state = State()
    reducer.apply(state, events)  # type: ignore[arg-type]
    return state


@pytest.mark.parametrize("requests", [0, 1, 400])
def test_the_present_folds_to_the_present(requests: int) -> None:
    before = folded(traffic(requests))
    after = folded(state_events(before, 2_000_000_000.0))
    same_but_for_time = {"server", "health", "etcd_usage", "prefixes", "caches", "fan_outs", "deletions"}
    for name in same_but_for_time:
        assert _without_time(getattr(after, name)) == _without_time(getattr(before, name)), name
    assert after.head.revision == before.head.revision and after.head.db_bytes == before.head.db_bytes
    assert [(row.opened, row.state) for row in after.watchers.values()] == [
        (row.opened, row.state) for row in before.watchers.values()
    ]
    under_way = [row for row in before.requests.values() if not row.done]
    assert [(row.started, row.routed) for row in after.requests.values()] == [
        (row.started, row.routed) for row in under_way
    ]


def _without_time(value: object) -> str:
    import re

    return re.sub(r"\bat=[\d.]+", "", repr(value))


def test_it_begins_with_the_server_and_with_the_present_time() -> None:
    events = state_events(folded(traffic(50)), 2_000_000_000.0)
    assert isinstance(events[0], ServerInfo)
    timeline = Timeline()
    assert {timeline.advance(event) for event in events} == {2_000_000_000.0}
    assert timeline.began == 2_000_000_000.0, "what began long before does not stretch the recording"
