"""What the scrub bar says."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.contract.events import EtcdCall, EtcdProgress, RequestFinished, RequestStarted
from ktui.core.recordings.markers import TimelineMarker
from ktui.core.replay.player import FASTEST
from ktui.tui.replay.bar import Position, Span, density, event_text, status_line, track_line

BEGAN = 1_790_000_000.0
HOUR = Span(BEGAN, BEGAN + 3600)
MOMENTS = [
    TimelineMarker(BEGAN + 600, "etcd does not answer"),
    TimelineMarker(BEGAN + 1800, "deploy\x1b[31m", own=True),
]


pytestmark = pytest.mark.usefixtures("in_utc")


def position(after: float, **facts: object) -> Position:
    told = {"number": 1_200, "events": 300_000, "playing": True, "ended": False, "speed": 1.0, **facts}
    return Position(at=BEGAN + after, **told)  # type: ignore[arg-type]


def test_a_track_has_the_past_the_head_and_the_marks() -> None:
    track = track_line(HOUR, BEGAN + 1200, [0.0, 1.0, 2.0, 8.0, 4.0, 0.0], MOMENTS)
    assert track.plain == "·▲┃◆▅·"
    on_mark = track_line(HOUR, BEGAN + 700, [1.0] * 6, MOMENTS)
    assert on_mark.plain == "█▲█◆██"
    assert any("reverse" in str(span.style) for span in on_mark.spans if span.start == 1)


def test_a_persons_mark_covers_a_found_one() -> None:
    both = [TimelineMarker(BEGAN + 10, "mine", own=True), TimelineMarker(BEGAN + 11, "found")]
    assert track_line(HOUR, BEGAN + 3600, [1.0] * 6, both).plain == "◆████┃"


@given(st.dictionaries(st.integers(0, 999), st.integers(1, 500), min_size=1), st.integers(2, 300))
def test_density_is_events_per_second(seconds: dict[int, int], width: int) -> None:
    rates = density(Counter(seconds), 1_000.0, width)
    assert len(rates) == width
    assert sum(rates) * 1_000.0 / width == pytest.approx(sum(seconds.values()))


def test_a_cell_that_is_shorter_than_a_second_has_the_seconds_rate() -> None:
    assert density(Counter({0: 4, 1: 2}), 2.0, 6) == [4.0, 4.0, 4.0, 2.0, 2.0, 2.0]
    assert density(Counter({0: 9}), 0.0, 3) == [9.0, 9.0, 9.0]


@given(st.floats(min_value=0, max_value=3600), st.integers(1, 400))
def test_a_click_leads_to_the_cell_that_was_clicked(after: float, width: int) -> None:
    cell = HOUR.cell(BEGAN + after, width)
    assert 0 <= cell < width
    assert abs(HOUR.cell(HOUR.time_of(cell, width), width) - cell) <= 1
    assert HOUR.time_of(0, width) == BEGAN
    assert width == 1 or HOUR.time_of(width - 1, width) == BEGAN + 3600


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (position(5), "▶ ×1  14:13:25  00:05 / 1:00:00  event 1,200 of 300,000  peak 340 events/s"),
        (position(5, speed=0.25), "▶ ×0.25  "),
        (position(5, speed=FASTEST), "▶ max  "),
        (position(5, playing=False), "‖ ×1  "),
        (position(3600, playing=False, ended=True), "■ end  15:13:20  1:00:00 / 1:00:00"),
    ],
)
def test_the_status_says_where_it_is(where: Position, says: str) -> None:
    assert status_line(HOUR, where, 340.0, [], "", 120).plain.startswith(says)


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (position(5), "space pause  , . 5 s  n next marker"),
        (position(700), "▲ 14:23:20 etcd does not answer"),
        (position(1800), "◆ 14:43:20 deploy␛[31m"),
        (position(700, playing=False, event="progress"), "progress"),
        (position(3600, playing=False, ended=True), "line 9 is incomplete"),
    ],
)
def test_the_right_end_says_what_was_passed(where: Position, says: str) -> None:
    line = status_line(HOUR, where, 340.0, MOMENTS, "line 9 is incomplete", 120)
    assert line.plain.endswith(says) and line.cell_length == 120


def test_without_a_marker_it_names_the_keys_of_the_speed() -> None:
    line = status_line(HOUR, position(5), 340.0, [], "", 120)
    assert line.plain.endswith("space pause  , . 5 s  < > speed")


@given(st.integers(1, 200), st.floats(min_value=0, max_value=3600), st.booleans())
def test_a_status_never_is_wider_than_its_line(width: int, after: float, playing: bool) -> None:
    line = status_line(HOUR, position(after, playing=playing), 340.0, MOMENTS, "", width)
    assert line.cell_length <= width


def test_events_in_a_few_words() -> None:
    started = RequestStarted(
        id=7, verb="LIST", path="/api/v1/pods", query="", resource="pods", namespace="", name="",
        client="", user_agent="",
    )  # fmt: skip
    assert event_text(started) == "request_started #7 LIST /api/v1/pods"
    assert (
        event_text(RequestFinished(id=7, status=200, route="cache", ms=3.0))
        == "request_finished #7 200 3.0 ms"
    )
    assert event_text(EtcdCall(op="range", request="", purpose="probe")) == "etcd_call range probe"
    assert event_text(EtcdProgress(head=1)) == "progress"
