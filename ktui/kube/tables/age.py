"""Ages as kubectl shows them: `9m4s`, `11m`, `2y323d`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 86400 * 365
# (upper bound of the age, seconds of its last shown unit)
_STEPS = ((10 * _MINUTE, 1), (8 * _HOUR, _MINUTE), (8 * _DAY, _HOUR))


def human_duration(seconds: float) -> str:
    """Format a duration in at most two units; `<invalid>` from -2 s down."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    if whole < 10 * _MINUTE:
        return _two(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 48 * _HOUR:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _two(seconds: int, unit: int, name: str, small: int, small_name: str) -> str:
    rest = seconds % unit // small
    return f"{seconds // unit}{name}{rest}{small_name}" if rest else f"{seconds // unit}{name}"


def steady_until(since: float, now: float) -> float:
    """Return the time (Unix seconds) until which `human_duration` of the age at `now` stays the same."""
    whole = int(now - since)
    step = next((step for below, step in _STEPS if whole < below), _DAY)
    return since + (whole // step + 1) * step if now >= since else now


def unix_time(timestamp: str) -> float:
    """Return Unix seconds of an RFC 3339 time; raise ValueError."""
    parsed = datetime.fromisoformat(timestamp)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


class Age(NamedTuple):
    """A cell with the time since `since` (Unix seconds) between the texts `before` and `after`."""

    since: float
    before: str = ""
    after: str = ""

    def text(self, now: float) -> str:
        return f"{self.before}{human_duration(now - self.since)}{self.after}"


def age(timestamp: object, before: str = "", after: str = "") -> Age | str:
    """The cell with the time since `timestamp` (RFC 3339, as in JSON); `<unknown>` without a timestamp."""
    if not isinstance(timestamp, str) or not timestamp:
        return f"{before}<unknown>{after}"
    try:
        return Age(unix_time(timestamp), before, after)
    except ValueError:
        return f"{before}<invalid>{after}"
