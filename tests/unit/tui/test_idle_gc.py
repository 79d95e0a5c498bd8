"""When the long turn of the garbage collector is taken, and when ticks wait for keys."""

import pytest

from ktui.tui.dashboard import CLOSE, DUE, MOST, OVERDUE, QUIET, WATCHING, Collector, KeyActivity


class Time:
    """A clock that is set, and a count of the turns taken."""

    def __init__(self) -> None:
        self.now = 100.0
        self.turns = 0

    def __call__(self) -> float:
        return self.now

    def collect(self) -> None:
        self.turns += 1


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def keys(time: Time) -> KeyActivity:
    return KeyActivity(time)


def test_the_collector_waits_until_it_is_due_and_no_key_is_pressed(time: Time, keys: KeyActivity) -> None:
    collector = Collector(keys, time, time.collect)
    time.now += DUE - 1
    collector.collect_if_due()
    assert time.turns == 0
    time.now += 1
    keys.pressed()
    collector.collect_if_due()
    assert time.turns == 0, "a key was pressed just now"
    time.now += QUIET
    collector.collect_if_due()
    assert time.turns == 1
    time.now += DUE - 1
    collector.collect_if_due()
    assert time.turns == 1, "the next one is due later"


def test_the_collector_does_not_wait_for_ever(time: Time, keys: KeyActivity) -> None:
    collector = Collector(keys, time, time.collect)
    time.now += OVERDUE
    keys.pressed()
    collector.collect_if_due()
    assert time.turns == 1


def test_a_collector_that_works_is_left_alone(keys: KeyActivity) -> None:
    assert not Collector(keys).begin()


def test_ticks_wait_while_keys_follow_one_another(time: Time, keys: KeyActivity) -> None:
    assert not keys.defers_tick(), "nothing was pressed yet"
    time.now += 1
    keys.pressed()
    assert keys.defers_tick()
    time.now += CLOSE
    assert not keys.defers_tick(), "it was the only key"


def test_ticks_come_all_the_same_when_keys_do_not_end(time: Time, keys: KeyActivity) -> None:
    time.now += 1
    waited = []
    for _ in range(3 * (MOST + 1)):
        keys.pressed()
        waited.append(keys.defers_tick())
        time.now += CLOSE / 2
    assert waited == ([True] * MOST + [False]) * 3


def test_every_second_tick_paints_while_no_key_is_pressed(time: Time, keys: KeyActivity) -> None:
    time.now += WATCHING
    assert [keys.defers_tick() for _ in range(4)] == [False, True, False, True]
    keys.pressed()
    time.now += CLOSE
    assert [keys.defers_tick() for _ in range(3)] == [False] * 3, "a key was pressed a moment ago"
