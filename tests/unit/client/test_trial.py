"""Runs in alternation: their order, what counts, and what is not sent again."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.client.measure import ApiRequest
from ktui.client.repeated_runs import alternate
from ktui.core.lab.measured import Measured

pytestmark = pytest.mark.anyio


class Recorder:
    """A target that answers with the number of the request."""

    def __init__(self, **statuses: int) -> None:
        self.asked: list[str] = []
        self._statuses = statuses

    async def measure(self, question: ApiRequest, keep: Any = None) -> Measured:
        self.asked.append(question.path)
        status = self._statuses.get(question.path, 200)
        return Measured(question.path, status=status, total_ms=float(len(self.asked)))


async def runs_of(target: Recorder, *paths: str) -> list[list[float]]:
    found = await alternate(target, [ApiRequest(path) for path in paths], 5)  # type: ignore[arg-type]
    return [[each.total_ms for each in runs] for runs in found]


async def test_the_first_round_warms_up_and_the_others_alternate() -> None:
    target = Recorder()
    first, second = await runs_of(target, "a", "b")
    assert target.asked == ["a", "b"] * 6
    assert (first, second) == ([3, 5, 7, 9, 11], [4, 6, 8, 10, 12])


async def test_an_error_is_not_repeated() -> None:
    target = Recorder(b=429)
    first, second = await runs_of(target, "a", "b")
    assert target.asked == ["a", "b", *["a"] * 5]
    assert (len(first), second) == (5, [2.0])


async def test_progress_is_reported_before_each_request() -> None:
    begun: list[tuple[int, int]] = []
    questions = [ApiRequest("a"), ApiRequest("b")]
    await alternate(Recorder(), questions, 1, lambda *at: begun.append(at))  # type: ignore[arg-type]
    assert begun == [(0, 0), (0, 1), (1, 0), (1, 1)]


async def test_no_round_follows_when_the_pairs_are_enough() -> None:
    target, seen = Recorder(), list[int]()

    def enough(found: list[list[Measured]]) -> bool:
        seen.append(len(found[0]))
        return len(found[0]) == 3

    found = await alternate(target, [ApiRequest("a"), ApiRequest("b")], 5, enough=enough)  # type: ignore[arg-type]
    assert seen == [1, 2, 3] and [len(runs) for runs in found] == [3, 3]
    assert target.asked == ["a", "b"] * 4
