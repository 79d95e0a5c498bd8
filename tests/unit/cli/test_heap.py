from __future__ import annotations

import asyncio

import pytest

from ktui.cli.server.runtime import GROWN_BYTES, QUIET_SECONDS, QUIET_SHARE, trim_when_quiet

BUSY, IDLE = QUIET_SECONDS * QUIET_SHARE, 0.0
MB = 1 << 20


class Over(Exception):
    """The last step has been taken."""


def trims(steps: list[tuple[float, int]], freed: int = 0) -> list[int]:
    """In which of the steps (processor time taken, resident bytes) the heap was trimmed."""
    at, spent, trimmed = -1, 0.0, []

    async def pause(seconds: float) -> None:
        nonlocal at, spent
        at += 1
        if at == len(steps):
            raise Over
        spent += steps[at][0]

    def resident() -> int:
        return steps[max(at, 0)][1] - (freed if at in trimmed else 0)

    with pytest.raises(Over):
        asyncio.run(trim_when_quiet(resident, lambda: spent, pause, lambda: trimmed.append(at)))
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


def test_where_memory_is_not_told_nothing_is_done():
    assert asyncio.run(trim_when_quiet(resident=lambda: None)) is None
