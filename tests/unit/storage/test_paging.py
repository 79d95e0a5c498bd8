"""Sizes of pages, and the ranges in which a whole collection is read."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.etcd.types import KV, RangeResult
from ktui.storage.keys import range_end
from ktui.storage.lister import PageRule, next_page
from ktui.storage.whole_range import MAX_PAGE, Bounds, Chunks


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


PREFIX = b"/registry/pods/"


def read_whole(keys: list[bytes], limit: int) -> tuple[list[bytes], int, int]:
    """Read sorted keys in pages as etcd answers them; return what was read, the pages, the keys counted."""
    bounds, found, pages, counted = Bounds(PREFIX, range_end(PREFIX)), [], 0, 0
    while True:
        low, high = bisect_left(keys, bounds.start), bisect_left(keys, bounds.bound)
        page = keys[low : min(high, low + limit)]
        found, pages, counted = found + page, pages + 1, counted + high - low
        kvs = [KV(key, b"", 1, 1, 1, 0) for key in page]
        if not bounds.advance(RangeResult(kvs, high - low, high - low > len(page), 7), limit):
            return found, pages, counted


@given(
    st.sets(st.tuples(st.text("ab/\xff-", max_size=4), st.text("ab01", max_size=6)), max_size=400),
    st.integers(1, 12),
)
def test_every_key_is_read_once_in_order_whatever_the_names(names: set[tuple[str, str]], limit: int) -> None:
    keys = sorted({PREFIX + f"{namespace}/{name}".encode("latin-1") for namespace, name in names})
    assert read_whole(keys, limit)[0] == keys


@pytest.mark.parametrize("namespaces", [1, 7, 200, 3000])
def test_a_large_collection_is_not_counted_again_for_each_page(namespaces: int) -> None:
    chance = Random(namespaces)
    keys = sorted(
        PREFIX + f"team-{chance.randrange(namespaces):04}/web-{chance.getrandbits(40):010x}".encode()
        for _ in range(60_000)
    )
    found, pages, counted = read_whole(keys, 100)
    assert found == keys and pages <= 2 * 600
    assert counted <= 20 * len(keys) < len(keys) ** 2 / 2 / 100  # what reading to the end each time counts


def test_a_collection_of_a_few_pages_is_read_to_its_end_each_time() -> None:
    keys = [PREFIX + b"shop/%03d" % number for number in range(160)]
    assert read_whole(keys, 10)[1:] == (16, sum(range(10, 161, 10)))
