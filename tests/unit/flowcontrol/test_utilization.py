"""Timing histograms of seats and requests."""

from __future__ import annotations

from ktui.apiserver.metrics.metric_types import Histogram, render
from ktui.flowcontrol.metrics import ReadsAndWrites
from ktui.flowcontrol.utilization import MOST_STATES, StateTimes
from ktui.kube.flow_rules import QueuingSpec
from tests.unit.flowcontrol.ticking import Ticking, level_of, request

SECOND = 1_000_000_000


def test_time_is_counted_in_nanoseconds_by_the_ratio_that_held() -> None:
    times = StateTimes((0, 0.5, 1))
    times.limit(4)
    times.passed((1,), 2.0)
    times.passed((4,), 1.0)
    times.passed((1,), 1.0)
    (found,) = times.ratios()
    assert found.counts == [0, 3 * SECOND, SECOND, 0]
    assert found.total == [3 * SECOND * 0.25 + SECOND]


def test_what_has_passed_is_measured_by_the_limit_of_that_time() -> None:
    times = StateTimes((0.25, 0.5))
    times.limit(4)
    times.passed((1,), 1.0)
    times.limit(2)
    times.passed((1,), 2.0)
    assert times.ratios()[0].counts == [SECOND, 2 * SECOND, 0]


def test_states_are_not_kept_without_end() -> None:
    """It may be long until the next scrape."""
    times = StateTimes((0, 0.5, 1))
    times.limit(10_000)
    for number in range(10_000):
        times.passed((number,), 1.0)
    assert len(times.seconds) <= MOST_STATES
    assert times.ratios()[0].counts == [SECOND, 5000 * SECOND, 4999 * SECOND, 0]


def test_a_level_counts_seats_requests_and_demand_over_time() -> None:
    clock = Ticking()
    queues = level_of(clock, 4, QueuingSpec(1, 1, 10))
    wide, waiting = request(seats=4), request(seats=2)
    clock.pass_time(1.0)
    queues.start(wide)
    queues.start(waiting)
    clock.pass_time(2.0)
    queues.finish(wide)
    clock.pass_time(3.0)
    queued, executing, seats, demand = queues.ratios()
    assert queued.total[0] == 2 * SECOND * (1 / 10)
    assert executing.total[0] == 5 * SECOND * (1 / 4)
    assert seats.total[0] == 2 * SECOND * (4 / 4) + 3 * SECOND * (2 / 4)
    assert demand.total[0] == 2 * SECOND * (6 / 4) + 3 * SECOND * (2 / 4)
    assert {sum(ratio.counts) for ratio in (queued, executing, seats, demand)} == {6 * SECOND}


def test_a_level_without_seats_is_measured_by_a_tenth_of_the_servers() -> None:
    clock = Ticking()
    queues = level_of(clock, 0, None, exempt=True)
    queues.configure(None, 0, 60)
    queues.start(request(seats=6))
    clock.pass_time(1.0)
    assert queues.ratios()[2].total[0] == SECOND * (6 / 60)


def test_reads_and_writes_are_measured_apart() -> None:
    both = ReadsAndWrites()
    both.limit(100.0, 50, 10)
    both.change(100.0, 1, mutating=True, executing=True)
    both.change(102.0, 1, mutating=False, executing=False)
    found = {" ".join(value for _, value in labels): ratio for labels, ratio in both.read(103.0)}
    assert found["executing mutating"].total[0] == 3 * SECOND * (1 / 10)
    assert found["waiting readOnly"].total[0] == SECOND * (1 / 50)
    assert found["executing readOnly"].total[0] == 0


def test_a_histogram_by_fewer_bounds_has_the_same_observations() -> None:
    fine = Histogram("seats", "", (1, 2, 4, 8, 10, 16))
    for value in (1, 8, 9, 10, 12, 99):
        fine.observe(value)
    coarse = b"".join(render([fine.coarser((1, 2, 4, 10))])).decode()
    assert 'seats_bucket{le="10"} 4' in coarse
    assert 'le="8"' not in coarse
    assert "seats_count 6" in coarse and "seats_sum 139" in coarse
