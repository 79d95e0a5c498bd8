"""Large JSON in steps: the same as in one go."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube import json_trees
from ktui.kube.json_trees import STEP_BYTES, STEP_NAMES, decoded, in_order

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text()
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=40
)
LARGE = {
    "many members": lambda: {"data": {f"key{i}": f'a "value" \\ {i}' for i in range(20_000)}},
    "one text": lambda: {"data": {"k": "x\n" * 100_000}},
    "sets of fields": lambda: {
        "metadata": {"managedFields": [{"fieldsV1": {f"f:{i}": {} for i in range(20_000)}}]}
    },
    "many items": lambda: {"spec": {"ports": [{"port": i, "on": True, "at": None} for i in range(5000)]}},
    "many levels": lambda: {"a": [[[[[[[[{"b": {"c": {"d": {"e": i}}}}]]]]]]] for i in range(2000)]},
}


@given(TREES)
def test_a_tree_is_decoded_in_steps(tree):
    text = msgspec.json.encode(tree)
    value, end = json_trees._value(text, 0)
    assert (value, end) == (msgspec.json.decode(text), len(text))


@pytest.mark.parametrize("name", LARGE)
def test_no_step_of_a_large_tree_is_much_longer_than_the_others(name, monkeypatch):
    tree, steps = LARGE[name](), []
    text = msgspec.json.encode(tree)
    longest = max(map(len, _texts(tree)))

    def decode(part: bytes) -> Any:
        steps.append(len(part))
        return msgspec.json.Decoder().decode(part)

    monkeypatch.setattr(json_trees.msgspec.json, "decode", decode)
    assert decoded(text) == tree
    assert max(steps) <= max(STEP_BYTES, 2 * longest) + 2


@pytest.mark.parametrize(
    "text",
    [b'{"a":1,}', b"[1,]", b'{"a":[1,,2]}', b'{"a":tru}', b'{"a":1 "b":2}', b'{"a"', b"[" * 5000, b"{}{}"],
)
def test_what_is_not_json_is_an_error_as_in_one_go(text, monkeypatch):
    monkeypatch.setattr(json_trees, "STEP_BYTES", 0)
    with pytest.raises((msgspec.DecodeError, RecursionError)):
        decoded(text)


def test_white_space_is_no_hindrance():
    text = msgspec.json.format(msgspec.json.encode(LARGE["many items"]()), indent=2)
    assert decoded(text) == LARGE["many items"]()


def test_many_names_are_sorted_in_runs():
    names = [f"n{number}" for number in range(3 * STEP_NAMES)] + ["\ud800", "\ue000", "\U00010000"]
    random.Random(1).shuffle(names)
    assert list(in_order(names)) == sorted(names)


@pytest.mark.parametrize("name", LARGE)
def test_a_large_tree_is_copied(name):
    tree = LARGE[name]()
    own = json_trees.copied(tree)
    assert own == tree
    assert not {id(part) for part in _containers(own)} & {id(part) for part in _containers(tree)}


def _containers(tree: Any) -> list[Any]:
    if not isinstance(tree, dict | list):
        return []
    parts = tree.values() if isinstance(tree, dict) else tree
    return [tree, *(inner for part in parts for inner in _containers(part))]


def _texts(tree: Any) -> list[str]:
    if isinstance(tree, str):
        return [tree]
    parts = [*tree.values(), *tree] if isinstance(tree, dict) else tree if isinstance(tree, list) else []
    return ["", *(text for part in parts for text in _texts(part))]
