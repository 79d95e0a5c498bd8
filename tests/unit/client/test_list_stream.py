"""Counting the items of a List as it streams by."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.client.list_stream import KEPT_BYTES, ListBody

pytestmark = pytest.mark.slow

texts = st.text(alphabet='ab"\\{}[],: é', max_size=8)
values = st.recursive(
    texts | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=4)


def read(body: bytes, sizes: list[int], *, collection: bool = True) -> ListBody:
    """Feed `body` in chunks of these sizes, over and over."""
    reader, at, turn = ListBody(collection=collection), 0, 0
    while at < len(body):
        size = sizes[turn % len(sizes)]
        reader.feed(body[at : at + size])
        at, turn = at + size, turn + 1
    return reader


@given(
    items=st.lists(objects, max_size=6),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    indent=st.sampled_from([None, 2]),
    items_first=st.booleans(),
)
def test_counts_as_a_decoder_would(
    items: list[Any], sizes: list[int], indent: int | None, items_first: bool
) -> None:
    around = {"kind": "PodList", "metadata": {"resourceVersion": "7", "continue": "abc"}}
    document = {"items": items, **around} if items_first else {**around, "items": items}
    separators = None if indent else (",", ":")
    body = json.dumps(document, indent=indent, separators=separators).encode()
    reader = read(body, sizes)
    assert reader.items == len(items)
    assert reader.envelope().kind == "PodList"
    assert reader.envelope().metadata.resource_version == "7"
    assert reader.envelope().metadata.continue_token == "abc"


alike = st.text() | st.just('},{"metadata":') | values | st.just([{"metadata": 1}, {"metadata": 2}])


@given(
    items=st.lists(st.fixed_dictionaries({"metadata": alike}, optional={"spec": alike}), max_size=8),
    sizes=st.lists(st.integers(1, 90), min_size=1, max_size=5),
)
def test_items_that_begin_alike_are_counted_as_a_decoder_would(items: list[Any], sizes: list[int]) -> None:
    document = {"items": items, "metadata": {"resourceVersion": "7"}}
    reader = read(json.dumps(document, separators=(",", ":")).encode(), sizes)
    assert reader.items == len(items)
    assert reader.envelope().metadata.resource_version == "7"


def test_an_object_is_not_taken_for_a_list() -> None:
    pod = {"kind": "Pod", "metadata": {"resourceVersion": "3"}, "spec": {"configMap": {"items": [{}, {}]}}}
    reader = read(json.dumps(pod).encode(), [11], collection=False)
    assert reader.items == 0
    assert reader.envelope().metadata.resource_version == "3"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"kind":"Status","status":"Failure","message":"no pods today"}', "no pods today"),
        (b"Too many requests, please try again later.\n", "Too many requests, please try again later."),
        (b"", ""),
    ],
)
def test_a_refusal_tells_its_message(body: bytes, message: str) -> None:
    assert read(body, [5]).envelope().message == message


def test_no_items_at_all() -> None:
    reader = read(b'{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":null}', [4])
    assert reader.items == 0
    assert reader.envelope().metadata.resource_version == "9"


def test_a_stream_that_broke_off_still_says_what_it_began_with() -> None:
    reader = read(b'{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"a":1},{"b"', [4])
    assert reader.items == 1
    assert reader.envelope().metadata.resource_version == "9"


def test_items_are_not_kept() -> None:
    reader = ListBody(collection=True)
    reader.feed(b'{"kind":"PodList","items":[')
    item = b'{"metadata":{"name":"' + b"x" * 1000 + b'"}},'
    for _ in range(2 * KEPT_BYTES // len(item)):
        reader.feed(item)
    assert reader.items == 2 * KEPT_BYTES // len(item)
    assert len(reader._kept) < 100
