"""Convert YAML scalars by the rules of go-yaml v2: YAML 1.1 with exceptions."""

from __future__ import annotations

import base64
import binascii
import math
import re

from ktui.documents.limits import DocumentError
from ktui.kube.golang.formatting import quote

Scalar = str | int | float | bool | None

_PREFIX = "tag:yaml.org,2002:"
STR, INT, FLOAT, BOOL, NULL, TIMESTAMP, BINARY, MERGE = (
    _PREFIX + name for name in ("str", "int", "float", "bool", "null", "timestamp", "binary", "merge")
)
_RESOLVABLE = frozenset((STR, INT, FLOAT, BOOL, NULL, TIMESTAMP))

_TRUE = ("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
_FALSE = ("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
_WORDS: dict[str, tuple[str, Scalar]] = {
    **dict.fromkeys(_TRUE, (BOOL, True)),
    **dict.fromkeys(_FALSE, (BOOL, False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), (NULL, None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), (FLOAT, math.nan)),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), (FLOAT, math.inf)),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), (FLOAT, -math.inf)),
    "<<": (MERGE, "<<"),
}
_FIRST = frozenset("+-.0123456789")
_INT_FORM = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_BASES = (16, 2, 8, 10)
_FLOAT_FORM = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-")
_LONGEST_NUMBER = 2000  # Python refuses to read integers of more than 4,300 digits


def plain_scalar(text: str) -> Scalar:
    """Return the value of a scalar without quotes and tag."""
    if (word := _WORDS.get(text)) is not None:
        return word[1]
    if text[0] in _FIRST:
        return _number(text)
    return text


def tagged_scalar(tag: str, text: str) -> Scalar:
    """Return the value of a scalar with a tag. Raises DocumentError if they do not match."""
    if tag == BINARY:
        return _binary(text)
    if tag not in _RESOLVABLE or tag == STR:
        return text
    found, value = _resolved(text)
    if tag == FLOAT and found == INT and isinstance(value, int):
        return float(value)
    if tag == TIMESTAMP and found == STR and _DATE.match(text):
        return text
    if found != tag:
        raise DocumentError(f"yaml: cannot decode {_short(found)} `{text}` as a {_short(tag)}")
    return value


def key_text(key: Scalar) -> str:
    """Return a scalar as the name of an object's member."""
    if isinstance(key, bool):
        return "true" if key else "false"
    if not isinstance(key, float):
        return str(key)
    if math.isnan(key):
        return ".nan"
    if math.isinf(key):
        return ".inf" if key > 0 else "-.inf"
    return str(int(key)) if key.is_integer() and abs(key) < 1e21 else repr(key)


def json_number(value: float) -> int | float:
    """Return a float as JSON would, where 2.0 is 2. Raises DocumentError for NaN and infinities."""
    if not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
        raise DocumentError(f"json: unsupported value: {name}")
    return int(value) if value.is_integer() and abs(value) < 1 << 63 else value


def _resolved(text: str) -> tuple[str, Scalar]:
    if (word := _WORDS.get(text)) is not None:
        return word
    value = _number(text) if text[0] in _FIRST else text
    return {int: INT, float: FLOAT}.get(type(value), STR), value


def _number(text: str) -> int | float | str:
    """Return the number in `text`, or `text` if it is none."""
    if text[0] == ".":
        return _float(text, text)
    digits = text.replace("_", "") if "_" in text else text
    if len(digits) <= _LONGEST_NUMBER and (form := _INT_FORM.fullmatch(digits)):
        sign, *by_base = form.groups()
        value = next(int(part, base) for part, base in zip(by_base, _BASES, strict=True) if part)
        if -(1 << 63) <= (signed := -value if sign == "-" else value) < 1 << 63:
            return signed
        if not sign and value < 1 << 64:
            return value
    return _float(digits, text)


def _float(digits: str, text: str) -> float | str:
    """Return the number in `digits`; `text` if it is none, or exceeds a float64."""
    if _FLOAT_FORM.fullmatch(digits):
        value = float(digits)
        return text if math.isinf(value) else value
    return text


def _binary(text: str) -> str:
    try:
        data = base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise DocumentError("yaml: !!binary value contains invalid base64 data") from None
    return data.decode("utf-8", "replace")


def _short(tag: str) -> str:
    return "!!" + tag.removeprefix(_PREFIX) if tag.startswith(_PREFIX) else tag


def shown_key(key: Scalar) -> str:
    """Return a key in Go's %#v format."""
    if isinstance(key, str):
        return quote(key)
    if isinstance(key, float) and not math.isfinite(key):
        return "NaN" if math.isnan(key) else "+Inf" if key > 0 else "-Inf"
    return key_text(key)
