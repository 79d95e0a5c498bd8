"""Texts as Go's strconv, fmt, path and encoding/json read and write them, with their error texts."""

from __future__ import annotations

import posixpath
import re
from decimal import Decimal
from typing import Any, Literal

import msgspec.json

_NAMED = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\", '"': '\\"',
}  # fmt: skip


def quote(text: str) -> str:
    """Quote `text` as Go's `%q` does: in double quotes, printable characters unchanged."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{text.translate(_ESCAPES)}"'


class _Escapes(dict[int, str]):
    """Escapes by code point, for `str.translate`; those of the first 16,384 are kept (a body has 3 MB)."""

    def __missing__(self, code: int) -> str:
        text = _escape(chr(code))
        if code < 0x4000:
            self[code] = text
        return text


_ESCAPES = _Escapes()


def _escape(char: str) -> str:
    if named := _NAMED.get(char):
        return named
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_DIGITS = re.compile(r"[0-9]+")
_SIGNED = re.compile(r"[+-]?[0-9]+")
_INT64 = range(-(1 << 63), 1 << 63)
_UINT64 = range(1 << 64)
_PLAIN = range(-4, 6)  # exponents for which 'g' with the shortest representation uses no exponent


class NumError(ValueError):
    """str() is the text of Go's *strconv.NumError."""


def parse_int(text: str) -> int:
    """Return a signed 64-bit number; raise NumError if `text` is not one."""
    return _parse("ParseInt", text, _SIGNED, _INT64)


def parse_uint(text: str) -> int:
    """Return an unsigned 64-bit number written without a sign; raise NumError if `text` is not one."""
    return _parse("ParseUint", text, _DIGITS, _UINT64)


def _parse(function: str, text: str, form: re.Pattern[str], bounds: range) -> int:
    if not form.fullmatch(text):
        raise NumError(f"strconv.{function}: parsing {quote(text)}: invalid syntax")
    # Python refuses to parse thousands of digits at once; such a number is out of range anyway.
    number = int(text) if len(text) < 100 else int(text[:1] + text[1:].lstrip("0")[:99] or "0")
    if number not in bounds:
        raise NumError(f"strconv.{function}: parsing {quote(text)}: value out of range")
    return number


def general(value: float) -> str:
    """Return strconv.FormatFloat(value, 'g', -1, 64) of a finite float: the fewest digits possible."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int), value
    text, point = "".join(map(str, digits)), len(digits) + exponent
    minus = "-" if sign else ""
    if value and point - 1 not in _PLAIN:
        mantissa = text[0] + ("." + text[1:] if text[1:] else "")
        return f"{minus}{mantissa}e{point - 1:+03d}"
    return minus + format(Decimal((0, digits, exponent)), "f")


def json_number(value: float) -> str:
    """Return the text of a finite number as encoding/json writes a float64 (an int: its digits)."""
    if isinstance(value, int):
        return str(value)
    if value and not 1e-6 <= abs(value) < 1e21:
        return general(value).replace("e-0", "e-")
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


_TYPES = {
    bool: "bool", int: "int64", float: "float64", str: "string", dict: "map[string]interface {}",
    list: "[]interface {}",
}  # fmt: skip


def go_type(value: Any) -> str:
    """Return the Go type of a decoded JSON value: `map[string]interface {}`, `int64`, `<nil>` …"""
    return _TYPES.get(type(value), "<nil>")


def go_value(value: Any) -> str:
    """Format a value as %v does: `map[a:1 b:[x y]]`, keys sorted, strings without quotes."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_value(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_value, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, float) or (isinstance(value, int) and not -(1 << 63) <= value < 1 << 63):
        return general(float(value))  # what JSON cannot decode as int64
    return str(value).lower() if isinstance(value, bool) else str(value)


def go_syntax(value: Any) -> str:
    """Format decoded JSON as %#v does: `map[string]interface {}{"a":1}`."""
    if isinstance(value, dict):
        inner = ", ".join(f"{quote(key)}:{go_syntax(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(go_syntax, value))}}}"
    if value is None:
        return "interface {}(nil)"
    return quote(value) if isinstance(value, str) else go_value(value)


_SPECIAL = re.compile(rb"[<>&]|\xe2\x80[\xa8\xa9]")


def escaped(text: bytes) -> bytes:
    """Return JSON with the special characters escaped; they occur only inside strings.

    Most texts have none, which is seen in a few fast searches.
    """
    if b"<" in text or b">" in text or b"&" in text or b"\xe2\x80" in text:
        return _SPECIAL.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), text)
    return text


def to_json(value: Any, order: Literal["sorted"] | None = None) -> bytes:
    return escaped(msgspec.json.encode(value, order=order))


def clean(path: str) -> str:
    """Return the shortest path with the same meaning; "." for the empty path."""
    cleaned = posixpath.normpath(path)
    return cleaned[1:] if cleaned.startswith("//") else cleaned
