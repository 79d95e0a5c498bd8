"""The waterfall of a request's phases, and the race track."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ktui.contract.events import RequestFinished, RequestStarted
from ktui.core.request_view import OTHER, TimedPhase, fewer_phases, phases_of
from ktui.core.state import RequestRow
from ktui.tui.cache.rv_progress import Lane, RevisionProgress, progress_content
from ktui.tui.requests.log import funnel_content, waterfall_content

NAMES = ("queue", "wait", "etcd", "decode", "filter", "encode", "send")


def request(ms: float, **phases: float) -> RequestRow:
    started = RequestStarted(
        id=1,
        verb="LIST",
        path="/",
        query="",
        resource="pods",
        namespace="",
        name="",
        client="",
        user_agent="",
    )
    return RequestRow(started, finished=RequestFinished(id=1, status=200, route="etcd", ms=ms, phases=phases))


@given(st.lists(st.floats(0.01, 5_000), min_size=1, max_size=7), st.integers(2, 9), st.integers(40, 120))
def test_every_bar_is_on_the_track_and_the_last_one_ends_it(
    durations: list[float], height: int, width: int
) -> None:
    row = request(sum(durations), **dict(zip(NAMES, durations, strict=False)))
    drawn = waterfall_content(row, width, height).plain.splitlines()
    assert len(drawn) <= height and all(len(text) == width for text in drawn)
    track = width - 10 - 8 - 3
    if len(durations) < height:
        assert drawn[len(durations) - 1][10 + track - 1] != " "
    assert drawn[-1].startswith("total") and "├" in drawn[-1]


def test_what_has_no_line_of_its_own_is_not_lost() -> None:
    phases = phases_of(request(10.0, queue=0.1, wait=3.0, etcd=4.0, filter=0.2, send=1.0))
    assert [phase.name for phase in phases][-1] == OTHER  # 1.7 ms that no phase accounts for
    fewer = fewer_phases(phases, 4)
    assert [phase.name for phase in fewer] == ["wait", "etcd", "send", OTHER]
    assert abs(sum(phase.ms for phase in fewer) - 10.0) < 1e-9
    assert fewer[-1].start + fewer[-1].ms == phases[-1].start + phases[-1].ms


def test_enough_room_changes_nothing() -> None:
    phases = [TimedPhase("wait", 0.0, 1.0), TimedPhase("etcd", 1.0, 2.0)]
    assert fewer_phases(phases, 2) == phases


def test_waiting_readers_and_the_last_tick_stand_on_the_track() -> None:
    lanes = (
        Lane("etcd", 100, 0, head=True),
        Lane("pods", 80, 20, tick=70, waiting=3),
        Lane("nodes", 100, 0, waiting=1),  # at the head, and its reader not woken yet
    )
    text = progress_content(RevisionProgress(lanes, 100, 50), 40, 4).plain.splitlines()
    assert "W3" in text[1] and text[1].index("◇") < text[1].index("W3")
    assert "W" in text[2].removeprefix("nodes")
    assert text[3] == "◇ progress notification  W waiting"


def test_a_tick_of_long_ago_is_not_on_the_track() -> None:
    lanes = (Lane("etcd", 5000, 0, head=True), Lane("leases", 4998, 2, tick=3000))
    assert "◇" not in progress_content(RevisionProgress(lanes, 5000, 100), 40, 2).plain


@given(st.integers(10, 90), st.integers(1, 40), st.integers(0, 3_000), st.integers(0, 120))
def test_a_lane_keeps_to_its_width(width: int, waiting: int, lag: int, tick: int) -> None:
    lanes = (Lane("etcd", 5000, 0, head=True), Lane("p", 5000 - lag, lag, tick, waiting))
    drawn = progress_content(RevisionProgress(lanes, 5000, 1000), width, 2).plain.splitlines()
    assert all(len(text) <= width for text in drawn)


def test_an_empty_collection_was_read_all_the_same() -> None:
    row = request(4.0, etcd=3.0)
    assert funnel_content(row, 60, 5).plain == "no object was scanned"
    patch = RequestRow(structs.replace(row.started, verb="PATCH"), finished=row.finished)
    assert funnel_content(patch, 60, 5).plain == "a write scans no objects"
    assert row.finished is not None
    refused = RequestRow(row.started, finished=structs.replace(row.finished, status=422))
    assert funnel_content(refused, 60, 5).plain == "refused before anything was read"
