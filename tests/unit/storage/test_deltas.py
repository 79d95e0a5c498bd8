from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.storage.deltas import MOST_DEFLATED_BYTES, difference, restored


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


@given(
    st.binary(max_size=300),
    st.lists(st.tuples(st.integers(0, 9000), st.binary(max_size=20)), max_size=6),
    st.integers(0, 9000),
)
def test_a_difference_restores_the_value(end: bytes, edits: list[tuple[int, bytes]], size: int) -> None:
    base = noise(size)
    value = base + end
    for at, text in edits:
        value = value[:at] + text + value[at + len(text) // 2 :]
    delta = difference(value, base)
    assert restored(delta, base) == value
    assert delta.needs_base or restored(delta, b"") == value


def test_a_small_change_takes_a_small_difference():
    base = noise(6000)
    value = base[:2000] + b"changed" + base[2007:5000] + b"also" + base[5004:]
    delta = difference(value, base)
    assert len(delta.middle) < 200
    assert restored(delta, base) == value


def test_without_a_base_a_value_is_deflated_by_itself():
    value = b"containers" * 500
    delta = difference(value, b"")
    assert len(delta.middle) < 100
    assert restored(delta, b"") == value


@pytest.mark.parametrize(
    ("value", "base"),
    [
        (noise(3000, 1), noise(3000, 2)),
        (noise(3000, 1), b""),
        (b"\0" * (MOST_DEFLATED_BYTES + 1), b""),
        (b"", b"base"),
    ],
)
def test_what_would_save_little_is_kept_as_it_is(value: bytes, base: bytes):
    delta = difference(value, base)
    assert not delta.needs_base
    assert delta.middle is value


def test_a_large_value_is_not_deflated_as_a_whole():
    base = noise(3 * MOST_DEFLATED_BYTES)
    middle = len(base) // 2
    value = base[:middle] + b"!" + base[middle:]
    delta = difference(value, base)
    assert len(delta.middle) < 10_000
    assert restored(delta, base) == value
