"""Reads grouped by client and shape."""

from __future__ import annotations

import pytest

from ktui.contract.events import AnyEvent
from ktui.core import reducer
from ktui.core.ranking.rank_lines import RankLines
from ktui.core.ranking.ranking import KEPT_IDS, Group, Ranking
from ktui.core.state import READ_LOG, State
from tests.tui.reads import AT, asked, ended, standing, watching


def folded(*requests: list[AnyEvent]) -> State:
    state = State()
    for events in requests:
        reducer.apply(state, events)
    return state


def names(ranking: Ranking) -> list[tuple[str, int]]:
    return [(group.key.client, group.count) for group in ranking.ranked()]


def test_requests_that_differ_in_names_and_revisions_are_of_one_shape() -> None:
    state = folded(
        asked(1, query="fieldSelector=spec.nodeName%3Dn-1&resourceVersion=0"),
        asked(2, query="fieldSelector=spec.nodeName%3Dn-2&resourceVersion=0"),
        asked(3, query="fieldSelector=spec.nodeName%3Dn-2"),
    )
    groups = state.ranking.ranked()
    assert [group.count for group in groups] == [2, 1]
    assert groups[0].key.shape.selectors == ("spec.nodeName=",)
    assert groups[0].example.id == 2


def test_clients_are_told_apart() -> None:
    assert len(folded(asked(1), asked(2, client="other")).ranking) == 2


def test_the_most_expensive_comes_first_by_bytes_taken_out_of_etcd_and_cache() -> None:
    state = folded(
        asked(1, client="many", encoded_bytes=900, sent_bytes=900, cached_bytes=900),
        asked(2, client="cached", cached_bytes=5_000),
        asked(3, client="stored", etcd_bytes=4_000, cached_bytes=2_000, encoded_bytes=60),
    )
    assert [name for name, _ in names(state.ranking)] == ["stored", "cached", "many"]
    most_expensive = state.ranking.ranked()[0]
    assert most_expensive.spent.processed_bytes == 6_000
    assert most_expensive.spent.amplification == 100.0
    assert state.ranking.total.processed_bytes == 11_900


def test_costs_are_added_up() -> None:
    cost = {"fetched": 30, "returned": 3, "seats": 10, "cpu_ms": 1.5, "sent_bytes": 7, "etcd_rpcs": 2}
    group = _only(folded(asked(1, **cost), asked(2, ms=8.0, route="etcd", **cost)))
    spent = group.spent
    assert (spent.fetched, spent.returned, spent.sent_bytes, spent.etcd_rpcs) == (60, 6, 14, 4)
    assert spent.seat_seconds == pytest.approx(0.1)
    assert spent.cpu_ms == 3.0
    assert group.routes == {"C": 1, "E": 1}
    assert group.milliseconds(1.0) == 8.0
    assert group.milliseconds(0.5) == pytest.approx(2.0, rel=0.03)


def test_errors_count_but_writes_and_other_paths_do_not() -> None:
    state = folded(
        asked(1, status=410, route="none"), asked(2, verb="POST"), asked(3, "/version", verb="GET")
    )
    assert names(state.ranking) == [("agent", 1)]
    assert _only(state).failed == 1


def test_a_watch_costs_what_it_took_until_it_was_live() -> None:
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    group = _only(folded(asked(1, query=query, verb="WATCH", ms=60_000.0, initial_ms=12.0)))
    assert group.key.shape.verb == "watch"
    assert group.milliseconds(1.0) == 12.0


def test_a_watch_counts_while_it_is_open() -> None:
    state = folded(watching(1))
    assert not len(state.ranking), "nothing has been sent yet"
    reducer.apply(state, [standing(1, at=AT + 1)])
    group = _only(state)
    assert (group.count, group.spent.fetched, group.spent.returned) == (1, 40, 30)
    assert (group.spent.processed_bytes, group.spent.sent_bytes) == (9_000, 3_000)
    assert group.milliseconds(1.0) == 12.0
    assert group.spent.seat_seconds == pytest.approx(0.024)
    assert state.ranking.total.processed_bytes == 9_000


def test_an_open_watch_is_told_with_its_age_and_its_rate() -> None:
    state = folded(watching(1))
    reducer.apply(state, [standing(1, at=AT + 1)])
    live = [standing(1, at=AT + 1 + n, delivered=30 + 12 * n, bytes=3_000 + 1_200 * n) for n in range(1, 180)]
    reducer.apply(state, live)
    opened = _only(state).flow.open_at(state.now)
    assert opened is not None
    assert opened.words() == "open for 3m, 12 ev/s", "what was sent before it was live is no rate"
    assert opened.size_words() == "1.2 kB/s"
    assert _only(state).spent.returned == 30 + 12 * 179


def test_the_end_of_a_watch_adds_only_what_has_come_since() -> None:
    state = folded(watching(1))
    reducer.apply(state, [standing(1, at=AT + 1, delivered=50, bytes=5_000)])
    reducer.apply(state, ended(1, at=AT + 9, returned=54, encoded_bytes=5_400, sent_bytes=5_400))
    group = _only(state)
    assert group.flow.open_at(state.now) is None
    assert (group.count, group.spent.returned, group.spent.sent_bytes) == (1, 54, 5_400)
    assert (group.spent.processed_bytes, state.ranking.total.count) == (9_000, 1)
    assert group.routes == {"C": 1} and group.example.finished is not None


def test_a_watch_that_fails_in_the_end_has_failed() -> None:
    state = folded(watching(1))
    reducer.apply(state, [standing(1, at=AT + 1), *ended(1, at=AT + 9, status=500)])
    assert _only(state).routes == {"!": 1}


def test_an_open_watch_outlives_the_log() -> None:
    state = folded(watching(1))
    reducer.apply(state, [standing(1, at=AT + 1)])
    state.requests.clear()
    reducer.apply(state, [standing(1, at=AT + 2, delivered=40), *ended(1, at=AT + 9, returned=44)])
    assert (_only(state).count, _only(state).spent.returned) == (1, 44)


def test_a_watch_whose_group_was_folded_away_goes_on_in_a_new_one() -> None:
    state = State(ranking=Ranking(most=4))
    reducer.apply(state, [*watching(1), standing(1, at=AT + 1)])
    for number in range(2, 12):
        reducer.apply(state, asked(number, client=f"client-{number}", cached_bytes=50_000 * number))
    reducer.apply(state, [standing(1, at=AT + 2, delivered=40), *ended(1, at=AT + 9, returned=44)])
    kept, rest = state.ranking.ranked(), state.ranking.others.spent
    assert sum(group.count for group in kept) + rest.count == 11
    assert sum(group.spent.returned for group in kept) + rest.returned == 44


def test_many_open_watches_of_a_kind_are_one_line() -> None:
    state = folded(watching(1), watching(2, at=AT + 60))
    reducer.apply(state, [standing(1, at=AT + 61), standing(2, at=AT + 61)])
    for second in range(62, 72):
        reducer.apply(state, [standing(n, at=AT + second, delivered=30 + 2 * (second - 61)) for n in (1, 2)])
    (line,) = RankLines().of(state)
    assert line.open is not None and line.open.words() == "2 open for up to 1m11s, 4.0 ev/s"


def test_a_line_is_made_again_while_an_open_watch_moves() -> None:
    state, lines = folded(watching(1)), RankLines()
    reducer.apply(state, [standing(1, at=AT + 1)])
    before = lines.of(state)
    assert lines.of(state)[0] is before[0]
    reducer.apply(state, [standing(1, at=AT + 1, delivered=31, bytes=3_100)])
    assert lines.of(state)[0] is not before[0]


def test_a_request_not_answered_yet_does_not_count() -> None:
    assert not len(folded(asked(1)[:1]).ranking)


def test_the_last_minute() -> None:
    group = _only(folded(*(asked(number, at=AT + 10 * number) for number in range(12))))
    assert group.last_minute(AT + 110) == 6
    assert group.last_minute(AT + 400) == 0


def test_many_shapes_are_bounded_and_nothing_is_lost_from_the_total() -> None:
    ranking = Ranking(most=64)
    for number in range(1, 1_001):
        state = State(ranking=ranking)
        reducer.apply(state, asked(number, client=f"client-{number}", cached_bytes=number))
        assert state.requests
    assert len(ranking) <= 64
    kept = ranking.ranked()
    assert sum(group.count for group in kept) + ranking.others.spent.count == 1_000
    assert sum(group.cost for group in kept) + ranking.others.spent.processed_bytes == 500_500
    assert kept[0].key.client == "client-1000"


def test_a_group_names_its_newest_requests_and_outlives_the_log() -> None:
    state = State()
    for number in range(1, READ_LOG + 11):
        reducer.apply(state, asked(number))
    group = _only(state)
    assert group.count == READ_LOG + 10 > len(state.requests)
    assert len(group.ids) == KEPT_IDS and group.ids[-1] == READ_LOG + 10


def _only(state: State) -> Group:
    (group,) = state.ranking.ranked()
    return group
