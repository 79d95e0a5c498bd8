"""The garbage collector is paused while large trees are in use, and visits none of those that are left."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from ktui.telemetry.off_loop import LONGEST_PAUSE, MOST_YOUNG, CollectorPause


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    yield
    gc.enable()


def test_it_collects_again_when_the_last_one_has_ended() -> None:
    pause = CollectorPause()
    pause.begin()
    pause.begin()
    pause.end()
    assert not gc.isenabled()
    pause.end()
    assert gc.isenabled()


def test_garbage_of_a_long_pause_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    now, collected = [0.0], []
    monkeypatch.setattr(gc, "collect", collected.append)
    monkeypatch.setattr(gc, "get_count", lambda: (100, 0, 0))
    pause = CollectorPause(lambda: now[0])
    for seconds in (0.0, LONGEST_PAUSE, 1.0, LONGEST_PAUSE, 1.0):
        now[0] += seconds
        pause.begin()
    assert collected == [0, 0, 0]


def test_what_a_pause_leaves_is_visited_by_no_pass_and_freed_with_its_last_reference() -> None:
    pause = CollectorPause()
    pause.begin()
    tree: list[Any] = [{"n": [number]} for number in range(MOST_YOUNG)]
    pause.end()
    before = gc.get_freeze_count()
    seen = {id(each) for generation in range(3) for each in gc.get_objects(generation)}
    assert not any(id(part) in seen for part in tree)
    del tree
    assert before - gc.get_freeze_count() >= 2 * MOST_YOUNG


def test_the_few_objects_that_a_pause_leaves_are_collected_as_before() -> None:
    class Node:
        itself: object

    before = gc.get_freeze_count()
    pause = CollectorPause()
    pause.begin()
    node = Node()
    node.itself = node
    alive = weakref.ref(node)
    del node
    pause.end()
    assert gc.get_freeze_count() == before
    gc.collect()
    assert alive() is None


def test_garbage_from_before_a_pause_is_not_set_aside() -> None:
    gc.collect(0)
    cycle: list[Any] = []
    cycle.append(cycle)
    address = id(cycle)
    del cycle
    pause = CollectorPause()
    pause.begin()
    assert all(id(each) != address for each in gc.get_objects(0))
    pause.end()
