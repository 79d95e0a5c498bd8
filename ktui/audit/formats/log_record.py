"""The content of one log record in any format, in whole microseconds, and Go's text formats in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple, TypeVar

import msgspec

from ktui.kube.golang.times import parse_duration
from ktui.traces.spans import TracedRequest

T = TypeVar("T")
READS = frozenset(("get", "list", "watch"))


class Malformed(ValueError):
    """An invalid line; the message says why in a few words."""


def decoded(decode: Callable[[bytes], T], line: bytes, what: str) -> T:
    """Decode a line of JSON. Raises Malformed, which says that it is not `what`."""
    try:
        return decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise undecodable(error, what) from None


def undecodable(error: Exception, what: str) -> Malformed:
    """Return the Malformed for a decoding error of a line that should be `what`."""
    return Malformed(f"not {what}: {'it nests too deeply' if isinstance(error, RecursionError) else error}")


class Skip(NamedTuple):
    """Why a valid record is not counted."""

    what: str


class Skips:
    """Why valid records are not counted."""

    BLANK = Skip("blank lines and continued messages")
    CONTROL = Skip("control messages of CloudWatch Logs")
    EARLY = Skip("audit Events of the stage RequestReceived")
    FALCO = Skip("alerts of Falco (ka.*): they have too few fields of the audit Event")
    OTLP = Skip("OTLP log records whose body is not an audit Event as text")
    JSON = Skip("JSON values without an audit Event")
    KLOG = Skip("klog messages other than httplog")
    OUTSIDE = Skip("records outside --since and --until")
    WRITES = Skip("writes and other requests that are no GET, LIST or WATCH")
    SPANS = Skip("documents of spans, counted by their requests")
    TRACE_LINES = Skip("lines of klog traces, counted by their requests")


class Spent(msgspec.Struct, gc=False, frozen=True):
    """The time of a slow request by part, as the apiserver measured it: microseconds, 0 if not logged.

    `etcd` is -1 if the log does not measure etcd. `queue`: waiting for seats of flow control.
    `encode`: decoding, transforming and serializing. `write`: until the client had read the bytes.
    `other`: authentication, authorization, impersonation, webhooks. `decode`, part of `encode`: of objects
    read from etcd (1.30+). `proven`: an index into `observed.SOURCES` if the record itself names where the
    request was served from (a trace), else -1.
    """

    total: int
    queue: int = 0
    etcd: int = 0
    encode: int = 0
    write: int = 0
    other: int = 0
    decode: int = 0
    proven: int = -1


class LoggedRequest(msgspec.Struct, gc=False, frozen=True):
    """A GET, LIST or WATCH in an apiserver's log.

    `at` is when the line was written (since 1970), `took` the duration, of a WATCH the time that it was open.
    `done` is False for a WATCH that has just started. `init` is a WATCH's time until its initial events were
    sent. `code`, `seats` and `init` are -1 if the line does not have them. `user` is always "" in httplog
    lines and traces; `id`, the audit-ID, in httplog lines up to 1.21. `query` is False if the log leaves out
    query strings. `traced` is the record of a trace.
    """

    verb: str
    uri: str
    agent: str
    user: str
    at: int
    took: int
    code: int = -1
    done: bool = True
    seats: int = -1
    init: int = -1
    id: str = ""
    query: bool = True
    spent: Spent | None = None
    traced: TracedRequest | None = None


class SlowRequest(msgspec.Struct, gc=False, frozen=True):
    """A slow (or large) request in etcd's log.

    `source` is `apply` ("apply request took too long") or `stats` ("request stats"); `what` is `range`, `txn`
    (read-only) or `write`. `keys` is the number of keys returned; in a `stats` line of keys in the range,
    even if a limit cut the response. -1: unknown.
    """

    source: str
    what: str
    key: str
    range_end: str
    limit: int
    revision: int
    at: int
    took: int
    keys: int = -1
    size: int = -1
    failed: bool = False


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_EARLIEST, _LATEST = ((datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND for year in (1971, 9000))

_LONGEST = (1 << 63) / 1e9  # seconds: Go's longest duration, 292 years


def duration(text: str) -> int:
    """Parse `1.926865ms`, `929.214µs`, `1h2m3.5s`, `0s` as microseconds. Raises Malformed."""
    try:
        took = parse_duration(text)
    except ValueError:
        took = -1.0
    if not 0 <= took <= _LONGEST:
        raise Malformed(f"no duration: {text[:40]!r}")
    return round(took * 1e6)


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
    """Return microseconds since 1970 of a day such as `0823`, in its latest past year. Raises Malformed."""
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
