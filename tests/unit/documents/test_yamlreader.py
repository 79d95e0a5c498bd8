"""YAML from strangers: the values that go-yaml finds in it, and limits instead of crashes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.documents.limits import MAX_CONTAINERS, MAX_DEPTH, DocumentError, TooLarge
from ktui.documents.yamlreader import read_yaml
from tests.unit.hanging import ends


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"", None),
        (b"# nothing\n", None),
        (b"a: 1\nb: [x, 'y', \"z\"]\n", {"a": 1, "b": ["x", "y", "z"]}),
        (b"[1, 0x1F, 0b11, 010, 0o10, 1_000, +1, -5]", [1, 31, 3, 8, 8, 1000, 1, -5]),
        (b"[1.0, 1e3, .5, -.5, 2.5, -0.0]", [1, 1000, 0.5, -0.5, 2.5, 0]),
        (b"[1e400, 0x, -, +, .x, 1:20]", ["1e400", "0x", "-", "+", ".x", "1:20"]),
        (b"[yes, Off, y, N, ~, null, '', \"~\"]", [True, False, True, False, None, None, "", "~"]),
        (b"[99999999999999999999, 18446744073709551615]", [1e20, 18446744073709551615]),
        (b"[2001-01-01, 2026-11-20T07:20:00Z]", ["2001-01-01", "2026-11-20T07:20:00Z"]),
        (b"[!!str 5, !!float 3, !!binary aGk=, !thing bar, !!int '7']", ["5", 3, "hi", "bar", 7]),
        (b"!!python/object:os.system {a: 1}", {"a": 1}),
        (b"{1: a, 1.5: b, true: c, 1.0: d}", {"1": "d", "1.5": "b", "true": "c"}),
        (b"a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
        (b"a: &a {x: 1, z: 2}\nb: {<<: *a, z: 3}\n", {"a": {"x": 1, "z": 2}, "b": {"x": 1, "z": 3}}),
        (b"{<<: [{a: 1}, {a: 2, b: 2}]}", {"a": 1, "b": 2}),
        (b"first: 1\n---\nsecond: 2\n", {"first": 1}),
        (b"{}\n---\n}", {}),
        (b"a: 1\na: 2\n", {"a": 2}),
        ("\ufeffa: ü".encode("utf-16-le"), {"a": "ü"}),
    ],
)
def test_values(text: bytes, value: Any) -> None:
    assert read_yaml(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a: [", "yaml: line 1: did not find expected node content"),
        (b"a: b: c", "yaml: mapping values are not allowed in this context"),
        (b"a: b\n\tc: d", "yaml: line 2: found a tab character that violates indentation"),
        (b"a: \0", "yaml: control characters are not allowed"),
        (b"a: \xff", "yaml: invalid leading UTF-8 octet"),
        (b'"\\uD83D"', "yaml: found invalid Unicode character escape code"),
        (b"*x", "yaml: unknown anchor 'x' referenced"),
        (b"a: &a [*a]", "yaml: anchor 'a' value contains itself"),
        (b"!!int abc", "yaml: cannot decode !!str `abc` as a !!int"),
        (b"!!binary '*'", "yaml: !!binary value contains invalid base64 data"),
        (b"{<<: 1}", "yaml: map merge requires map or sequence of maps as the value"),
        (b"{~: x}", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "x"'),
        (b"[.nan]", "json: unsupported value: NaN"),
        (b"a: -.inf", "json: unsupported value: -Inf"),
    ],
)
def test_errors_have_the_words_of_gos_libraries(text: bytes, message: str) -> None:
    with pytest.raises(DocumentError) as error:
        read_yaml(text)
    assert str(error.value) == message


def test_keys_that_a_mapping_has_twice_are_named() -> None:
    duplicates: list[str] = []
    assert read_yaml(b"a: 1\nb: {c: 1,\n  c: 2}\na: 3\n1: p\n1: q", duplicates=duplicates) == {
        "a": 3,
        "b": {"c": 2},
        "1": "q",
    }
    assert duplicates == [
        'line 3: key "c" already set in map',
        'line 4: key "a" already set in map',
        "line 6: key 1 already set in map",
    ]


@pytest.mark.parametrize(
    "text",
    [
        b"- " * 25_000,
        b"[" * 1_000_000,
        b"{" * 1_000_000,
        b"{a: " * 100_000,
        b"? " * 100_000,
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b"- &a0 []\n" + b"".join(b"- &a%d [*a%d]\n" % (i + 1, i) for i in range(10_000)),
    ],
    ids=["dashes", "brackets", "braces", "objects", "keys", "one too deep", "aliases"],
)
def test_depth_is_bounded(text: bytes) -> None:
    with pytest.raises(DocumentError, match=f"exceeded max depth of {MAX_DEPTH}"):
        read_yaml(text)


def test_the_deepest_document() -> None:
    value = read_yaml(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    assert json.dumps(value) == "[" * MAX_DEPTH + "]" * MAX_DEPTH


def test_aliases_that_unfold_without_bound() -> None:
    bomb = b"a: &a [x,x,x,x,x,x,x,x,x,x]\n"
    for name in b"abcdefghi":
        bomb += b"%c: &%c [%s]\n" % (name + 1, name + 1, b",".join([b"*%c" % name] * 10))
    with pytest.raises(DocumentError, match="excessive aliasing"):
        read_yaml(bomb)
    with pytest.raises(DocumentError, match="excessive aliasing"):
        read_yaml(b"a: &a {%s}\n" % b", ".join(b"k%d: 1" % i for i in range(1000)) + b"b: {<<: *a}\n" * 1000)
    with pytest.raises(TooLarge, match="with aliases written out"):
        read_yaml(b"- &a %s\n" % (b"x" * 1_000_000) + b"- *a\n" * 90)


def test_containers_and_directives_are_bounded() -> None:
    with pytest.raises(TooLarge, match=f"limit is {MAX_CONTAINERS} objects and lists"):
        read_yaml(b"[" + b"{}," * MAX_CONTAINERS + b"]")
    directives = b"".join(b"%%TAG !t%d! tag:x,2000:\n" % i for i in range(200))
    with pytest.raises(TooLarge, match="limit is 100 %TAG directives"):
        read_yaml(directives + b"---\na: 1")


def test_directives_are_counted_in_linear_time() -> None:
    """Spaces at the ends of 99 lines could be divided in 50^99 ways."""
    with pytest.raises(DocumentError), ends():
        read_yaml((b"%TAG" + b" " * 50 + b"\n") * 99 + b"x: '%TAG %TAG'\n")


TEXT = st.text(st.characters(categories=["L", "N", "P", "Zs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_json_is_yaml(value: Any) -> None:
    assert read_yaml(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary(max_size=60) | st.text("[]{}:-?,&*!|>'\"%#\n\t ab<1.~", max_size=40).map(str.encode))
def test_any_bytes_are_a_document_or_an_error(data: bytes) -> None:
    try:
        value = read_yaml(data)
    except DocumentError:
        return
    json.dumps(value, allow_nan=False)
