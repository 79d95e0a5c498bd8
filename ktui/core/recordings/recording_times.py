"""Times and speeds of a recording as users write them."""

from __future__ import annotations

import math
import re
import time
from datetime import datetime

from ktui.contract.recording import RecordingError

_OFFSET = re.compile(r"([+-]?)(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d+)?)s?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2}):(\d{2})", re.ASCII)
FASTEST = math.inf  # a pace: as fast as possible
FORMS = "90, 1:30 or 1:02:30 from the start, -30 from the end, @14:05:30, or 2026-09-21T14:05:30Z"


def spot(text: str, began: float, ended: float) -> float:
    """Return the time within a recording that `text` names (Unix seconds).

    `90`, `1:30`, `1:02:30` count from its beginning, with `-` from its end; `@14:05:30` is
    the first such local time after the beginning; otherwise an RFC 3339 time.
    Raises RecordingError for any other text, or a time outside the recording.
    """
    at = _named(text.strip(), began, ended)
    if at is None:
        raise RecordingError(f"{text!r} is not a time of a recording: write {FORMS}")
    if not began - 1 <= at <= ended + 1:
        raise RecordingError(f"{text} lies outside the recording, which is {ended - began:,.0f} s long")
    return min(max(at, began), ended)


def _named(text: str, began: float, ended: float) -> float | None:
    if match := _OFFSET.fullmatch(text):
        sign, hours, minutes, seconds = match.groups()
        offset = int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds)
        return ended - offset if sign == "-" else began + offset
    if text.startswith("@") and (match := _CLOCK.fullmatch(text[1:])):
        return _next_clock(tuple(int(part) for part in match.groups()), began)
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None


def _next_clock(clock: tuple[int, ...], began: float) -> float | None:
    hours, minutes, seconds = clock
    day = time.localtime(began)
    for later in (0, 1):
        date = (day.tm_year, day.tm_mon, day.tm_mday + later, hours, minutes, seconds, 0, 0, -1)
        if (at := time.mktime(date)) >= int(began):
            return at
    return None


def pace(text: str) -> float:
    """Parse a speed factor: `4`, `x4`, `0.25`, `max` (FASTEST). Raises RecordingError."""
    word = text.strip().lower().removeprefix("×").removeprefix("x")
    if word in ("max", "inf"):
        return FASTEST
    try:
        factor = float(word)
    except ValueError:
        factor = 0.0
    if not 0 < factor < FASTEST:
        raise RecordingError(f"{text!r} is not a replay speed: write a factor above 0, or max")
    return factor
