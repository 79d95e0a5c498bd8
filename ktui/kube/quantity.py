"""resource.Quantity: its canonical form, in which it is stored, and its value.

Rules of apimachinery/pkg/api/resource, 1.36: no fractional digits, the largest suffix that keeps the
number whole, the same family of suffixes (binary, decimal, exponent); binary values below 1024 become
decimal. What is finer than a nano is rounded away from zero. A text that is found to be canonical without
calculation stays as it is written, which some are that have another form: `05`, `1.500`, `4e+3`.
"""

import json
import re
from decimal import ROUND_UP, Decimal, localcontext
from typing import Any, NamedTuple

from ktui.kube.golang.formatting import json_number
from ktui.kube.text_cache import cached_by_text

_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {bits: suffix for suffix, bits in _BINARY.items()}
# Possessive: a mistake is found in one pass, however long the text.
_FORM = re.compile(r"([+-]?+)0*+(\d*+)(?:\.(\d*+))?+([eEinumkKMGTP]*+[+-]?+\d*+)", re.ASCII)
_EXPONENT = re.compile(r"[eE]([+-]?\d{1,3})", re.ASCII)
_NO_SUFFIX = "unable to parse quantity's suffix"
_NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NANO, _MILLI = -9, -3
_DIGITS = 1200  # decimal precision, enough for exponents of three digits
_MOST_CHARACTERS = 64
_INT64 = range(-(1 << 63), 1 << 63)
_MOST_BINARY = Decimal(_INT64[-1])
_OVERFLOW = 1 << 64


class Quantity(NamedTuple):
    """A value with its family of suffixes: "Ki", "" or "e"; `literal` if the text counts as canonical.

    `scale` is the power of ten of its last digit as it was written.
    """

    value: Decimal
    family: str
    literal: str
    scale: int


@cached_by_text(maxsize=4096, longest=_MOST_CHARACTERS)
def canonical_quantity(text: str) -> str | None:
    """Return the canonical form: "0.5" → "500m", "1024Mi" → "1Gi", "1e3" → "1e3"; None if there is none."""
    parsed = _parsed(text)
    return None if isinstance(parsed, str) else parsed.literal or _canonical(parsed.value, parsed.family)


@cached_by_text(maxsize=4096, longest=_MOST_CHARACTERS)
def canonical_resource(text: str) -> str | None:
    """As `canonical_quantity` for a ResourceList, whose default is to round up to thousandths."""
    parsed = _parsed(text)
    if isinstance(parsed, str) or parsed.scale >= _MILLI:
        return canonical_quantity(text)
    return _canonical(_rounded(parsed.value, _MILLI), parsed.family)


def amount(quantity: str | None) -> Decimal:
    """Return the value; 0 for "" and for any text that is not a quantity."""
    parsed = _parsed(quantity or "0")
    return Decimal(0) if isinstance(parsed, str) else parsed.value


def is_whole(quantity: str) -> bool:
    """Whether a value has no fraction, as upstream sees it: in thousandths, rounded away from zero.

    They have 64 bits: those of long rows of digits overflow, and those of large suffixes count as 0.
    """
    with localcontext(prec=_DIGITS):
        thousandths = int((amount(quantity) * 1000).to_integral_value(ROUND_UP))
    if quantity.isdecimal():
        half = _OVERFLOW // 2
        thousandths = (thousandths + half) % _OVERFLOW - half
    return thousandths % 1000 == 0


def added(one: str, other: str) -> str:
    """Return the sum of two quantities in the form of the first, or of the second if the first is 0."""
    first, second = _parsed(one), _parsed(other)
    if isinstance(first, str) or isinstance(second, str):
        return other if isinstance(first, str) else one
    with localcontext(prec=_DIGITS):
        total = first.value + second.value
    return _canonical(total, (first if first.value else second).family)


def less(one: str, other: str) -> str:
    """Return the difference of two quantities, in the form that `added` gives their sum."""
    return added(one, other[1:] if other.startswith("-") else f"-{other.removeprefix('+')}")


def quantity_fault(value: Any) -> str:
    """Return upstream's ParseQuantity message for a JSON value that is not a quantity, "" for one that is.

    Unquoted JSON is read as text: `true` is parsed like the string "true".
    """
    plain = isinstance(value, float)
    text = value.strip() if isinstance(value, str) else json_number(value) if plain else json.dumps(value)
    parsed = _parsed(text)
    return parsed if isinstance(parsed, str) else ""


def _parsed(text: str) -> Quantity | str:
    """Return a quantity, or the message for a text that is none."""
    match = _FORM.fullmatch(text) if text and len(text) <= _MOST_CHARACTERS else None
    if match is None:
        return _NO_QUANTITY
    sign, digits, fraction, suffix = match[1], match[2] or "0", match[3] or "", match[4]
    read = _suffix(suffix)
    if read is None:
        return _NO_SUFFIX
    family, exponent = read
    if family == "Ki":
        return _binary_quantity(text, sign, digits, fraction, exponent)
    scale = exponent - len(fraction)
    value = Decimal(f"{sign}{digits}{fraction}e{scale}")
    quick = len(digits + fraction) <= 18 and scale >= _NANO
    unchanged = scale % 3 == 0 and not (digits + fraction).endswith("000") and digits[0] != "0"
    return Quantity(_rounded(value, _NANO), family, text if quick and unchanged else "", scale)


def _suffix(suffix: str) -> tuple[str, int] | None:
    """Return the family and the exponent of a suffix: of two for "Ki", else of ten."""
    if suffix in _BINARY:
        return "Ki", _BINARY[suffix]
    if suffix in _DECIMAL:
        return "", _DECIMAL[suffix]
    found = _EXPONENT.fullmatch(suffix)
    return ("e", int(found[1])) if found else None


def _binary_quantity(text: str, sign: str, digits: str, fraction: str, bits: int) -> Quantity:
    """Return a quantity with a binary suffix: not more than an int64, and a decimal one if below 1."""
    with localcontext(prec=_DIGITS):
        value = Decimal(f"{digits}{fraction}e-{len(fraction)}") * (1 << bits)
    quick = not fraction and 15 - len(digits) - bits * 3 // 10 - 1 >= 0
    literal = text if quick and int(digits) % 8 else ""
    value = min(_rounded(value, _NANO), _MOST_BINARY)
    family = "" if not quick and 0 < value < 1 else "Ki"
    return Quantity(-value if sign == "-" else value, family, literal, 0 if quick else -len(fraction))


def _rounded(value: Decimal, scale: int) -> Decimal:
    """Round away from zero what is finer than a power of ten."""
    if int(value.as_tuple().exponent) >= scale:
        return value
    with localcontext(prec=_DIGITS):
        return value.quantize(Decimal(1).scaleb(scale), rounding=ROUND_UP)


def _canonical(value: Decimal, family: str) -> str:
    """Format the value with the suffixes of its family."""
    if not value:
        return "0"
    with localcontext(prec=_DIGITS):
        if family == "Ki" and abs(value) >= 1024 and value == value.to_integral_value():
            return _binary(int(value))
        return _decimal(value.normalize(), exponent_form=family == "e")


def _binary(value: int) -> str:
    bits = 0
    while bits < 60 and value % 1024 == 0:
        value //= 1024
        bits += 10
    return f"{value}{_BINARY_SUFFIX.get(bits, '')}"


def _decimal(value: Decimal, exponent_form: bool) -> str:
    """A power without a suffix has none, as upstream, which then prints another number: 1e23 as 100."""
    sign, digits, power = value.as_tuple()
    assert isinstance(power, int)
    shift = power % 3
    mantissa = "".join(map(str, digits)) + "0" * shift
    power -= shift
    suffix = (f"e{power}" if power else "") if exponent_form else _DECIMAL_SUFFIX.get(power, "")
    return f"{'-' if sign else ''}{mantissa}{suffix}"
