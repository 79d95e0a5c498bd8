"""YAML as kubectl users know it."""

from __future__ import annotations

import json
from typing import Any

import msgspec.yaml
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.apiserver.http.yamltext import yaml_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": "x", "a": 1}, "a: 1\nb: x\n"),
        ({"t": "2026-11-20T07:20:00Z", "m": "5", "z": "true", "e": ""}, None),
        ({"items": [{"a": 1}, "s"]}, "items:\n- a: 1\n- s\n"),
        ({"m": {}, "l": [], "z": None}, "l: []\nm: {}\nz: null\n"),
        ({"script": "a\nb\n"}, "script: |\n  a\n  b\n"),
        ({"f": [1e30, 0.5, 2.0]}, "f:\n- 1e+30\n- 0.5\n- 2\n"),
        ({"t": ["x\n\n", "z"]}, "t:\n- |+\n  x\n\n- z\n"),
        ({"t": "x\n\n"}, "t: |+\n  x\n\n"),
        (
            {"s": ["1e3", "0o7", ".5", "1.", "1e", "=", "<<"]},
            's:\n- "1e3"\n- "0o7"\n- ".5"\n- "1."\n- 1e\n- =\n- <<\n',
        ),
        ({"n": "y"}, '"n": "y"\n'),
        ({"colon": "a: b"}, "colon: 'a: b'\n"),
        ({"l": ["*", "&", "!"]}, "l:\n- '*'\n- '&'\n- '!'\n"),
    ],
)
def test_style(value: Any, text: str | None) -> None:
    if text is None:
        text = 'e: ""\nm: "5"\nt: "2026-11-20T07:20:00Z"\nz: "true"\n'
    assert yaml_of(json.dumps(value).encode()).decode() == text


PRINTABLE = st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | PRINTABLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PRINTABLE, inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_it_reads_back_as_what_it_was(value: Any) -> None:
    assert msgspec.yaml.decode(yaml_of(json.dumps(value).encode())) == value


def test_whole_numbers_that_no_64_bits_hold_are_floats() -> None:
    document = b'{"a":100000000000000000000,"b":18446744073709551615,"c":-9223372036854775808}'
    assert yaml_of(document) == b"a: 1e+20\nb: 18446744073709551615\nc: -9223372036854775808\n"
