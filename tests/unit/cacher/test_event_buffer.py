from __future__ import annotations

import itertools

import pytest
from cacher_model import event, obj
from hypothesis import given
from hypothesis import strategies as st

from ktui.cacher.event_buffer import EVENT_BYTES, FRESH_SECONDS, EventBuffer


def filled(count: int, *, seconds_apart: float, **limits: float) -> EventBuffer:
    buffer = EventBuffer(**limits)  # type: ignore[arg-type]
    buffer.reset(100)
    for n in range(count):
        buffer.append(event("MODIFIED", obj("a", 101 + n), at=n * seconds_apart))
    return buffer


def test_a_new_buffer_reaches_back_to_its_list():
    buffer = filled(0, seconds_apart=1)
    assert (buffer.oldest_watch_rv, buffer.oldest_event_rv, len(buffer)) == (100, None, 0)


def test_until_an_event_is_evicted_the_list_is_the_oldest_start():
    buffer = filled(100, seconds_apart=10)
    assert buffer.full
    assert buffer.oldest_watch_rv == 100


def test_after_an_eviction_the_oldest_start_is_just_before_the_oldest_event():
    buffer = filled(101, seconds_apart=10)
    assert buffer.capacity == 100
    assert buffer.oldest_event_rv == 102
    assert buffer.oldest_watch_rv == 101


def test_a_fast_stream_doubles_the_capacity_and_evicts_nothing():
    buffer = filled(1000, seconds_apart=0.01)
    assert (buffer.capacity, len(buffer), buffer.oldest_watch_rv) == (1600, 1000, 100)


def test_capacity_never_exceeds_the_upper_bound():
    buffer = filled(1000, seconds_apart=0.0, lower=100, upper=400)
    assert (buffer.capacity, len(buffer), buffer.oldest_event_rv) == (400, 400, 701)


def test_a_slow_stream_halves_the_capacity_again():
    buffer = filled(400, seconds_apart=0.0)
    assert buffer.capacity == 400
    for n in range(200):
        buffer.append(event("MODIFIED", obj("a", 501 + n), at=100.0 + 10 * n))
    assert buffer.capacity == 100
    assert len(buffer) == 100
    assert buffer.oldest_event_rv == 601


def test_a_reset_empties_but_keeps_the_capacity():
    buffer = filled(1000, seconds_apart=0.0)
    buffer.reset(5000)
    assert (len(buffer), buffer.capacity, buffer.oldest_watch_rv) == (0, 1600, 5000)


@pytest.mark.parametrize("since, expected", [(99, [101, 102, 103]), (101, [102, 103]), (103, []), (900, [])])
def test_since_gives_the_newer_events_in_order(since, expected):
    assert [one.rv for one in filled(3, seconds_apart=1).since(since)] == expected


def test_newest_first():
    assert [one.rv for one in filled(5, seconds_apart=1).newest(2)] == [105, 104]


@given(
    st.lists(st.tuples(st.integers(1, 3), st.floats(0, 40)), max_size=400),
    st.integers(4, 9),
    st.integers(1, 4),
)
def test_the_buffer_is_always_the_newest_part_of_the_stream(steps, lower, doublings):
    buffer = EventBuffer(lower, lower * 2**doublings)
    buffer.reset(10)
    seen, rv, now = [], 10, 0.0
    for gap, pause in steps:
        rv, now = rv + gap, now + pause
        buffer.append(event("MODIFIED", obj("a", rv), at=now))
        seen.append(rv)
        held = [one.rv for one in buffer.since(0)]
        assert held == seen[len(seen) - len(held) :]
        assert lower <= buffer.capacity <= lower * 2**doublings
        assert len(buffer) == len(held) <= buffer.capacity
        # A client that starts at the oldest revision misses nothing.
        assert [one.rv for one in buffer.since(buffer.oldest_watch_rv)] == [
            r for r in seen if r > buffer.oldest_watch_rv
        ]


def test_events_of_one_transaction_are_handed_out_and_evicted_together():
    buffer = EventBuffer(lower=4, upper=4)
    buffer.reset(100)
    for number, rv in enumerate((101, 102, 102, 102)):
        buffer.append(event("DELETED", obj(f"k{number}", rv)))
    assert [one.rv for one in buffer.since(100, 2)] == [101, 102, 102, 102]
    buffer.append(event("ADDED", obj("z", 103)))
    assert buffer.oldest_watch_rv == 101
    # One of the three is gone: who has not seen it cannot go on from before them.
    buffer.append(event("ADDED", obj("z", 104)))
    assert (buffer.oldest_event_rv, buffer.oldest_watch_rv) == (102, 102)


class Counted:
    """An object that counts how often it was shrunk."""

    def __init__(self, rv: int, size: int) -> None:
        self.key, self.rv, self.size = "a", rv, size
        self.shrunk = 0

    def shrink(self, newer: object) -> None:
        self.shrunk += 1


def few(count: int, size: int = 10) -> int:
    """The bytes of `count` whole events."""
    return count * (size + EVENT_BYTES)


def versions(count: int, *, size: int = 10, **limits: float) -> tuple[EventBuffer, list[Counted]]:
    buffer = EventBuffer(**limits)  # type: ignore[arg-type]
    buffer.reset(100)
    objects = [Counted(100 + n, size) for n in range(count + 1)]
    for previous, current in itertools.pairwise(objects):
        buffer.append(event("MODIFIED", current, previous))
    return buffer, objects


def test_the_latest_bytes_stay_whole_and_what_is_older_is_shrunk_once():
    buffer, objects = versions(60, whole_bytes=few(20))
    assert len(buffer) == 60
    assert [obj.shrunk for obj in objects] == [1] * 40 + [0] * 21


def test_a_larger_object_than_may_stay_whole_is_shrunk_as_soon_as_it_is_superseded():
    _, objects = versions(3, size=1000, whole_bytes=200)
    assert [obj.shrunk for obj in objects] == [1, 1, 1, 0]


def test_events_that_are_no_longer_fresh_are_shrunk_without_newer_ones():
    buffer, objects = versions(60)
    for number, one in enumerate(buffer.since(0)):
        one.at = float(number)
    assert not buffer.shrink(60, FRESH_SECONDS)
    assert not any(obj.shrunk for obj in objects)
    assert not buffer.shrink(60, FRESH_SECONDS + 30.5)
    assert [obj.shrunk for obj in objects] == [1] * 31 + [0] * 30
    assert not buffer.shrink(100, 1e9)
    assert [obj.shrunk for obj in objects] == [1] * 60 + [0]
    assert len(buffer) == 60, "they are not evicted"
    assert not buffer.shrink(100, 2e9)


def test_evicted_events_are_shrunk_for_readers_that_still_hold_their_objects():
    buffer, objects = versions(300, lower=40, upper=40, whole_bytes=1 << 20)
    kept = len(buffer) + 40 // 8
    assert len(buffer) == 40
    assert all(obj.shrunk == 1 for obj in objects[: 300 - kept])
    assert not any(obj.shrunk for obj in objects[300 - 40 :])


def test_few_evicted_events_wait_to_be_cut_off():
    buffer, _ = versions(1000, lower=80, upper=80)
    assert len(buffer) == 80
    assert len(buffer._events) <= 80 + 80 // 8


def test_a_reset_forgets_what_was_held():
    buffer, _ = versions(60, whole_bytes=few(20))
    buffer.reset(500)
    later = [Counted(501 + n, 10) for n in range(21)]
    for previous, current in itertools.pairwise(later):
        buffer.append(event("MODIFIED", current, previous))
    assert not any(obj.shrunk for obj in later)


def test_what_a_list_that_is_being_sent_may_need_stays_whole():
    buffer, objects = versions(60, whole_bytes=few(20), most_whole_bytes=few(100))
    assert sum(obj.shrunk for obj in objects) == 40
    listed = objects[-1]
    buffer.reader(listed.rv)
    later = [listed, *(Counted(listed.rv + n, 10) for n in range(1, 121))]
    for previous, current in itertools.pairwise(later):
        buffer.append(event("MODIFIED", current, previous))
    assert all(obj.shrunk for obj in objects[:-1]), "versions that no LIST needs"
    assert [obj.shrunk for obj in later] == [1] * 20 + [0] * 101, "no more than the larger limit"
    buffer.reader_gone(listed.rv)
    assert buffer.shrink(50)
    assert not buffer.shrink(50)
    assert [obj.shrunk for obj in later] == [1] * 100 + [0] * 21


def test_encodings_of_a_shrunk_event_are_not_kept():
    change = event("MODIFIED", obj("a", 102), None)
    first = change.out(current=True, old=True)
    assert change.out(current=True, old=True) is first
    change.shrink()
    again = change.out(current=True, old=True)
    assert again is not first
    assert again is not None
    assert first is not None
    assert again.line() == first.line()
    assert change.out(current=True, old=True) is not again
