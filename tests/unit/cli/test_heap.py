from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from ktui.cli.server import runtime
from ktui.cli.server.runtime import (
    GARBAGE_BYTES,
    GROWN_BYTES,
    MOST_GARBAGE_BYTES,
    QUIET_SECONDS,
    QUIET_SHARE,
    SET_ASIDE,
    needed_cpu_seconds,
    tidy_when_quiet,
)
from ktui.telemetry.off_loop import COLLECTOR

BUSY, IDLE = QUIET_SECONDS * QUIET_SHARE, 0.0
MB = 1 << 20


class Over(Exception):
    """The last step has been taken."""


def trims(
    steps: list[tuple[float, int]],
    freed: int = 0,
    collected: list[int] | None = None,
    age: Callable[[], Iterable[int]] = list,
) -> list[int]:
    """In which of the steps (processor time taken, resident bytes) the heap was trimmed.

    `collected` gets those in which garbage was collected.
    """
    at, spent, trimmed = -1, 0.0, list[int]()
    gone = [] if collected is None else collected

    async def pause(seconds: float) -> None:
        nonlocal at, spent
        at += 1
        if at == len(steps):
            raise Over
        spent += steps[at][0]

    def resident() -> int:
        return steps[max(at, 0)][1] - (freed if at in trimmed else 0)

    with pytest.raises(Over):
        asyncio.run(
            tidy_when_quiet(
                resident, lambda: spent, pause, lambda: trimmed.append(at), lambda: gone.append(at), age
            )
        )
    return trimmed


def test_a_busy_server_is_left_alone_until_it_is_quiet():
    assert trims([(BUSY, 900 * MB), (BUSY, 900 * MB), (IDLE, 900 * MB)]) == [2]


def test_a_server_that_has_not_grown_is_left_alone():
    small = GROWN_BYTES - 1
    assert trims([(IDLE, 900 * MB), (IDLE, 900 * MB), (IDLE, 900 * MB + small)]) == [0]
    assert trims([(IDLE, 900 * MB), (BUSY, 990 * MB), (IDLE, 990 * MB), (IDLE, 990 * MB)]) == [0, 2]


def test_growth_counts_from_what_was_left():
    freed = 50 * MB
    assert trims([(IDLE, 900 * MB), (IDLE, 850 * MB + GROWN_BYTES)], freed) == [0, 1]


def test_what_was_forgotten_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces that were not used for a minute leave the heap, which has not grown."""
    monkeypatch.setattr(runtime, "UNUSED_SECONDS", 3 * QUIET_SECONDS)
    assert trims([(IDLE, 900 * MB)] * 7) == [0]
    forgotten = [iter([0, GROWN_BYTES, 0]), iter([0, GROWN_BYTES - 1])]
    assert trims([(IDLE, 900 * MB)] * 7, age=lambda: forgotten.pop(0)) == [0, 2]
    assert not forgotten


def test_waiting_for_a_cpu_is_no_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "schedstat").write_text("7000000000 2500000000 12\n")
    monkeypatch.setattr(runtime, "_SCHEDSTAT", tmp_path / "schedstat")
    monkeypatch.setattr(time, "process_time", lambda: 10.0)
    assert needed_cpu_seconds() == 12.5
    monkeypatch.setattr(runtime, "_SCHEDSTAT", tmp_path / "none")  # not Linux
    assert needed_cpu_seconds() == 10.0


def test_where_memory_is_not_told_nothing_is_done():
    assert asyncio.run(tidy_when_quiet(resident=lambda: None)) is None


def test_garbage_is_collected_after_much_growth_once_the_server_is_quiet():
    collected: list[int] = []
    much = GARBAGE_BYTES
    steps = [(IDLE, 100 * MB), (IDLE, 99 * MB + much), (BUSY, 100 * MB + much), (IDLE, 100 * MB + much)]
    trims(steps, collected=collected)
    assert collected == [3]


def test_a_busy_server_collects_garbage_after_very_much_growth_only():
    collected: list[int] = []
    most = MOST_GARBAGE_BYTES
    trims([(BUSY, 100 * MB), (BUSY, 99 * MB + most), (BUSY, 100 * MB + most)], collected=collected)
    assert collected == [2]


def test_no_garbage_is_collected_while_large_trees_are_in_use():
    collected: list[int] = []
    COLLECTOR.begin()
    try:
        trims([(IDLE, 100 * MB), (IDLE, 100 * MB + MOST_GARBAGE_BYTES)], collected=collected)
    finally:
        COLLECTOR.end()
    assert collected == []


def test_a_collection_looks_through_what_pauses_have_left_if_it_is_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(gc, "unfreeze", lambda: calls.append("unfreeze"))
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))
    for left, expected in ((SET_ASIDE - 1, []), (SET_ASIDE, ["unfreeze", "freeze"])):
        counts = iter([1000, 1000 + left])
        monkeypatch.setattr(gc, "get_freeze_count", lambda counts=counts: next(counts))
        trims([(IDLE, 100 * MB), (IDLE, 100 * MB + GARBAGE_BYTES)], collected=[])
        assert calls == expected


def test_python_makes_no_full_collection_of_its_own_meanwhile():
    before, meanwhile = gc.get_threshold(), list[tuple[int, int, int]]()

    async def pause(_: float) -> None:
        meanwhile.append(gc.get_threshold())
        raise Over

    with pytest.raises(Over):
        asyncio.run(tidy_when_quiet(lambda: 0, pause=pause, trim=lambda: None, collect=lambda: None))
    assert meanwhile[0][2] > 1_000_000
    assert meanwhile[0][:2] == before[:2] and gc.get_threshold() == before
