"""Go's durations."""

from __future__ import annotations

import pytest

from ktui.kube.golang.times import format_duration, parse_duration
from tests.unit.hanging import ends


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("1m30s", 90),
        ("1.5h", 5400),
        ("250ms", 0.25),
        ("0", 0),
        ("-2s", -2),
        ("+.5s", 0.5),
        ("0s", 0),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 'time: invalid duration ""'),
        ("abc", 'time: invalid duration "abc"'),
        ("10", 'time: missing unit in duration "10"'),
        ("1m5", 'time: missing unit in duration "1m5"'),
        ("s", 'time: invalid duration "s"'),
        ("-", 'time: invalid duration "-"'),
    ],
)
def test_what_is_none(text, words):
    with pytest.raises(ValueError) as refused:
        parse_duration(text)
    assert str(refused.value) == words


def test_digits_without_a_unit_are_refused_in_linear_time():
    """30,000 took 5 s, as the `?timeout=` of a client without credentials; a million would take hours."""
    for text in ("1" * 1_000_000, "1" * 1_000_000 + ".", "1s" + "1" * 1_000_000 + "x"):
        with pytest.raises(ValueError, match="time: "), ends():
            parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"), (1e-9, "1ns"), (929.214e-6, "929.214µs"), (1.926865e-3, "1.926865ms"), (0.012, "12ms"),
        (1, "1s"), (59.5, "59.5s"), (60, "1m0s"), (3723.5, "1h2m3.5s"), (3600, "1h0m0s"), (-0.25, "-250ms"),
    ],
)  # fmt: skip
def test_durations_are_written_as_go_writes_them(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
