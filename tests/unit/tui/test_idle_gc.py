"""When the long turn of the garbage collector is taken, and when ticks wait for keys."""

import pytest

from ktui.tui.idle_gc import DUE, OVERDUE, QUIET, Collector
from ktui.tui.key_activity import CLOSE, MOST, Hands


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
def hands(time: Time) -> Hands:
    return Hands(time)


def test_the_collector_waits_until_it_is_due_and_no_key_is_pressed(time: Time, hands: Hands) -> None:
    collector = Collector(hands, time, time.collect)
    time.now += DUE - 1
    collector.look()
    assert time.turns == 0
    time.now += 1
    hands.moved()
    collector.look()
    assert time.turns == 0, "a key was pressed just now"
    time.now += QUIET
    collector.look()
    assert time.turns == 1
    time.now += DUE - 1
    collector.look()
    assert time.turns == 1, "the next one is due later"


def test_the_collector_does_not_wait_for_ever(time: Time, hands: Hands) -> None:
    collector = Collector(hands, time, time.collect)
    time.now += OVERDUE
    hands.moved()
    collector.look()
    assert time.turns == 1


def test_a_collector_that_works_is_left_alone(hands: Hands) -> None:
    assert not Collector(hands).begin()


def test_ticks_wait_while_keys_follow_one_another(time: Time, hands: Hands) -> None:
    assert not hands.busy(), "nothing was pressed yet"
    time.now += 1
    hands.moved()
    assert hands.busy()
    time.now += CLOSE
    assert not hands.busy(), "it was the only key"


def test_ticks_come_all_the_same_when_keys_do_not_end(time: Time, hands: Hands) -> None:
    time.now += 1
    waited = []
    for _ in range(3 * (MOST + 1)):
        hands.moved()
        waited.append(hands.busy())
        time.now += CLOSE / 2
    assert waited == ([True] * MOST + [False]) * 3
