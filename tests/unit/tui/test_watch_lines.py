"""The Watches screen's rows."""

from __future__ import annotations

import pytest

from ktui.contract.events import EtcdProgress, FanOut, WatcherClosed, WatcherOpened, WatcherState
from ktui.core.reducer import apply
from ktui.core.state import FAN_OUTS, State
from ktui.kube.gates import NEWEST_MINOR
from ktui.tui.watches.deliveries import audience_of, fan_out_content, makers_of
from ktui.tui.watches.watch_columns import KEPT_SECONDS, Health, scope_of, watch_lines


def opened(number: int, at: float = 0.0, **changes: str) -> WatcherOpened:
    return WatcherOpened(id=number, at=at, resource="pods", since="7", client="kubelet", **changes)


def stands(number: int, at: float = 1.0, **changes: object) -> WatcherState:
    return WatcherState(id=number, at=at, resource="pods", **{"capacity": 10, "live": True, **changes})


def state_of(*events: object) -> State:
    state = State()
    apply(state, events)  # type: ignore[arg-type]
    return state


@pytest.mark.parametrize(
    ("told", "health"),
    [
        ([], Health.CATCHING_UP),
        ([stands(1, live=False)], Health.CATCHING_UP),
        ([stands(1, buffered=4)], Health.LIVE),
        ([stands(1, buffered=5)], Health.SLOW),
        ([stands(1, buffered=10)], Health.FULL),
        ([stands(1, buffered=0, capacity=0)], Health.LIVE),
        ([stands(1), WatcherClosed(id=1, resource="pods", delivered=3, cause="too slow")], Health.CUT_OFF),
        ([WatcherClosed(id=1, resource="pods", delivered=0, cause="unfit event")], Health.CUT_OFF),
        ([WatcherClosed(id=1, resource="pods", delivered=0, cause="timeout")], Health.CLOSED),
        ([WatcherClosed(id=1, resource="pods", delivered=0, cause="client gone")], Health.CLOSED),
    ],
)
def test_health(told: list[object], health: Health) -> None:
    (line,) = watch_lines(state_of(opened(1), *told))
    assert line.health is health


def test_a_closed_one_stays_for_a_while_with_its_last_numbers() -> None:
    closed = WatcherClosed(id=1, at=5.0, resource="pods", delivered=9, bookmarks=2, made=4, shared=5)
    state = state_of(opened(1), opened(2, at=4.0), stands(1, delivered=3), closed)
    assert [line.id for line in watch_lines(state)] == [2, 1], "open ones first"
    row = watch_lines(state)[1].row
    assert (row.delivered, row.bookmarks, row.made, row.shared, row.buffered) == (9, 2, 4, 5, 0)
    apply(state, [EtcdProgress(at=5.0 + KEPT_SECONDS, head=1)])
    assert len(watch_lines(state)) == 2
    apply(state, [EtcdProgress(at=5.1 + KEPT_SECONDS, head=1)])
    assert [line.id for line in watch_lines(state)] == [2]


def test_lines_are_equal_while_they_read_the_same() -> None:
    state = state_of(opened(1, at=0.0), stands(1, at=700.0))
    (before,) = watch_lines(state)
    apply(state, [EtcdProgress(at=701.0, head=1)])
    assert watch_lines(state)[0] == before, "11m either way"
    apply(state, [stands(1, at=102.0, delivered=1)])
    assert watch_lines(state)[0] != before


def test_the_rate_comes_from_what_was_delivered() -> None:
    state = state_of(opened(1), *(stands(1, at=float(at), delivered=5 * at) for at in range(1, 9)))
    assert watch_lines(state)[0].per_second == 5.0
    apply(state, [EtcdProgress(at=30.0, head=1)])
    assert watch_lines(state)[0].per_second == 0.0, "nothing has come for long"


@pytest.mark.parametrize(
    ("asked", "scope"),
    [
        ({}, ""),
        ({"namespace": "a"}, "-n a"),
        ({"namespace": "a", "name": "x", "selector": "app=web"}, "a/x app=web"),
        ({"name": "node-1"}, "node-1"),
    ],
)
def test_scope(asked: dict[str, str], scope: str) -> None:
    (line,) = watch_lines(state_of(opened(1, **asked)))
    assert scope_of(line.row) == scope


def test_watchers_that_were_not_reported_are_no_rows() -> None:
    state = state_of(stands(9), WatcherClosed(id=9, resource="pods", delivered=1))
    assert not state.watchers and not state.closed_watchers


def test_the_newest_event_of_each_resource_is_kept_and_its_newest_deletion() -> None:
    gone = FanOut(resource="pods", change="DELETED", rv=5, previous_rv=3)
    state = state_of(
        gone, FanOut(resource="pods", change="ADDED", rv=8), FanOut(resource="nodes", change="ADDED", rv=7)
    )
    assert state.fan_outs["pods"].rv == 8 and state.fan_outs["nodes"].rv == 7
    assert state.deletions == {"pods": gone}
    assert list(state.earlier_fan_outs["pods"]) == [gone] and "nodes" not in state.earlier_fan_outs


def test_the_samples_before_the_newest_stand_below_it_as_far_as_there_is_room() -> None:
    changes = [
        FanOut(
            resource="pods", change="MODIFIED", rv=rv, name=f"pod-{rv}", watchers=12, concerned=4, delivered=3
        )
        for rv in range(1, FAN_OUTS + 3)
    ]
    state = state_of(*changes)
    newest, earlier = state.fan_outs["pods"], state.earlier_fan_outs["pods"]
    assert len(earlier) == FAN_OUTS, "no more are kept"
    whole = fan_out_content(newest, (), "pods", 80, 50).plain.splitlines()
    drawn = fan_out_content(newest, tuple(earlier), "pods", 80, len(whole) + 5).plain.splitlines()
    assert [row.split()[-7:] for row in drawn[-3:]] == [
        ["MODIFIED", f"pod-{rv}", "12", "→", "4", "→", "3"] for rv in (41, 40, 39)
    ]
    assert {len(row) for row in drawn[-3:]} == {80}, "the figures stand at the right"
    assert fan_out_content(newest, tuple(earlier), "pods", 80, len(whole) + 2).plain.splitlines() == whole


def test_the_comparison_starts_with_what_was_measured() -> None:
    event = FanOut(
        resource="pods", change="ADDED", rv=5, concerned=9, delivered=7, tables=3, leaving=1, encodings=2
    )
    assert (audience_of(event).plain, audience_of(event).delivered) == (3, 7)
    ours, *versions = makers_of(event)
    assert (ours.name, ours.copies, ours.encodings, ours.note) == ("ktui", None, 2, "measured")
    assert [maker.name for maker in versions] == [
        "1.19",
        "1.20 – 1.23",
        "1.24 – 1.28",
        f"1.29 – 1.{NEWEST_MINOR}",
    ]
