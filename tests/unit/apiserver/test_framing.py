"""A List made of pieces is the List."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ktui.apiserver.framing import (
    FIRST_CHUNK_BYTES,
    INDENTED_TAIL,
    chunked,
    indented,
    list_head,
    list_metadata,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=8000), max_size=2), max_size=30))
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


@given(st.lists(st.recursive(st.text(), st.lists, max_leaves=5), min_size=1))
def test_items_indented_one_by_one_are_the_indented_document(items: list[object]) -> None:
    head = list_head("PodList", "v1", list_metadata("7", "more", 3))
    texts = [(msgspec.json.encode({"value": item}), b"") for item in items]
    whole = b"".join(chunked(head, texts))
    assert b"".join(chunked(*indented(head, texts), INDENTED_TAIL)) == msgspec.json.format(whole) + b"\n"


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
