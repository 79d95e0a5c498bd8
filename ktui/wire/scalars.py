"""Convert between JSON and the encoded payload of protobuf fields, by kind.

Messages that print as one JSON value (times, quantities, int-or-string, raw JSON) have a function from the
encoded message to its JSON text. WRITERS has the functions in the other direction: None is the kind's zero,
and CodecError has the JSON path and the expected type.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from calendar import timegm
from collections.abc import Callable
from functools import partial
from typing import Any

from ktui.kube.golang.formatting import json_number
from ktui.kube.quantity import canonical_quantity, canonical_resource
from ktui.kube.text_cache import cached_by_text
from ktui.wire import jsontext
from ktui.wire.jsontext import embed, quote
from ktui.wire.pb import CodecError, put_bytes, put_number, signed32, signed64, walk

NULL = b"null"
ZERO_TIME_SECONDS = -62135596800
"""0001-01-01T00:00:00Z, the zero of Go's time.Time."""

_DAY = 86400


def time(data: bytes) -> bytes:
    """metav1.Time: RFC 3339 in UTC, whole seconds."""
    found = _seconds_and_nanos(data)
    return f'"{_civil(found[0])}Z"'.encode() if found else NULL


def microtime(data: bytes) -> bytes:
    """metav1.MicroTime: RFC 3339 in UTC, always six digits, truncated."""
    found = _seconds_and_nanos(data)
    return f'"{_civil(found[0])}.{found[1] // 1000:06d}Z"'.encode() if found else NULL


def _seconds_and_nanos(data: bytes) -> tuple[int, int] | None:
    """Return Unix seconds, and 0 to 999,999,999 nanoseconds; None for Go's zero time."""
    if not data:
        return None
    seconds = nanos = 0
    for number, _, value in walk(data):
        if number == 1 and isinstance(value, int):
            seconds = signed64(value)
        elif number == 2 and isinstance(value, int):
            nanos = signed32(value)
    carry, nanos = divmod(nanos, 1_000_000_000)
    seconds += carry
    return None if seconds == ZERO_TIME_SECONDS and not nanos else (seconds, nanos)


def _civil(seconds: int) -> str:
    """Format any int64 of Unix seconds as date and time; datetime only supports the years 1 to 9999."""
    days, rest = divmod(seconds, _DAY)
    days += 719468
    era, day_of_era = divmod(days, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    sign = "-" if year < 0 else ""
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T{clock}"


def quantity(data: bytes) -> bytes:
    """resource.Quantity: stored in canonical form, printed unchanged."""
    return quote(last_bytes(data, 1) or b"0")


def intstr(data: bytes) -> bytes:
    """intstr.IntOrString: {1 type, 2 number, 3 string}."""
    kind = number = 0
    text = b""
    for field, _, value in walk(data):
        if isinstance(value, int):
            kind, number = (value, number) if field == 1 else (kind, value) if field == 2 else (kind, number)
        elif field == 3:
            text = value
    if kind == 0:
        return b"%d" % signed32(number)
    if kind == 1:
        return quote(text)
    raise CodecError(f"an IntOrString is of type {kind}: neither int (0) nor string (1)")


def raw(data: bytes) -> bytes:
    """Return the JSON in a RawExtension, JSON or FieldsV1."""
    inner = last_bytes(data, 1)
    return embed(inner) if inner else NULL


def last_bytes(data: bytes, number: int) -> bytes:
    """Return the last value of a length-delimited field by number, b"" if absent."""
    found = b""
    for field, _, value in walk(data):
        if field == number and isinstance(value, bytes):
            found = value
    return found


Writer = Callable[[Any, str], bytes]


_TYPES = {type(None): "null", bool: "a boolean", str: "a string", list: "an array"}


def describe(value: Any) -> str:
    """Return the JSON type of a value."""
    return _TYPES.get(type(value)) or (
        f"the number {value}" if isinstance(value, int | float) else "an object"
    )


def _string(value: Any, path: str) -> bytes:
    if value is None:
        return b""
    if not isinstance(value, str):
        raise CodecError(f"{path}: expected a string, got {describe(value)}")
    return value.encode("utf-8", "replace")


def _bytes(value: Any, path: str) -> bytes:
    if value is None:
        return b""
    if isinstance(value, str):
        try:
            return base64.b64decode("".join(value.split()), validate=True)
        except (binascii.Error, ValueError):
            raise CodecError(f"{path}: expected base64, got other text") from None
    if isinstance(value, list):  # of numbers, which Go's decoder takes as well
        return _octets(value, path)
    raise CodecError(f"{path}: expected a base64 string, got {describe(value)}")


def _octets(value: list[Any], path: str) -> bytes:
    try:
        return bytes(0 if item is None else item for item in value)
    except (TypeError, ValueError):
        raise CodecError(f"{path}: expected numbers from 0 to 255") from None


def _double(value: Any, path: str) -> bytes:
    if value is None:
        value = 0.0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CodecError(f"{path}: expected a number, got {describe(value)}")
    return struct.pack("<d", value)


_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)


def _timestamp(value: Any, path: str) -> tuple[int, int]:
    """Convert an RFC 3339 time to (Unix seconds, nanoseconds)."""
    try:
        return _parsed_time(value)
    except (TypeError, ValueError) as error:
        wanted = str(error) if isinstance(value, str) else f"{_A_TIME}, got {describe(value)}"
        raise CodecError(f"{path}: expected {wanted}") from None


_A_TIME = "a time such as 2006-01-02T15:04:05Z"


@cached_by_text(maxsize=4096, longest=64)
def _parsed_time(text: str) -> tuple[int, int]:
    """Parse a time, cached, as most times of an object are equal; ValueError has the expected form."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError(f"{_A_TIME}, got a string")
    parts = [int(part) for part in match.groups()[:6]]
    year, month, day, hour, minute, second = parts
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 60 and year):
        raise ValueError("a time, got one that no calendar has")
    seconds = timegm((year, month, day, hour, minute, second))
    if match[8]:
        offset = int(match[9]) * 3600 + int(match[10]) * 60
        seconds -= offset if match[8] == "+" else -offset
    return seconds, int((match[7] or "").ljust(9, "0")[:9])


def _time(value: Any, path: str, micro: bool = False) -> bytes:
    """`micro`: with microseconds."""
    seconds, nanos = (ZERO_TIME_SECONDS, 0) if value is None else _timestamp(value, path)
    if seconds == ZERO_TIME_SECONDS and not (micro and nanos):
        return b""
    return put_number(1, seconds) + put_number(2, nanos // 1000 * 1000 if micro else 0)


def _quantity(value: Any, path: str, canonical: Callable[[str], str | None] = canonical_quantity) -> bytes:
    if value is None:
        return put_bytes(1, b"0")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CodecError(f"{path}: expected a quantity, got {describe(value)}")
    text = canonical(value.strip() if isinstance(value, str) else json_number(value))
    if text is None:
        raise CodecError(f"{path}: expected a quantity such as 100m or 1Gi, got {describe(value)}")
    return put_bytes(1, text.encode())


def resource_quantity(value: Any, path: str) -> bytes:
    """Write a quantity of a ResourceList."""
    return _quantity(value, path, canonical_resource)


def _intstr(value: Any, path: str) -> bytes:
    if isinstance(value, str):
        return put_number(1, 1) + put_number(2, 0) + put_bytes(3, value.encode("utf-8", "replace"))
    number = 0 if value is None else value
    if isinstance(number, bool) or not isinstance(number, int) or not -(1 << 31) <= number < 1 << 31:
        raise CodecError(f"{path}: expected a number that fits int32 or a string, got {describe(value)}")
    return put_number(1, 0) + put_number(2, number) + put_bytes(3, b"")


def _raw(value: Any, _path: str) -> bytes:
    return b"" if value is None else put_bytes(1, jsontext.text(value).rstrip(b"\n"))


WRITERS: dict[str, Writer] = {
    "string": _string, "bytes": _bytes, "double": _double, "time": _time,
    "microtime": partial(_time, micro=True), "quantity": _quantity, "intstr": _intstr,
    "raw": _raw, "rawjson": _raw, "fieldsv1": _raw,
}  # fmt: skip
