"""The seconds that the charts are drawn from."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.contract.events import RequestFinished, RequestRouted, RequestStarted
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.core.traffic import KEPT, History, Rate, Second


def answer(at: float, ms: float = 1.0, **costs: int) -> RequestFinished:
    return RequestFinished(id=1, at=at, status=200, route="cache", ms=ms, **costs)


def test_parts_end_at_the_last_full_one_and_stay_what_they_are() -> None:
    history = History()
    for at in range(100, 110):
        history.add("C", answer(at + 0.5, sent_bytes=at))
    span = history.span(110.9, 3, 2)
    assert (span.end, span.seconds) == (110, 6)
    assert [part.sent_bytes for part in span.parts] == [104 + 105, 106 + 107, 108 + 109]
    # A second later nothing has moved: the next part is not over.
    assert history.span(111.9, 3, 2).parts == span.parts
    assert [part.sent_bytes for part in history.span(112.0, 3, 2).parts] == [106 + 107, 108 + 109, 0]


def test_the_second_under_way_is_left_out() -> None:
    history = History()
    history.add("E", answer(50.2))
    assert not history.span(50.9, 5, 1).whole.answers
    assert history.span(51.0, 5, 1).whole.answers == 1


def test_rates_are_per_second_whatever_the_part() -> None:
    history = History()
    for place in range(12):
        history.add("E", answer(60 + place / 4, etcd_bytes=1000))  # four a second, for three seconds
    assert history.span(63.0, 1, 3).rates(lambda part: part.routes["E"]) == [4.0]
    assert history.span(63.0, 1, 3).rates(lambda part: part.etcd_bytes) == [4000.0]


@given(st.lists(st.floats(min_value=0.0, max_value=60_000), min_size=1, max_size=60))
def test_quantiles_are_near_and_the_most_is_exact(durations: list[float]) -> None:
    second = Second()
    for ms in durations:
        second.add("C", answer(1.0, ms))
    exact = sorted(durations)[(len(durations) + 1) // 2 - 1]
    assert second.most_ms == max(durations)
    assert abs(second.quantile(0.5) - exact) <= 0.06 * exact + 0.002
    assert second.quantile(1.0) <= second.most_ms


def test_nothing_grows_without_end() -> None:
    history = History()
    for at in range(5 * KEPT):
        history.add("C", answer(at))
    history.add("C", answer(3.0))  # long past: not worth a place
    assert len(history._seconds) <= KEPT and not history.span(10.0, 10, 1).whole.answers


def test_a_straggler_is_counted_and_told() -> None:
    history = History()
    history.add("C", answer(9.5))
    history.add("C", answer(8.5))
    assert not history.late  # not read yet
    assert history.span(10.0, 2, 1).values(lambda part: part.answers) == [1, 1]
    history.add("E", answer(9.9))  # in the newest second, and yet too late for a reader who has seen it
    assert history.late == 1 and history.span(10.0, 2, 1).values(lambda part: part.answers) == [1, 2]
    history.add("E", answer(10.1))
    assert history.late == 1


def test_a_keyframe_holds_the_history_whole() -> None:
    history = History()
    for at in range(100, 130):
        history.add("S", answer(at, ms=at, sent_bytes=at))
    span = history.span(130.0, 10, 3)
    again = pickle.loads(pickle.dumps(history))
    assert again.span(130.0, 10, 3) == span
    again.add("E", answer(130.5))
    assert again.span(131.0, 1, 1).whole.answers == 1


def _request(number: int, verb: str, route: str, status: int = 200) -> list[object]:
    return [
        RequestStarted(
            id=number, at=7.0, verb=verb, path="/", query="", resource="pods", namespace="",
            name="", client="", user_agent="",
        ),
        RequestRouted(id=number, at=7.0, route=route, reason_id="", reason="", steps=[]),
        RequestFinished(id=number, at=7.1, status=status, route=route, ms=1.0),
    ]  # fmt: skip


def test_only_reads_that_end_are_counted_by_their_badge() -> None:
    state = State()
    cases = [
        ("LIST", "cache", 200), ("LIST", "cache,etcd", 200), ("GET", "cache", 404),
        ("WATCH", "cache", 200), ("PUT", "etcd", 200), ("GET", "none", 200),
    ]  # fmt: skip
    for number, (verb, route, status) in enumerate(cases, 1):
        apply(state, _request(number, verb, route, status))  # type: ignore[arg-type]
    assert state.history.span(8.0, 1, 1).whole.routes == {"C": 1, "E": 1, "!": 1}


# Rates: of the last ten seconds, whatever came before.


@pytest.mark.parametrize(
    ("readings", "now", "expected"),
    [
        ([], 5.0, 0.0),
        ([(0, 100)], 5.0, 0.0),
        ([(0, 0), (2, 20)], 2.0, 10.0),
        ([(0, 0), (2, 20)], 3.5, 10.0),  # the next reading may still come
        ([(0, 0), (2, 20)], 8.0, 2.5),  # it has not
        ([(0, 0), (2, 20)], 12.5, 0.0),
        ([(t, 10 * t) for t in range(31)], 30.0, 10.0),
        # After a minute's silence the rate is that of now, not the mean over the silence.
        ([(0, 0), (1, 10), *((60 + t, 10 + 7 * t) for t in range(11))], 70.0, 7.0),
        ([(0, 0), (60, 60)], 60.0, 1.0),
        ([(0, 500), (1, 3), (2, 5)], 2.0, 2.0),  # a restart
    ],
)
def test_rates(readings: list[tuple[float, int]], now: float, expected: float) -> None:
    rate = Rate()
    for at, value in readings:
        rate.add(at, value)
    assert rate.per_second(now) == pytest.approx(expected)
