"""Rates: of the last ten seconds, whatever came before."""

from __future__ import annotations

import pytest

from ktui.core.traffic import Rate


@pytest.mark.parametrize(
    ("readings", "now", "expected"),
    [
        ([], 5.0, 0.0),
        ([(0, 100)], 5.0, 0.0),
        ([(0, 0), (2, 20)], 2.0, 10.0),
        ([(0, 0), (2, 20)], 3.5, 10.0),  # the next reading may still come
        ([(0, 0), (2, 20)], 8.0, 2.5),  # it has not
        ([(0, 0), (2, 20)], 12.5, 0.0),
        ([(t, 10 * t) for t in range(31)], 30.0, 10.0),
        # After a minute's silence the rate is that of now, not the mean over the silence.
        ([(0, 0), (1, 10), *((60 + t, 10 + 7 * t) for t in range(11))], 70.0, 7.0),
        ([(0, 0), (60, 60)], 60.0, 1.0),
        ([(0, 500), (1, 3), (2, 5)], 2.0, 2.0),  # a restart
    ],
)
def test_rates(readings: list[tuple[float, int]], now: float, expected: float) -> None:
    rate = Rate()
    for at, value in readings:
        rate.add(at, value)
    assert rate.per_second(now) == pytest.approx(expected)
