"""What one log line says, whatever its format. Times are whole microseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

T = TypeVar("T")


class Malformed(ValueError):
    """A line that cannot be understood; the text says why in a few words."""


def decoded(decode: Callable[[bytes], T], line: bytes, what: str) -> T:
    """A line of JSON as a decoder of msgspec reads it. Raises Malformed: not `what`."""
    try:
        return decode(line)
    except RecursionError:
        raise Malformed(f"not {what}: it nests too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"not {what}: {error}") from None


class LoggedRequest(msgspec.Struct, gc=False, frozen=True):
    """A GET, LIST or WATCH as an apiserver logged it.

    `at` is when the line was written (since 1970), `took` how long the request ran: a WATCH
    for as long as it was open. `done` is False for a WATCH that was only just accepted.
    `init` is a WATCH's time until its initial events were sent. `code`, `seats` and `init`
    are -1 where the line does not say. `user` is "" in httplog lines, which have none; `id`,
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


class SlowRequest(msgspec.Struct, gc=False, frozen=True):
    """A request of which etcd wrote a line because it was slow (or large).

    `source` is `apply` ("apply request took too long") or `stats` ("request stats");
    `what` is `range`, `txn` (read-only) or `write`. `keys` counts those answered; in a
    `stats` line those of the whole range, even where a limit cut the answer. -1: not said.
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
