"""Go's text formats: durations, quoted strings, times of klog and zap."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from ktui.audit.formats.log_record import Malformed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EARLIEST, _LATEST = ((datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND for year in (1971, 9000))

_PART = re.compile(r"(\d+(?:\.\d*)?)(h|ms|m|s|µs|μs|us|ns)")
_MICROS = {
    "h": 3_600e6, "m": 60e6, "s": 1e6, "ms": 1e3,
    "us": 1.0, "µs": 1.0, "μs": 1.0, "ns": 1e-3,
}  # fmt: skip
# Nanoseconds: Go's longest duration, 292 years.
_LONGEST = 1 << 63


def duration(text: str) -> int:
    """Parse `1.926865ms`, `929.214µs`, `1h2m3.5s`, `0s` as microseconds. Raises Malformed."""
    total, end = 0.0, 0
    for part in _PART.finditer(text):
        if part.start() != end:
            break
        total += float(part[1]) * _MICROS[part[2]]
        end = part.end()
    if end != len(text) or not text or total * 1000 > _LONGEST:
        raise Malformed(f"no duration: {text[:40]!r}")
    return round(total)


def since_epoch(moment: datetime) -> int:
    """Return microseconds since 1970; a time without zone counts as UTC. Raises Malformed.

    Go's zero time (the year 1) and others before 1971 are malformed: one such time would falsify all rates.
    """
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    at = (moment - _EPOCH) // _MICROSECOND
    if not _EARLIEST <= at < _LATEST:
        raise Malformed(f"no time: the year {moment.year}")
    return at


def elapsed(begin: datetime, end: datetime) -> int:
    """Return microseconds from `begin` to `end`; 0 if the clock went back. Raises Malformed."""
    if begin.tzinfo is end.tzinfo and not (took := end - begin).days:  # a third of the work
        return took.seconds * 1_000_000 + took.microseconds
    return max(0, since_epoch(end) - since_epoch(begin))


def zap_time(ts: str | float) -> int:
    """Parse etcd's `ts`: ISO 8601 with any offset, or seconds since 1970. Raises Malformed."""
    try:
        if isinstance(ts, str):
            return since_epoch(datetime.fromisoformat(ts))
        return since_epoch(_EPOCH + timedelta(seconds=ts))
    except Malformed:
        raise
    except (ValueError, OverflowError):
        raise Malformed(f"no time: {str(ts)[:40]!r}") from None


@lru_cache(maxsize=1024)
def klog_day(month_day: str, now: datetime) -> int:
    """Return microseconds since 1970 at midnight of a day such as `0823`, in its latest past year.

    klog writes no year. Raises Malformed.
    """
    month, day = int(month_day[:2]), int(month_day[2:])
    for year in range(now.year, now.year - 9, -1):  # a 29 February may be eight years ago
        try:
            found = datetime(year, month, day, tzinfo=UTC)
        except ValueError:
            continue
        if found <= now + timedelta(days=1):
            return since_epoch(found)
    raise Malformed(f"no day: {month_day!r}")


_ESCAPE = re.compile(r'\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[abfnrtv\\"])')
_NAMED = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"',
}  # fmt: skip


def unquote(text: str) -> str:
    """Return the content of a string quoted by strconv.Quote; invalid escapes are kept."""
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    escape = match[1]
    if escape in _NAMED:
        return _NAMED[escape]
    code = int(escape[1:], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\N{REPLACEMENT CHARACTER}"
