"""strconv.ParseInt and ParseUint, base 10 and 64 bits, with their error texts."""

from __future__ import annotations

import re

from ktui.kube.golang.quoting import quote

_DIGITS = re.compile(r"[0-9]+")
_SIGNED = re.compile(r"[+-]?[0-9]+")
_INT64 = range(-(1 << 63), 1 << 63)
_UINT64 = range(1 << 64)


class NumError(ValueError):
    """str() is the text of Go's *strconv.NumError."""


def parse_int(text: str) -> int:
    """A signed 64-bit number; NumError otherwise."""
    return _parse("ParseInt", text, _SIGNED, _INT64)


def parse_uint(text: str) -> int:
    """An unsigned 64-bit number without a sign; NumError otherwise."""
    return _parse("ParseUint", text, _DIGITS, _UINT64)


def _parse(function: str, text: str, form: re.Pattern[str], bounds: range) -> int:
    if not form.fullmatch(text):
        raise NumError(f"strconv.{function}: parsing {quote(text)}: invalid syntax")
    # Python refuses to read thousands of digits at once; a longer number is out of range anyhow.
    number = int(text) if len(text) < 100 else int(text[:1] + text[1:].lstrip("0")[:99] or "0")
    if number not in bounds:
        raise NumError(f"strconv.{function}: parsing {quote(text)}: value out of range")
    return number
