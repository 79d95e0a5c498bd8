"""Durations and times as Go reads and writes them, with its errors."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from functools import lru_cache

from ktui.kube.golang.formatting import quote

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
# Possessive: without, 60,000 digits before no unit would be divided in every way.
_NUMBER = r"([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)"
_PART = re.compile(rf"{_NUMBER}(ns|us|µs|μs|ms|s|m|h)")
_NUMBER_ONLY = re.compile(rf"{_NUMBER}$")


def parse_duration(text: str) -> float:
    """Return the duration in seconds; raise ValueError with Go's message."""
    sign, rest = (-1.0 if text[:1] == "-" else 1.0), text.lstrip("+-") if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0.0
    total, at = 0.0, 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            break
        total += float(part[1]) * _SECONDS[part[2]]
        at = part.end()
    if at == 0 or at < len(rest):
        what = "missing unit in duration" if _NUMBER_ONLY.match(rest, at) else "invalid duration"
        raise ValueError(f"time: {what} {quote(text)}")
    return sign * total


def format_duration(seconds: float) -> str:
    """Format a duration as Duration.String does, to the nanosecond: `1h2m3.5s`, `1.926865ms`, `929.214µs`,
    `0s`.
    """
    ns = round(abs(seconds) * 1e9)
    sign = "-" if seconds < 0 and ns else ""
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if ns < size * 1000:
            return f"{sign}{_decimal(ns, size)}{unit}" if ns else "0s"
    hours, rest = divmod(ns, 3_600_000_000_000)
    minutes, rest = divmod(rest, 60_000_000_000)
    above = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{above}{_decimal(rest, 1_000_000_000)}s"


def _decimal(number: int, size: int) -> str:
    """Format `number` / `size` without trailing zeros; `size` is a power of ten."""
    whole, part = divmod(number, size)
    digits = str(part).rjust(len(str(size)) - 1, "0").rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)


RFC3339 = "2006-01-02T15:04:05Z07:00"
RFC3339_MICRO = "2006-01-02T15:04:05.000000Z07:00"  # Kubernetes' form with microseconds
_ELEMENT = re.compile(r"2006|01|02|15|04|05|\.0+|Z07:00|.")
_TAKES = {
    "2006": r"\d{4}", "01": r"\d\d", "02": r"\d\d", "15": r"\d\d?", "04": r"\d\d", "05": r"\d\d",
    ".000000": r"[.,]\d{6}", "Z07:00": r"Z|[+-]\d\d:\d\d",
}  # fmt: skip
_MAX_CACHED_LENGTH = 64
_FRACTION = re.compile(r"[.,]\d+", re.ASCII)  # allowed after the seconds in every layout
_RANGES = {"01": ("month", 1, 12), "15": ("hour", 0, 23), "04": ("minute", 0, 59), "05": ("second", 0, 59)}


def time_fault(text: str, layout: str = RFC3339) -> str:
    """Return "" for a time, else time.Parse's error: `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot
    parse "x" as "2006"`.
    """
    if len(text) > _MAX_CACHED_LENGTH:
        return next(_faults(text, layout), "")
    return _cached_fault(text, layout)


@lru_cache(maxsize=4096)  # most times in one object are the same
def _cached_fault(text: str, layout: str) -> str:
    return next(_faults(text, layout), "")


def _faults(text: str, layout: str) -> Iterator[str]:
    """Yield the errors of a text (Go: time/format.go).

    The layout's elements are consumed one by one; the error names the first that does not match, and the rest
    of the text.
    """
    rest, taken = text, dict[str, str]()
    whole = quote(text)
    for element in _ELEMENT.findall(layout):
        match = re.match(_TAKES.get(element, re.escape(element)), rest, re.ASCII)
        if match is None:
            yield f"parsing time {whole} as {quote(layout)}: cannot parse {quote(rest)} as {quote(element)}"
            return
        taken[element], rest = match[0], rest[match.end() :]
        if element == "05" and ".0" not in layout and (fraction := _FRACTION.match(rest)):
            rest = rest[fraction.end() :]
        if out := _out_of_range(element, match[0]):
            yield f"parsing time {whole}: {out} out of range"
    if rest:
        yield f"parsing time {whole}: extra text: {quote(rest)}"
    year, month, day = (int(taken[element]) for element in ("2006", "01", "02"))
    if not 1 <= day <= monthrange(year or 2000, month)[1]:  # Go's year 0 is a leap year, as 2000 is
        yield f"parsing time {whole}: day out of range"


def _out_of_range(element: str, taken: str) -> str:
    if element == "Z07:00" and taken != "Z":
        hours, minutes = int(taken[1:3]), int(taken[4:])
        return "time zone offset hour" if hours > 24 else "time zone offset minute" if minutes > 60 else ""
    name, least, most = _RANGES.get(element, ("", 0, 0))
    return name if name and not least <= int(taken) <= most else ""
