"""resource.Quantity: its canonical form, in which it is stored, and its value.

Rules of apimachinery/pkg/api/resource: no fractional digits, the largest suffix that keeps the number whole,
the same family of suffixes (binary, decimal, exponent); binary values below 1024 become decimal. Values finer
than a nano are rounded away from zero.
"""

import json
import re
from decimal import ROUND_UP, Decimal, InvalidOperation, localcontext
from typing import Any

from ktui.kube.text_cache import cached_by_text

_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {power: suffix for suffix, power in _BINARY.items()}
# No two parts of them can match the same digits: a mistake is found in one pass, however long the text.
_FORM = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d{1,9})?", re.ASCII)
_WITH_A_SUFFIX = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eEinumkKMGTP]+(?:[+-]?\d*)", re.ASCII)
_NO_SUFFIX = "unable to parse quantity's suffix"
_NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NANO = Decimal("1e-9")
_DIGITS = 120  # decimal precision
_OVERFLOW = 1 << 64


@cached_by_text(maxsize=4096, longest=64)
def canonical_quantity(text: str) -> str | None:
    """Return the canonical form: "0.5" → "500m", "1024Mi" → "1Gi", "1e3" → "1e3"; None if there is none."""
    parsed = _parsed(text)
    return None if parsed is None else _canonical(*parsed)


def amount(quantity: str | None) -> Decimal:
    """Return the value; 0 for "" and for any text that is not a quantity."""
    parsed = _parsed(quantity or "0")
    return parsed[0] if parsed is not None else Decimal(0)


def is_whole(quantity: str) -> bool:
    """Whether a value has no fraction, as upstream sees it: in thousandths, rounded away from zero.

    They have 64 bits: those of long rows of digits overflow, and those of large suffixes count as 0.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        thousandths = int((amount(quantity) * 1000).to_integral_value(ROUND_UP))
    if quantity.isdecimal():
        half = _OVERFLOW // 2
        thousandths = (thousandths + half) % _OVERFLOW - half
    return thousandths % 1000 == 0


def added(one: str, other: str) -> str:
    """Return the sum of two quantities in the form of the first, or of the second if the first is 0."""
    first, second = _parsed(one), _parsed(other)
    if first is None or second is None:
        return other if first is None else one
    return _canonical(first[0] + second[0], (first if first[0] else second)[1])


def quantity_fault(value: Any) -> str:
    """Return upstream's ParseQuantity message for a JSON value that is not a quantity, "" for one that is.

    Unquoted JSON is read as text: `true` is parsed like the string "true".
    """
    text = value.strip() if isinstance(value, str) else json.dumps(value)
    if canonical_quantity(text) is not None:
        return ""
    return _NO_SUFFIX if _WITH_A_SUFFIX.fullmatch(text) else _NO_QUANTITY


def _canonical(value: Decimal, suffix: str) -> str:
    """Format the value with the suffixes of the family that `suffix` belongs to."""
    if not value:
        return "0"
    with localcontext() as context:
        context.prec = _DIGITS
        if suffix in _BINARY and abs(value) >= 1024 and value == value.to_integral_value():
            return _binary(int(value))
        return _decimal(value, exponent_form=_is_exponent(suffix))


def _parsed(text: str) -> tuple[Decimal, str] | None:
    """Return value and suffix; None if `text` is not a quantity."""
    match = _FORM.fullmatch(text)
    if match is None or len(text) > 64:
        return None
    suffix, factor, exponent = match[2] or "", 1, 0
    if suffix in _BINARY:
        factor = 1024 ** _BINARY[suffix]
    else:
        exponent = int(suffix[1:]) if _is_exponent(suffix) else _DECIMAL[suffix]
    if abs(exponent) > 60:
        return None
    with localcontext() as context:
        context.prec = _DIGITS
        try:
            value = (Decimal(match[1]) * factor).scaleb(exponent)
            return value.quantize(_NANO, rounding=ROUND_UP), suffix
        except InvalidOperation:
            return None


def _is_exponent(suffix: str) -> bool:
    return suffix not in _DECIMAL and suffix not in _BINARY


def _binary(value: int) -> str:
    power = 0
    while power < 6 and value % 1024 == 0:
        value //= 1024
        power += 1
    return f"{value}{_BINARY_SUFFIX.get(power, '')}"


def _decimal(value: Decimal, exponent_form: bool) -> str:
    sign, digits, power = value.normalize().as_tuple()
    assert isinstance(power, int)
    shift = power % 3
    mantissa = "".join(map(str, digits)) + "0" * shift
    power -= shift
    if not exponent_form and power > 18:
        mantissa += "0" * (power - 18)
        power = 18
    suffix = (f"e{power}" if power else "") if exponent_form else _DECIMAL_SUFFIX[power]
    return f"{'-' if sign else ''}{mantissa}{suffix}"
