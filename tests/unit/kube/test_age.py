"""Ages and durations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.tables.object_fields import age, human_duration, unix_time

M, H, D, Y = 60, 3600, 86400, 86400 * 365


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.9, "0s"),
        (0, "0s"),
        (119.9, "119s"),
        (2 * M, "2m"),
        (9 * M + 4, "9m4s"),
        (10 * M + 59, "10m"),
        (3 * H - 1, "179m"),
        (3 * H, "3h"),
        (7 * H + 59 * M, "7h59m"),
        (8 * H + 59 * M, "8h"),
        (48 * H - 1, "47h"),
        (2 * D, "2d"),
        (7 * D + 23 * H, "7d23h"),
        (8 * D, "8d"),
        (2 * Y - 1, "729d"),
        (2 * Y, "2y"),
        (2 * Y + 323 * D, "2y323d"),
        (8 * Y + 5 * D, "8y"),
    ],
)
def test_human_duration(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


@given(st.floats(0, 20 * Y), st.floats(0, 20 * Y))
def test_at_most_six_letters_and_one_kind_of_text(a: float, b: float) -> None:
    assert len(human_duration(a)) <= 6
    if int(a) == int(b):
        assert human_duration(a) == human_duration(b)


@pytest.mark.parametrize(
    ("timestamp", "text"),
    [
        ("2026-11-20T07:24:05Z", "5s"),
        ("2026-11-20T07:24:05.123456Z", "4s"),
        ("2026-11-20T08:24:05+01:00", "5s"),
        (None, "<unknown>"),
        ("", "<unknown>"),
        ("yesterday", "<invalid>"),
    ],
)
def test_age(timestamp: object, text: str) -> None:
    cell = age(timestamp)
    assert (cell if isinstance(cell, str) else cell.text(unix_time("2026-11-20T07:24:10Z"))) == text
