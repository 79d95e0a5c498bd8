"""Go's durations."""

from __future__ import annotations

import pytest

from ktui.kube.golang.durations import parse_duration


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
