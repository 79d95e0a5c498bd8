"""Messages that print as one JSON value: times, quantities, int-or-string, raw JSON.

Each function takes the encoded message and returns its JSON text.
"""

from ktui.wire.errors import CodecError
from ktui.wire.jsontext import embed, quote
from ktui.wire.pb import signed32, signed64, walk

NULL = b"null"
ZERO_TIME_SECONDS = -62135596800
"""0001-01-01T00:00:00Z, the zero of Go's time.Time."""

_DAY = 86400


def time(data: bytes) -> bytes:
    """metav1.Time: RFC 3339 in UTC, whole seconds."""
    if not data:
        return NULL
    seconds, nanos = _timestamp(data)
    if seconds == ZERO_TIME_SECONDS and not nanos:
        return NULL
    return f'"{_civil(seconds)}Z"'.encode()


def microtime(data: bytes) -> bytes:
    """metav1.MicroTime: RFC 3339 in UTC, always six digits, truncated."""
    if not data:
        return NULL
    seconds, nanos = _timestamp(data)
    if seconds == ZERO_TIME_SECONDS and not nanos:
        return NULL
    return f'"{_civil(seconds)}.{nanos // 1000:06d}Z"'.encode()


def _timestamp(data: bytes) -> tuple[int, int]:
    """Return Unix seconds, and 0 to 999,999,999 nanoseconds."""
    seconds = nanos = 0
    for number, _, value in walk(data):
        if number == 1 and isinstance(value, int):
            seconds = signed64(value)
        elif number == 2 and isinstance(value, int):
            nanos = signed32(value)
    carry, nanos = divmod(nanos, 1_000_000_000)
    return seconds + carry, nanos


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
