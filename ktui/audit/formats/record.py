"""The content of one log line, in any format. Times are whole microseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

T = TypeVar("T")


class Malformed(ValueError):
    """An invalid line; the message says why in a few words."""


def decoded(decode: Callable[[bytes], T], line: bytes, what: str) -> T:
    """Decode a line of JSON. Raises Malformed: not `what`."""
    try:
        return decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise undecodable(error, what) from None


def undecodable(error: Exception, what: str) -> Malformed:
    """What an error of decoding says of a line that is not `what`."""
    return Malformed(f"not {what}: {'it nests too deeply' if isinstance(error, RecursionError) else error}")


class Skip:
    """Why a record is understood and not counted; compared by identity."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what


BLANK = Skip("blank lines and continued messages")
CONTROL = Skip("control messages of CloudWatch Logs")
EARLY = Skip("audit Events of the stage RequestReceived")
JSON = Skip("JSON values without an audit Event")
KLOG = Skip("klog messages other than httplog")
WRITES = Skip("writes and other requests that are no GET, LIST or WATCH")
SKIPS = (BLANK, CONTROL, EARLY, JSON, KLOG, WRITES)


class Spent(msgspec.Struct, gc=False, frozen=True):
    """Where a slow request's time went, as the apiserver measured it: microseconds, 0 for a part not logged.

    `etcd` is -1 where the log does not measure etcd at all. `queue`: waiting for seats of flow control.
    `encode`: decoding, transforming and serializing. `write`: until the client had taken the bytes.
    `other`: authentication, authorization, impersonation, webhooks.
    """

    total: int
    queue: int = 0
    etcd: int = 0
    encode: int = 0
    write: int = 0
    other: int = 0


class LoggedRequest(msgspec.Struct, gc=False, frozen=True):
    """A GET, LIST or WATCH in an apiserver's log.

    `at` is when the line was written (since 1970), `took` the duration: of a WATCH
    the time that it was open. `done` is False for a WATCH that has just started.
    `init` is a WATCH's time until its initial events were sent. `code`, `seats` and `init`
    are -1 if the line does not have them. `user` is "" in httplog lines, which have none; `id`,
    the audit-ID, in those up to 1.21.
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


class SlowRequest(msgspec.Struct, gc=False, frozen=True):
    """A slow (or large) request in etcd's log.

    `source` is `apply` ("apply request took too long") or `stats` ("request stats");
    `what` is `range`, `txn` (read-only) or `write`. `keys` counts the returned ones; in a
    `stats` line those of the whole range, even if a limit cut the response. -1: unknown.
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
