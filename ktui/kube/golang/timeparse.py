"""Go's time.Parse errors for a text that is not a time: RFC 3339, and Kubernetes' form with microseconds.

The layout's elements are consumed one by one; the error names the first that does not match, and the rest of
the text (Go: time/format.go).
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from functools import lru_cache

from ktui.kube.golang.quoting import quote

RFC3339 = "2006-01-02T15:04:05Z07:00"
RFC3339_MICRO = "2006-01-02T15:04:05.000000Z07:00"
_ELEMENT = re.compile(r"2006|01|02|15|04|05|\.0+|Z07:00|.")
_TAKES = {
    "2006": r"\d{4}",
    "01": r"\d\d",
    "02": r"\d\d",
    "15": r"\d\d?",
    "04": r"\d\d",
    "05": r"\d\d",
    ".000000": r"[.,]\d{6}",
    "Z07:00": r"Z|[+-]\d\d:\d\d",
}
_MAX_CACHED_LENGTH = 64
_FRACTION = re.compile(r"[.,]\d+", re.ASCII)  # allowed after the seconds in every layout
_RANGES = {"01": ("month", 1, 12), "15": ("hour", 0, 23), "04": ("minute", 0, 59), "05": ("second", 0, 59)}


def time_fault(text: str, layout: str = RFC3339) -> str:
    """Return "" for a time, else Go's error: `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse
    "x" as "2006"`.
    """
    if len(text) > _MAX_CACHED_LENGTH:
        return next(_faults(text, layout), "")
    return _cached_fault(text, layout)


@lru_cache(maxsize=4096)  # most times in one object are the same
def _cached_fault(text: str, layout: str) -> str:
    return next(_faults(text, layout), "")


def _faults(text: str, layout: str) -> Iterator[str]:
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
