import json
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.quantity import canonical_quantity, canonical_resource
from ktui.wire import jsontext, scalars
from ktui.wire.pb import CodecError, put_number, put_varint, signed32, signed64, varint

pytestmark = pytest.mark.slow


@given(st.binary(max_size=60))
def test_any_bytes_quote_to_a_json_string(data: bytes) -> None:
    assert json.loads(jsontext.quote(data)) == jsontext.utf8(data)


@given(st.text(max_size=60).filter(lambda text: not any(0xD800 <= ord(char) < 0xE000 for char in text)))
def test_text_comes_back(text: str) -> None:
    assert json.loads(jsontext.quote(text.encode())) == text


@pytest.mark.parametrize(
    ("data", "text"), [(b"\xe2\x82", "\ufffd" * 2), (b"\xed\xa0\x80", "\ufffd" * 3), (b"a\xffb", "a\ufffdb")]
)
def test_each_invalid_byte_is_replaced_as_in_go(data: bytes, text: str) -> None:
    assert jsontext.utf8(data) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a<b>&", rb"a\u003cb\u003e\u0026"),
        ("\u2028\u2029\u2027é".encode(), "\\u2028\\u2029\u2027é".encode()),
        (b'"<\n', rb"\"\u003c\n"),
        (b"\xff\xed\xa0\x80<", rb"\ufffd" * 4 + rb"\u003c"),
        ("\ufffd".encode(), "\ufffd".encode()),
    ],
)
def test_characters_are_escaped_as_by_go(data: bytes, text: bytes) -> None:
    assert jsontext.quote(data) == b'"%b"' % text


def test_embedded_json_is_escaped() -> None:
    assert jsontext.embed(b'{ "<": "\xe2\x80\xa8" }') == rb'{"\u003c":"\u2028"}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, b"1"),
        (0.5, b"0.5"),
        (1e20, b"100000000000000000000"),
        (1e21, b"1e+21"),
        (1e-7, b"1e-7"),
        (1e-6, b"0.000001"),
    ],
)
def test_floats_as_go_prints_them(value: float, text: bytes) -> None:
    assert jsontext.double(struct.pack("<d", value)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_come_back(value: float) -> None:
    assert float(jsontext.float_text(value)) == value


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_json_has_no_infinity(value: float) -> None:
    with pytest.raises(CodecError):
        jsontext.float_text(value)


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_varints_come_back(value: int) -> None:
    encoded = put_varint(value)
    assert signed64(varint(encoded, 0)[0]) == value
    assert len(encoded) == 10 or value >= 0
    assert signed32(value) == (value + (1 << 31)) % (1 << 32) - (1 << 31)


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-(1 << 31), (1 << 31) - 1))
def test_any_time_has_a_text(seconds: int, nanos: int) -> None:
    encoded = put_number(1, seconds) + put_number(2, nanos)
    zero = seconds * 10**9 + nanos == scalars.ZERO_TIME_SECONDS * 10**9
    assert bool(json.loads(scalars.time(encoded))) is not zero
    assert bool(json.loads(scalars.microtime(encoded))) is not zero


@pytest.mark.parametrize(
    ("seconds", "nanos", "text"),
    [
        (0, 0, '"1970-01-01T00:00:00.000000Z"'),
        (951782400, 999_999_999, '"2000-02-29T00:00:00.999999Z"'),
        (-1, 1000, '"1969-12-31T23:59:59.000001Z"'),
        (scalars.ZERO_TIME_SECONDS, 0, "null"),
    ],
)
def test_microtimes(seconds: int, nanos: int, text: str) -> None:
    assert scalars.microtime(put_number(1, seconds) + put_number(2, nanos)).decode() == text


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("0", "0"),
        ("0.5", "500m"),
        ("1000m", "1"),
        ("100m", "100m"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1023", "1023"),
        ("1Ki", "1Ki"),
        ("0.5Ki", "512"),
        ("12e6", "12e6"),
        ("1e3", "1e3"),
        ("1E", "1E"),
        ("12000", "12k"),
        ("-5", "-5"),
        ("+1", "+1"),
        ("-", "0"),
        ("k", "0"),
        (".5", "500m"),
        ("1n", "1n"),
        ("0.0000000001", "1n"),
        ("3.", "3."),
        ("05", "05"),
        ("1.500", "1.500"),
        ("5000m", "5"),
        ("01Gi", "01Gi"),
        ("8Ei", "9223372036854775807"),
        ("4e+3", "4e+3"),
        ("1E3", "1E3"),
        ("1e0", "1e0"),
        ("1000E", "1"),
        ("1e30", "1e30"),
        ("", None),
        ("abc", None),
        ("1 Gi", None),
        ("1e99", "1e99"),
        ("1e100", "10e99"),
        ("1e1000", None),
        ("4-", None),
    ],
)
def test_quantities_are_stored_canonical(given: str, canonical: str | None) -> None:
    assert canonical_quantity(given) == canonical


@pytest.mark.parametrize(
    ("given", "rounded"),
    [
        ("1500m", "1500m"),
        ("1n", "1m"),
        ("1.0001", "1001m"),
        ("-0.0001", "-1m"),
        ("1e-10", "1e-3"),
        ("05", "05"),
    ],
)
def test_resources_are_rounded_to_thousandths(given: str, rounded: str) -> None:
    assert canonical_resource(given) == rounded


@given(
    st.from_regex(
        r"\A[+-]?\d{1,18}(\.\d{1,9})?([KMGTPE]i|[numkMGTPE]|e[+-]?\d)?\Z",
        alphabet=st.characters(max_codepoint=127),
    )
)
def test_a_canonical_quantity_stays(text: str) -> None:
    once = canonical_quantity(text)
    assert once is not None
    assert canonical_quantity(once) == once
