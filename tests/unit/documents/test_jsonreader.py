"""JSON from strangers: depth is found before parsing; pieces of a tree make it again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.documents.jsonreader import MAX_DUPLICATES, duplicate_fields, read_json
from ktui.documents.limits import MAX_CONTAINERS, MAX_DEPTH, DocumentError, TooLarge, nesting
from ktui.documents.tree_pieces import check_containers, joined, pieces

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.text('[]{}"\\ab', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("[a{", max_size=3), inner, max_size=4)
    ),
    max_leaves=30,
)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(VALUES)
def test_nesting_is_that_of_the_parsed_document(value: Any) -> None:
    assert nesting(json.dumps(value).encode()) == depth_of(value)


@pytest.mark.parametrize("data", [b"[" * 1_000_000, b'{"a":' * 400_000, b"[" * 201 + b"]" * 201])
def test_depth_is_bounded(data: bytes) -> None:
    with pytest.raises(DocumentError, match=r"^exceeded max depth$"):
        read_json(data)
    assert duplicate_fields(data) == []


def test_brackets_in_texts_do_not_nest() -> None:
    text = '[{"' * 1000
    assert read_json(json.dumps([text]).encode()) == [text]
    assert read_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "unexpected end of JSON input"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b"[1e400]", "json: cannot unmarshal number 1e400 into Go value of type float64"),
        (b"\x00", "invalid character '\\x00' looking for beginning of value"),
    ],
)
def test_errors(data: bytes, message: str) -> None:
    with pytest.raises(DocumentError) as error:
        read_json(data)
    assert str(error.value) == message


def test_numbers_that_no_64_bits_hold_are_floats() -> None:
    assert read_json(b"[" + b"9" * 300 + b"]") == [1e300]
    with pytest.raises(DocumentError, match="cannot unmarshal number 999"):
        read_json(b"9" * 5000)


def test_no_more_duplicates_than_upstream_reports() -> None:
    members = b",".join(b'"k%d":1,"k%d":2' % (i, i) for i in range(500))
    assert duplicate_fields(b"{%s}" % members) == [f"k{i}" for i in range(MAX_DUPLICATES)]


@given(VALUES, st.integers(1, 40))
def test_pieces_make_the_tree_again(value: Any, most: int) -> None:
    *_, tree = joined(pieces(value, most))
    assert json.dumps(tree) == json.dumps(value)


def test_pieces_are_small() -> None:
    tree = {"a": [{"name": f"n{i}"} for i in range(1000)], "b": {str(i): "x" for i in range(1000)}, "c": 1}
    cut = list(pieces(tree, 500))
    assert max(len(json.dumps(piece.part)) for piece in cut) < 1500
    assert len(cut) > 40


def test_containers_are_bounded() -> None:
    check_containers([[]] * (MAX_CONTAINERS - 1))
    with pytest.raises(TooLarge):
        check_containers([{"a": {}}] * (MAX_CONTAINERS // 2))
