"""The garbage collector is paused while large trees are in use, and not for ever."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ktui.telemetry.off_loop import LONGEST_PAUSE, CollectorPause


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
    pause = CollectorPause(lambda: now[0])
    for seconds in (0.0, LONGEST_PAUSE, 1.0, LONGEST_PAUSE, 1.0):
        now[0] += seconds
        pause.begin()
    assert collected == [0, 0]
