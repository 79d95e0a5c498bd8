"""The formats of texts that the schema of a custom resource can demand (upstream: validation/strfmt)."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import re
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

_HOST = re.compile(
    r"(?:[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)(?:\.(?:[a-zA-Z0-9][-a-zA-Z0-9]{0,62}))*\.?"
)
_UUID = re.compile("[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}")
_MAC = re.compile("[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\\1){4}[0-9a-fA-F]{2}")
_TIME = re.compile(
    r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)", re.IGNORECASE
)
_DURATION = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS = (
    "nanoseconds?|microseconds?|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|"
    "ns|us|µs|ms|s|secs?|m|mins?|h|hrs?|d|w|wks?"
)
_WORDS = re.compile(rf"\s*\d+\s*({_UNITS})", re.IGNORECASE)
_MAIL = re.compile(r"[^\s<>@,;:\"()\[\]\\.](?:[^\s<>@,;:\"()\[\]\\]*)@[A-Za-z0-9][-A-Za-z0-9.]*")
_LONGEST = 100_000  # characters of a text that is checked; a body holds 3 MB


def _address(text: str, version: int) -> bool:
    try:
        return ipaddress.ip_address(text).version == version and "%" not in text
    except ValueError:
        return False


def _reads(read: Callable[[str], object]) -> Callable[[str], bool]:
    """Return a test whether a function reads a text without a ValueError."""

    def test(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return test


_is_range = _reads(partial(ipaddress.ip_network, strict=False))
_is_date = _reads(datetime.date.fromisoformat)
_is_url = _reads(urlsplit)


def _moment(text: str) -> bool:
    day, separator, time = text[:10], text[10:11], text[11:]
    return len(day) == 10 and _is_date(day) and separator in ("T", "t") and bool(_TIME.fullmatch(time))


def _mail(text: str) -> bool:
    """Whether it is `a@b.c`, or `Name <a@b.c>`."""
    named, bracket, rest = text.rpartition("<")
    address = rest.removesuffix(">") if bracket else text
    return "<" not in named and _MAIL.fullmatch(address) is not None


def _duration(text: str) -> bool:
    short = text.lstrip("+-")
    return (
        text == "0" or bool(re.fullmatch(f"(?:{_DURATION.pattern})+", short)) or bool(_WORDS.fullmatch(text))
    )


FORMATS: dict[str, Callable[[str], bool]] = {
    "ipv4": partial(_address, version=4),
    "ipv6": partial(_address, version=6),
    "cidr": lambda text: "/" in text and _is_range(text),
    "mac": lambda text: _MAC.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "hostname": lambda text: len(text) <= 255 and _HOST.fullmatch(text) is not None,
    "email": _mail,
    "uri": lambda text: _is_url(text) and (text.startswith("/") or bool(urlsplit(text).scheme)),
    "date": lambda text: len(text) == len("2026-01-01") and _is_date(text),
    "date-time": _moment,
    "datetime": _moment,
    "duration": _duration,
    "byte": _reads(partial(base64.b64decode, validate=True)),
}


def has_format(text: str, name: str) -> bool:
    """Whether a text has the format; True for formats that are not known here."""
    check = FORMATS.get(name)
    return check is None or len(text) > _LONGEST or check(text)
