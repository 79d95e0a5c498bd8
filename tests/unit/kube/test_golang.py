"""Go's texts for bad input."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.golang import base64text, jsonscan
from ktui.kube.golang.formatting import (
    NumError,
    clean,
    general,
    go_syntax,
    go_value,
    parse_int,
    parse_uint,
    quote,
)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("web", '"web"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("a\tb\x07\x1b", '"a\\tb\\a\\x1b"'),
        ("é…", '"é…"'),
        ("\u200b\U000e0001", '"\\u200b\\U000e0001"'),
    ],
)
def test_quote(text: str, quoted: str) -> None:
    assert quote(text) == quoted


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("-5", -5), ("+5", 5), ("9223372036854775807", 2**63 - 1)]
)
def test_parse_int(text: str, number: int) -> None:
    assert parse_int(text) == number


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", 'parsing "": invalid syntax'),
        ("abc", 'parsing "abc": invalid syntax'),
        ("1_000", 'parsing "1_000": invalid syntax'),
        ("٣", 'parsing "٣": invalid syntax'),
        ("9223372036854775808", 'parsing "9223372036854775808": value out of range'),
        ("-" + "9" * 5000, f'parsing "-{"9" * 5000}": value out of range'),
    ],
)
def test_parse_int_refuses(text: str, why: str) -> None:
    with pytest.raises(NumError) as error:
        parse_int(text)
    assert str(error.value) == f"strconv.ParseInt: {why}"


def test_parse_int_reads_many_leading_zeros() -> None:
    assert parse_int("-" + "0" * 5000 + "7") == -7


@pytest.mark.parametrize("text", ["+5", "-1", " 1", "0x10", "1.0"])
def test_parse_uint_takes_no_sign(text: str) -> None:
    with pytest.raises(NumError, match="invalid syntax"):
        parse_uint(text)


@given(st.binary())
def test_base64url_round_trip(data: bytes) -> None:
    assert base64text.decode(base64text.encode(data)) == data


@pytest.mark.parametrize(
    ("text", "byte"),
    [("garbage!", 7), ("YWJj==", 4), ("YWJjZ", 4), ("YW Jj", 2), ("YW\nJ+", 4), ("é", 0)],
)
def test_base64url_names_the_bad_byte(text: str, byte: int) -> None:
    with pytest.raises(ValueError) as error:
        base64text.decode(text)
    assert str(error.value) == f"illegal base64 data at input byte {byte}"


def test_base64url_skips_line_ends() -> None:
    assert base64text.decode("YW\r\nJj\n") == b"abc"


@given(st.binary(max_size=40))
def test_base64url_agrees_with_python_on_what_is_valid(data: bytes) -> None:
    text = base64.urlsafe_b64encode(data).decode()
    if text.endswith("="):
        with pytest.raises(ValueError):
            base64text.decode(text)
    else:
        assert base64text.decode(text) == data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b"not json", "invalid character 'o' in literal null (expecting 'u')"),
        (b"\x9e\xe9", "invalid character '\\x9e' looking for beginning of value"),
        (b"6\x89", "invalid character '\\x89' after top-level value"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b"{'a'", "invalid character '\\'' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'"\n"', "invalid character '\\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"-x", "invalid character 'x' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1e+x", "invalid character 'x' in exponent of numeric literal"),
        (b"01", "invalid character '1' after top-level value"),
        (b"[" * 5000, "exceeded max depth"),
    ],
)
def test_jsonscan_errors(data: bytes, why: str) -> None:
    with pytest.raises(jsonscan.JSONSyntaxError) as error:
        jsonscan.check(data)
    assert str(error.value) == why


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON, st.booleans())
def test_jsonscan_takes_all_json(value: object, spaced: bool) -> None:
    jsonscan.check(json.dumps(value, indent=2 if spaced else None).encode())


@given(_JSON, st.integers(0, 200), st.binary(min_size=1, max_size=2))
def test_jsonscan_agrees_with_python_on_damaged_json(value: object, at: int, damage: bytes) -> None:
    data = json.dumps(value).encode()
    data = data[: at % (len(data) + 1)] + damage + data[at % (len(data) + 1) :]
    try:
        json.loads(data.decode("latin-1"), parse_constant=_refuse)
    except ValueError:
        with pytest.raises(jsonscan.JSONSyntaxError):
            jsonscan.check(data)
    else:
        jsonscan.check(data)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


@pytest.mark.parametrize(
    ("path", "cleaned"), [("", "."), ("/a/../b", "/b"), ("//a", "/a"), ("/a/./b/", "/a/b"), ("/..", "/")]
)
def test_clean(path: str, cleaned: str) -> None:
    assert clean(path) == cleaned


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("", None),
        ("YQ==", None),
        ("YWI=", None),
        ("YW\nJj", None),
        ("!!", 0),
        ("YQ", 0),
        ("YWJjY", 4),
        ("YQ=", 3),
        ("Y===", 1),
        ("YQ==YQ==", 4),
        ("YWI=x", 4),
        ("YWJ\u00e9", 3),
    ],
)
def test_base64_that_go_cannot_decode(text: str, at: int | None) -> None:
    assert base64text.fault(text) == ("" if at is None else f"illegal base64 data at input byte {at}")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e30, "1e+30"),
        (0.125, "0.125"),
        (1.0, "1"),
        (-0.0, "-0"),
        (123456.5, "123456.5"),
        (1234567.5, "1.2345675e+06"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (-5e-324, "-5e-324"),
    ],
)
def test_floats_by_the_fewest_digits(value: float, text: str) -> None:
    assert general(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_fewest_digits_name_the_float(value: float) -> None:
    assert float(general(value)) == value


def test_values_in_gos_formats() -> None:
    assert go_syntax({"b": [1, "x", None], "a": True}) == (
        'map[string]interface {}{"a":true, "b":[]interface {}{1, "x", interface {}(nil)}}'
    )
    assert (go_value(1 << 63), go_value((1 << 63) - 1)) == ("9.223372036854776e+18", "9223372036854775807")
