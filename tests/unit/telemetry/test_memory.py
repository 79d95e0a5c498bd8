"""What a request holds, what the process grows by, and with whom."""

import mmap
import sys

import pytest

from ktui.telemetry.meter import TELLING_BYTES, ConcurrentRequests, Meter, resident_bytes


def test_the_most_that_was_held_at_one_time() -> None:
    meter = Meter()
    meter.hold(100)
    meter.reach(50)
    meter.hold(30)
    assert (meter.held, meter.peak_held) == (130, 150)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/statm")
def test_the_process_grows_by_what_is_allocated() -> None:
    meter = Meter(footprint=ConcurrentRequests().arrive())
    with mmap.mmap(-1, 32 * TELLING_BYTES) as fresh:  # never memory that was freed before
        fresh.write(b"x" * len(fresh))
        meter.hold(32 * TELLING_BYTES)  # crossing the threshold has a look
    assert meter.process_growth is not None
    assert 30 * TELLING_BYTES < meter.process_growth < 64 * TELLING_BYTES
    assert (resident_bytes() or 0) > meter.process_growth


def test_a_small_request_reports_no_growth() -> None:
    meter = Meter(footprint=ConcurrentRequests().arrive())
    meter.hold(TELLING_BYTES - 1)
    assert meter.process_growth is None


def test_who_came_while_another_was_there_shares_with_it() -> None:
    company = ConcurrentRequests()
    alone = company.arrive()
    alone.leave()
    first = company.arrive()
    second = company.arrive()
    second.leave()
    first.leave()
    assert (alone.shared, first.shared, second.shared) == (False, True, True)
    third = company.arrive()
    fourth_comes_later = third.shared
    third.leave()
    company.arrive()
    assert not fourth_comes_later
    assert not third.shared, "what comes after it has left is no company"


def test_leaving_twice_is_leaving_once() -> None:
    company = ConcurrentRequests()
    watch = company.arrive()
    watch.leave()
    watch.leave()
    assert not company.arrive().shared
