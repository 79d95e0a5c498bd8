"""strconv: ParseInt and ParseUint, base 10 and 64 bits, with their error texts; FormatFloat."""

from __future__ import annotations

import re
from decimal import Decimal

from ktui.kube.golang.quoting import quote

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
