"""A List made of pieces is the List."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.apiserver.framing import (
    FIRST_CHUNK_BYTES,
    LARGE_FOLLOWS,
    LIST_TAIL,
    chunked,
    custom_list_head,
    custom_list_tail,
    in_yaml,
    indented,
    list_head,
    list_metadata,
)
from ktui.apiserver.http.yamltext import yaml_of

LONG = st.builds(str.__mul__, st.text(max_size=3), st.integers(0, 4000))


@given(st.lists(st.dictionaries(st.text(max_size=5), LONG, max_size=2), max_size=30))
def test_joined_chunks_are_the_document(items: list[dict[str, str]]) -> None:
    head = list_head("PodList", "v1", list_metadata("7"))
    texts = (json.dumps(item).encode() for item in items)
    chunks = list(chunked(head, ((text[:5], text[5:]) for text in texts)))
    assert json.loads(b"".join(chunks)) == {
        "kind": "PodList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7"},
        "items": items,
    }


METADATA = list_metadata("7", "more", 3)
BUILT_IN = list_head("PodList", "v1", METADATA), LIST_TAIL
CUSTOM = custom_list_head("x.io/v1"), custom_list_tail("WidgetList", METADATA)
ITEMS = st.lists(st.recursive(st.text(max_size=20), st.lists, max_leaves=5), min_size=1, max_size=8)


def texts_of(items: list[object]) -> list[tuple[bytes, bytes]]:
    return [(msgspec.json.encode({"value": item}), b"") for item in items]


@pytest.mark.parametrize(("head", "tail"), [BUILT_IN, CUSTOM])
@given(items=ITEMS)
def test_items_indented_one_by_one_are_the_indented_document(
    head: bytes, tail: bytes, items: list[object]
) -> None:
    whole = b"".join(chunked(head, texts_of(items), tail))
    found = b"".join(chunked(*indented(head, texts_of(items), tail)))
    assert found == msgspec.json.format(whole).rstrip()


@pytest.mark.parametrize(("head", "tail"), [BUILT_IN, CUSTOM])
@settings(deadline=None)
@given(items=ITEMS)
def test_items_in_yaml_one_by_one_are_the_document_in_yaml(
    head: bytes, tail: bytes, items: list[object]
) -> None:
    whole = b"".join(chunked(head, texts_of(items), tail))
    assert b"".join(chunked(*in_yaml(head, texts_of(items), tail), joint=b"")) == yaml_of(whole)


def test_the_members_of_a_list_of_custom_resources_are_sorted() -> None:
    head, tail = CUSTOM
    assert b"".join(chunked(head, [(b"1",), (b"2",)], tail)) == (
        b'{"apiVersion":"x.io/v1","items":[1,2],"kind":"WidgetList",'
        b'"metadata":{"continue":"more","remainingItemCount":3,"resourceVersion":"7"}}\n'
    )


def test_the_first_chunk_is_small() -> None:
    item = b'"' + b"x" * 998 + b'"'
    chunks = list(chunked(b"[", ([item] for _ in range(5000)), b"]"))
    assert len(chunks[0]) <= FIRST_CHUNK_BYTES + len(item) + 2
    assert all(len(chunk) < 300_000 for chunk in chunks)


def test_metadata_names_only_what_there_is() -> None:
    assert list_metadata("7") == {"resourceVersion": "7"}
    assert list_metadata("7", "tok", 3) == {
        "resourceVersion": "7",
        "continue": "tok",
        "remainingItemCount": 3,
    }
    assert list_metadata("7", "tok", None) == {"resourceVersion": "7", "continue": "tok"}


def test_lists_of_custom_resources_always_name_continue() -> None:
    assert list_metadata("7", always_continue=True) == {"resourceVersion": "7", "continue": ""}


def test_an_empty_chunk_comes_before_a_large_item() -> None:
    made: list[str] = []

    def items() -> Iterator[Sequence[bytes]]:
        for text in ("a", "b", "c"):
            if text == "b":
                yield LARGE_FOLLOWS
            made.append(text)
            yield (text.encode(),)

    chunks = chunked(b"[", items(), b"]")
    assert (next(chunks), made) == (b"", ["a"])
    assert b"".join(chunks) == b"[a,b,c]"
