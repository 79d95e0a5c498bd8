"""YAML as kubectl users know it."""

from __future__ import annotations

import json
from typing import Any

import msgspec.yaml
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.apiserver.http.yamltext import read_yaml, yaml_of


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": "x", "a": 1}, "a: 1\nb: x\n"),
        ({"t": "2026-11-20T07:20:00Z", "n": "5", "y": "true", "e": ""}, None),
        ({"items": [{"a": 1}, "s"]}, "items:\n- a: 1\n- s\n"),
        ({"m": {}, "l": [], "z": None}, "l: []\nm: {}\nz: null\n"),
        ({"script": "a\nb\n"}, "script: |\n  a\n  b\n"),
        ({"colon": "a: b"}, "colon: 'a: b'\n"),
    ],
)
def test_style(value: Any, text: str | None) -> None:
    if text is None:
        text = 'e: ""\nn: "5"\nt: "2026-11-20T07:20:00Z"\ny: "true"\n'
    assert yaml_of(json.dumps(value).encode()).decode() == text


PRINTABLE = st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | PRINTABLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PRINTABLE, inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_it_reads_back_as_what_it_was(value: Any) -> None:
    assert msgspec.yaml.decode(yaml_of(json.dumps(value).encode())) == value


def test_times_stay_text() -> None:
    assert read_yaml(b"at: 2026-11-20T07:20:00Z\nn: 5\n") == {"at": "2026-11-20T07:20:00Z", "n": 5}


@pytest.mark.parametrize(
    "text", [b"a: &x [1]\nb: *x\n", b"a: [", b"\xff\xfe\x00", b"!!python/object:os.system {}"]
)
def test_what_is_not_read(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"^yaml: "):
        read_yaml(text)
