"""Sizes of pages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.storage.lister import MAX_PAGE, Chunks, PageRule, next_page


@pytest.mark.parametrize(
    ("rule", "pages"),
    [
        ("constant", [500, 500, 500]),
        ("doubling", [500, 1000, 2000, 4000, 8000, 10_000, 10_000]),
        ("doubling", [3, 6, 12, 24]),
        ("doubling", [25_000, 25_000]),
    ],
)
def test_pages_after_incomplete_ones(rule: PageRule, pages: list[int]) -> None:
    assert [next_page(size, rule) for size in pages[:-1]] == pages[1:]


@given(st.integers(1, 2_000_000), st.integers(1, 10_000))
def test_chunks_settle_at_8_mib_or_the_most(value: int, most: int) -> None:
    chunks = Chunks(most)
    sizes = [chunks.size]
    for _ in range(20):
        chunks.record(chunks.size, chunks.size * value)
        sizes.append(chunks.size)
    assert all(1 <= size <= most for size in sizes)
    assert sizes[-1] in (1, most) or sizes[-1] * value <= 8 << 20 < (sizes[-1] + 2) * value
    assert all(after <= before * 4 for before, after in pairwise(sizes)) and MAX_PAGE == 10_000
