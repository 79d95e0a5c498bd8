"""A recording that begins late begins with how things stand."""

from __future__ import annotations

import pytest
from replayed import traffic

from ktui.contract.events import ServerInfo
from ktui.core import reducer
from ktui.core.recordings.markers import Timeline
from ktui.core.state import State
from ktui.core.state_events import state_events


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
