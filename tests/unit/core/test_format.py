"""Numbers with their units, and text that cannot bite."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.core import format as f


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (812, "812"),
        (999, "999"),
        (1000, "1.0k"),
        (3049, "3.0k"),
        (48_213, "48.2k"),
        (999_960, "1.0M"),
    ],
)
def test_short_count(value: int, text: str) -> None:
    assert f.short_count(value) == text


@given(st.integers(min_value=0, max_value=10**15))
def test_short_count_fits_five_cells(value: int) -> None:
    assert len(f.short_count(value)) <= 5


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (999, "999 B"), (4_100_000, "4.1 MB"), (17_904_100, "17.9 MB")]
)
def test_long_bytes(value: int, text: str) -> None:
    assert f.long_bytes(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.04, "0.04"), (0.4, "0.4"), (6.12, "6.1"), (38.4, "38"), (1204.2, "1,204")]
)
def test_milliseconds(value: float, text: str) -> None:
    assert f.milliseconds(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.42, "0.4s"),
        (38, "38s"),
        (12 * 60, "12m"),
        (3 * 3600 + 300, "3h05m"),
        (2 * 86400 + 4 * 3600, "2d04h"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert f.duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x[red]y", "x[red]y"),
        ("a\x1b[31mb", "a␛[31mb"),
        ("two\nlines\x00", "two␊lines␀"),
        ("\u202egnp.exe", "⟨U+202E⟩gnp.exe"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("größe ✓", "größe ✓"),
    ],
)
def test_safe_shows_what_would_steer_the_terminal(text: str, shown: str) -> None:
    assert f.safe(text) == shown


@given(st.text())
def test_nothing_unsafe_is_left(text: str) -> None:
    assert not [char for char in f.safe(text) if unicodedata.category(char)[0] == "C"]
    assert f.safe(f.safe(text)) == f.safe(text)


@pytest.mark.parametrize(("count", "text"), [(0, "0 objects"), (1, "1 object"), (2_000, "2,000 objects")])
def test_many(count: int, text: str) -> None:
    assert f.many(count, "object") == text


@given(st.integers(0, 10**15))
def test_a_number_in_a_table_is_never_cut(value: int) -> None:
    text = f.within(value, 7)
    assert len(text) <= 7
    assert text == f.integer(value) or len(f.integer(value)) > 7


@pytest.mark.parametrize(
    ("value", "text"), [(48_213, "48,213"), (9_876_543, "9,876,543"), (9_876_543_210, "9876543210")]
)
def test_a_revision_is_told_in_full(value: int, text: str) -> None:
    assert f.revision_within(value, 10) == text


@given(st.floats(0, 3.6e8))
def test_short_milliseconds_fit_five_cells(value: float) -> None:
    assert len(f.short_milliseconds(value)) <= 6 if value >= 3.6e6 else len(f.short_milliseconds(value)) <= 5


@pytest.mark.parametrize(
    ("value", "short", "long"),
    [
        (0.4, "0.4", "0.4 ms"),
        (9_999, "9,999", "9,999 ms"),
        (12_345, "12.3s", "12.3 s"),
        (123_456, "123s", "123.5 s"),
        (1_234_567, "20m", "20.6 min"),
    ],
)
def test_long_durations_change_their_unit(value: float, short: str, long: str) -> None:
    assert (f.short_milliseconds(value), f.long_milliseconds(value)) == (short, long)


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0%"), (0.001, "<1%"), (0.5, "50%"), (0.999, ">99%"), (1.0, "100%")]
)
def test_percent(share: float, text: str) -> None:
    assert f.percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.004, "0.004"), (1.02, "1.02"), (12.34, "12.3"), (180.4, "180"), (1204.0, "1,204")]
)
def test_figure(value: float, text: str) -> None:
    assert f.figure(value) == text


@pytest.mark.parametrize(
    ("factor", "text"), [(1.0, "1.0×"), (9.96, "10×"), (180.0, "180×"), (1500.0, "1.5k×")]
)
def test_times(factor: float, text: str) -> None:
    assert f.times(factor) == text


@pytest.mark.parametrize(
    ("per_second", "text"), [(12.4, "12/s"), (0.05, "3.0/min"), (0.0001, "0.4/h"), (0.0, "0.0/h")]
)
def test_frequency(per_second: float, text: str) -> None:
    assert f.frequency(per_second) == text


@pytest.mark.parametrize(("seconds", "text"), [(-1, "00:00"), (65.9, "01:05"), (3845, "1:04:05")])
def test_elapsed(seconds: float, text: str) -> None:
    assert f.elapsed(seconds) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (5, 5, ""), (900_000, 3_900_000, ".9–4M"), (12_300_000, 45_600_000, "12–46M"), (0, 812, "0–.9k"),
        (123e6, 456e6, ".1–.5G"), (26_200_000, 28_900_000, "26–29M"), (10, 99_500, "0–.1M"),
    ],
)  # fmt: skip
def test_an_interval_is_rounded_outwards(low: float, high: float, text: str) -> None:
    assert f.interval(low, high) == text and len(text) <= 6


@pytest.mark.parametrize(
    ("text", "others", "shown"),
    [
        ("drop limit", ["drop limit", "add resourceVersion=0"], "drop limit"),
        ("ask /api/v1/namespaces/shop/pods", ["ask /api/v1/nodes"], "ask /api/v1/namespaces/shop/pods"),
        ("ask /api/v1/namespaces/shop/pods", ["ask /api/v1/namespaces/media/pods"], "…shop/pods"),
        ("add labelSelector=app=web", ["add labelSelector=app=web"], "add labelSelector=app=web"),
    ],
)
def test_two_texts_are_told_apart_before_they_are_cut(text: str, others: list[str], shown: str) -> None:
    assert f.told_apart(text, others, 20) == shown
