"""YAML, JSON and hex as typed lines."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.core.object_lines import LONGEST_LINE, Line, hex_lines, hex_width, json_lines, yaml_lines


def text(lines: list[Line]) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines)


POD = {
    "metadata": {"name": "web-0", "labels": {"app": "web"}, "annotations": {}},
    "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80}]}, {"name": "d"}]},
    "status": {"ready": True, "reason": None, "ip": "10.0.0.1", "version": "1.36"},
}


def test_yaml_is_block_style_in_stored_order() -> None:
    assert text(yaml_lines(POD)) == (
        "metadata:\n"
        "  name: web-0\n"
        "  labels:\n"
        "    app: web\n"
        "  annotations: {}\n"
        "spec:\n"
        "  containers:\n"
        "  - name: c\n"
        "    ports:\n"
        "    - containerPort: 80\n"
        "  - name: d\n"
        "status:\n"
        "  ready: true\n"
        "  reason: null\n"
        '  ip: "10.0.0.1"\n'
        '  version: "1.36"'
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("true", '"true"'),
        ("No", '"No"'),
        ("123", '"123"'),
        ("", '""'),
        (" padded", '" padded"'),
        ("a: b", '"a: b"'),
        ("x[red]y", '"x[red]y"'),
        ("plain text", "plain text"),
        ("trailing:", '"trailing:"'),
        ("registry.example/web:1.4", "registry.example/web:1.4"),
        ("2f6f3c1e-8d5b-4f0e-9a57-0f4a7f1b0c11", "2f6f3c1e-8d5b-4f0e-9a57-0f4a7f1b0c11"),
        ("2026-09-20T07:44:01Z", '"2026-09-20T07:44:01Z"'),
        ("1e5", '"1e5"'),
        ("web/v1.2", "web/v1.2"),
    ],
)
def test_yaml_quotes_what_would_read_as_something_else(value: str, shown: str) -> None:
    assert text(yaml_lines({"k": value})) == f"k: {shown}"


def test_yaml_shows_text_of_several_lines_as_a_block() -> None:
    assert text(yaml_lines({"k": "a\nb\n", "l": "c\nd"})) == "k: |\n  a\n  b\nl: |-\n  c\n  d"


def test_a_very_long_line_is_cut_and_says_so() -> None:
    shown = text(yaml_lines({"k": "a" * 10_000}))
    assert len(shown) < LONGEST_LINE + 40
    assert shown.endswith(f"… +{10_000 + 3 - LONGEST_LINE:,} characters")


STEERS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


# safe() has its own tests; here what JSON says must come through untouched.
PRINTABLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20)
PLAIN_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | PRINTABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PRINTABLE, inner, max_size=4),
    max_leaves=20,
)


@given(PLAIN_JSON)
def test_json_lines_say_what_json_says(value: object) -> None:
    assert text(json_lines(value)) == json.dumps(value, ensure_ascii=False, indent=2)


@given(JSON)
def test_nothing_that_steers_a_terminal_gets_through(value: object) -> None:
    for lines in (yaml_lines(value), json_lines(value)):
        steering = {unicodedata.category(char) for line in lines for char in text([line])} & STEERS
        assert not steering


def test_hex_has_offset_bytes_and_ascii() -> None:
    lines = text(hex_lines(b"k8s\x00\n\x0c\n\x02v1\x12\x06Secret!", total=100)).split("\n")
    assert lines[0] == "00000000  6b 38 73 00 0a 0c 0a 02  76 31 12 06 53 65 63 72  k8s·····v1··Secr"
    assert lines[1].startswith("00000010  65 74 21 ")
    assert lines[1].endswith("et!")
    assert lines[2] == "… 81 more bytes"


@pytest.mark.parametrize(("cells", "width"), [(200, 16), (78, 16), (76, 16), (75, 8), (43, 8), (20, 8)])
def test_hex_takes_the_width_that_fits(cells: int, width: int) -> None:
    assert hex_width(cells) == width
    line = text(hex_lines(bytes(width), width, width))
    assert len(line) <= cells or width == 8
