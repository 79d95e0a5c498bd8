"""The content of one log record in any format. Times are whole microseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from ktui.traces.spans import TracedRequest

T = TypeVar("T")


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


class Skip:
    """Why a valid record is not counted; compared by identity."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what


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
SKIPS = (BLANK, CONTROL, EARLY, FALCO, OTLP, JSON, KLOG, OUTSIDE, WRITES, SPANS, TRACE_LINES)


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

    `at` is when the line was written (since 1970), `took` the duration, of a WATCH the time that
    it was open. `done` is False for a WATCH that has just started.
    `init` is a WATCH's time until its initial events were sent. `code`, `seats` and `init`
    are -1 if the line does not have them. `user` is always "" in httplog lines and traces; `id`, the
    audit-ID, in httplog lines up to 1.21. `query` is False if the log leaves out query strings. `traced` is
    the record of a trace.
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

    `source` is `apply` ("apply request took too long") or `stats` ("request stats");
    `what` is `range`, `txn` (read-only) or `write`. `keys` is the number of keys returned; in a
    `stats` line of keys in the range, even if a limit cut the response. -1: unknown.
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
