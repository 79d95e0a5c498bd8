"""Sums over replicas: spread over frames, each of the last scrape in the end; rates of levels."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ktui.contract.events.live import (
    LevelCounters,
    LevelScrape,
    ReplicaScrape,
    ResourceCounters,
    ResourceGauges,
    ResourceScrape,
)
from ktui.core.live.findings import findings
from ktui.core.live.live_state import A_FRAME, LiveState, all_routes, fold_all, routes_of
from ktui.tui.live.live_rows import levels

REPLICAS, RESOURCES = 4, 50


def scrape(live: LiveState, at: float, lists: int, resources: int = RESOURCES) -> None:
    for replica in range(REPLICAS):
        events: list[Any] = [
            ResourceScrape(at=at, replica=str(replica), resource=f"widget{number}s",
                           counters=ResourceCounters(lists=lists * (number + 1)),
                           gauges=ResourceGauges(watches=0))
            for number in range(resources)
        ]  # fmt: skip
        fold_all(live, [*events, ReplicaScrape(at=at, replica=str(replica))])


def lists_of(live: LiveState) -> list[float]:
    return sorted(row.lists or 0.0 for row in all_routes(live))


def frames_until_all_are_new(live: LiveState) -> int:
    frames = 0
    all_routes(live)
    while live.sums.waiting:
        before = live.sums.made
        live.begin_frame()
        all_routes(live)
        frames += 1
        assert (live.sums.made - before) * REPLICAS <= A_FRAME + REPLICAS, "more than its share"
    return frames


def test_without_frames_all_is_summed_at_once() -> None:
    live = LiveState()
    scrape(live, 100.0, 0)
    scrape(live, 115.0, 1)
    assert lists_of(live) == [REPLICAS * (number + 1) for number in range(RESOURCES)]


def test_frames_share_the_work_and_show_the_scrape_before_meanwhile() -> None:
    live = LiveState()
    scrape(live, 100.0, 0)
    scrape(live, 115.0, 1)
    live.begin_frame()
    assert frames_until_all_are_new(live) == math.ceil(REPLICAS * RESOURCES / A_FRAME)
    assert lists_of(live) == [REPLICAS * (number + 1) for number in range(RESOURCES)]
    scrape(live, 130.0, 2)
    assert {row.seconds for row in all_routes(live)} == {15.0}, "those before, none left out"
    touched = live.touched
    live.begin_frame()
    assert live.sums.waiting and live.touched == touched, "painted when all are new"
    frames_until_all_are_new(live)
    assert live.touched > touched
    assert lists_of(live) == [2 * REPLICAS * (number + 1) for number in range(RESOURCES)]


def test_the_first_sums_are_shown_as_they_are_made() -> None:
    live = LiveState()
    scrape(live, 100.0, 0)
    live.begin_frame()
    assert all_routes(live) == []
    touched = live.touched
    live.begin_frame()
    assert live.touched > touched and 0 < len(all_routes(live)) < RESOURCES


def test_no_resource_waits_for_ever_when_each_frame_has_a_scrape() -> None:
    live = LiveState()
    for number in range(40):
        scrape(live, 100.0 + number, number)
        live.begin_frame()
        all_routes(live)
    seen = [routes_of(live, f"widget{number}s") for number in range(RESOURCES)]
    assert min(row.seconds if row is not None else 0.0 for row in seen) >= 35.0


def test_findings_are_made_of_whole_sums() -> None:
    live = LiveState()
    scrape(live, 100.0, 0)
    live.begin_frame()
    frames_until_all_are_new(live)
    assert findings(live) == []
    scrape(live, 160.0, 1000)
    all_routes(live)
    live.begin_frame()
    assert live.sums.waiting and findings(live) == []
    frames_until_all_are_new(live)
    assert len(findings(live)) == RESOURCES, "LISTs of resources without a WATCH"


def counted(at: float, dispatched: int) -> LevelScrape:
    return LevelScrape(at=at, replica="A", level="system", counters=LevelCounters(dispatched=dispatched))


@pytest.mark.parametrize(
    ("seconds", "rate"),
    [((0.3,), 62.0), ((0.3, 1.3), 62 / 1.3), ((0.3, 10.0), 6.2), ((0.3, 30.0, 60.4, 91.0), 0.0)],
    ids=["a burst is of a second", "seen for 1.3 s", "seen for 10 s", "over a minute ago"],
)
def test_a_level_that_does_not_change_is_counted_over_the_seconds_seen(
    seconds: tuple[float, ...], rate: float
) -> None:
    live = LiveState()
    first = ReplicaScrape(at=100.0, replica="A")
    fold_all(live, [counted(100.0, 0), first, counted(100.3, 62)])
    fold_all(live, [ReplicaScrape(at=100.0 + after, replica="A") for after in seconds])
    assert levels(live)[0].per_second == pytest.approx(rate)
