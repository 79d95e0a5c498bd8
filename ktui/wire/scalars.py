"""Convert JSON values to the encoded payload of protobuf fields, by kind. None is the kind's zero.

CodecError has the JSON path and the expected type.
"""

import base64
import binascii
import re
import struct
from calendar import timegm
from collections.abc import Callable
from typing import Any

from ktui.kube.quantity import canonical_quantity
from ktui.kube.text_cache import cached_by_text
from ktui.wire import jsonwriter
from ktui.wire.errors import CodecError
from ktui.wire.pb import put_bytes, put_number
from ktui.wire.wellknown import ZERO_TIME_SECONDS

Writer = Callable[[Any, str], bytes]


def describe(value: Any) -> str:
    """Return the JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return f"the number {value}"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


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
    raise CodecError(f"{path}: expected a base64 string, got {describe(value)}")


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


def _time(value: Any, path: str) -> bytes:
    if value is None:
        return b""
    seconds, _ = _timestamp(value, path)
    return b"" if seconds == ZERO_TIME_SECONDS else put_number(1, seconds) + put_number(2, 0)


def _microtime(value: Any, path: str) -> bytes:
    if value is None:
        return b""
    seconds, nanos = _timestamp(value, path)
    if seconds == ZERO_TIME_SECONDS and not nanos:
        return b""
    return put_number(1, seconds) + put_number(2, nanos // 1000 * 1000)


def _quantity(value: Any, path: str) -> bytes:
    if value is None:
        return put_bytes(1, b"0")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise CodecError(f"{path}: expected a quantity, got {describe(value)}")
    text = canonical_quantity(str(value).strip())
    if text is None:
        raise CodecError(f"{path}: expected a quantity such as 100m or 1Gi, got {describe(value)}")
    return put_bytes(1, text.encode())


def _intstr(value: Any, path: str) -> bytes:
    if isinstance(value, str):
        return put_number(1, 1) + put_number(2, 0) + put_bytes(3, value.encode("utf-8", "replace"))
    number = 0 if value is None else value
    if isinstance(number, bool) or not isinstance(number, int) or not -(1 << 31) <= number < 1 << 31:
        raise CodecError(f"{path}: expected a number that fits int32 or a string, got {describe(value)}")
    return put_number(1, 0) + put_number(2, number) + put_bytes(3, b"")


def _raw(value: Any, _path: str) -> bytes:
    return b"" if value is None else put_bytes(1, jsonwriter.text(value).rstrip(b"\n"))


WRITERS: dict[str, Writer] = {
    "string": _string,
    "bytes": _bytes,
    "double": _double,
    "time": _time,
    "microtime": _microtime,
    "quantity": _quantity,
    "intstr": _intstr,
    "raw": _raw,
    "rawjson": _raw,
    "fieldsv1": _raw,
}
