"""Durations, times and sizes on the command line, as kubectl writes them."""

from __future__ import annotations

import argparse
import re
from datetime import UTC, datetime, timedelta

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|m|h)?")
LONGEST = 24 * 3600.0


def seconds(text: str) -> float:
    """Parse `30s`, `5m`, `1h`, or a number of seconds. Raises ArgumentTypeError."""
    found = _DURATION.fullmatch(text.strip())
    value = float(found[1]) * _UNITS[found[2] or "s"] if found else 0.0
    if not 0 < value <= LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of at most a day: write it like 30s or 5m")
    return value


_LONG = re.compile(r"([0-9]{1,6})(s|m|h|d)")
LONGEST_DAYS = 366


def long_seconds(text: str) -> float:
    """Parse `90m`, `48h`, `7d`: up to a year. Raises ArgumentTypeError."""
    found = _LONG.fullmatch(text.strip())
    value = float(int(found[1]) * _SECONDS[found[2]]) if found else 0.0
    if not 0 < value <= LONGEST_DAYS * _SECONDS["d"]:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of at most a year: write it like 48h or 7d")
    return value


_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([KMGT])(i?)B?", re.IGNORECASE)


def size(text: str) -> int:
    """Parse `500MB`, `2GB`, `2Gi`: bytes, by 1000 or with an i by 1024. Raises ArgumentTypeError."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write it like 500MB or 2GB")
    unit = 1024 if found[3] else 1000
    return round(float(found[1]) * float(unit) ** ("KMGT".index(found[2].upper()) + 1))


_AGO = re.compile(r"([0-9]{1,6})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def moment(text: str) -> int:
    """Parse `2026-11-23T10:00:00Z`, `2026-11-23`, or `90m` (before now): microseconds since 1970, UTC without
    a zone. Raises ArgumentTypeError."""
    if found := _AGO.fullmatch(text.strip()):
        at = datetime.now(UTC) - timedelta(seconds=int(found[1]) * _SECONDS[found[2]])
    else:
        try:
            at = datetime.fromisoformat(text.strip())
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a time: write it like 2026-11-23T10:00:00Z, or 2h for two hours ago"
            ) from None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return round(at.timestamp() * 1e6)
