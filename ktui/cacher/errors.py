"""Errors of cache and storage, and the Status that clients get for them."""

from __future__ import annotations

import time
from collections.abc import Callable

from ktui.etcd.errors import CompactedError, EtcdError, UnreachableError
from ktui.kube import status
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour
from ktui.storage.errors import UnreadableError


class SnapshotGone(Exception):
    """The cache's internal 410: no snapshot at or below that resourceVersion."""


class NotFresh(Exception):
    """The cache did not reach a resourceVersion within 3 seconds."""

    def __init__(self, requested: int, current: int) -> None:
        super().__init__(f"resourceVersion {requested} was not reached, cache at {current}")
        self.requested = requested
        self.current = current

    def as_status(self, *, reject: bool = False) -> StatusError:
        """Return a 504, or with `reject` a 429; the client may retry either after a second."""
        late = status.too_large_rv(self.requested, self.current)
        return status.too_many_requests(late.message, late.retry_after) if reject else late


# kube-apiserver since 1.25: errors that etcd returns are retried this long after the first one (seconds).
TOLERATED_SECONDS = 30.0
# A new period begins once the first error is older than this (seconds).
FORGOTTEN_SECONDS = 60.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
_ETCDS_OWN = "etcdserver:"


def broken_connection(error: EtcdError) -> bool:
    """Return True if the connection failed, False if etcd answered the request with an error."""
    return isinstance(error, UnreachableError) and _ETCDS_OWN not in error.detail


class WatchRetryPolicy:
    """Decides which errors of one cache's watch are retryable.

    A broken connection is re-established however long that takes, as etcd's Go client does transparently: the
    cache stays ready. An error that etcd returns (no leader, permission denied …) ends the watch: up to 1.24
    everything is then listed again.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first = float("-inf")
        self._paused = float("-inf")
        self._pause = SHORTEST_PAUSE

    def should_retry(self, error: EtcdError, behaviour: Behaviour) -> bool:
        """Return True if the watch may resume after the last revision that it has seen."""
        if isinstance(error, CompactedError | UnreadableError):
            return False
        if broken_connection(error):
            return True
        now = self._clock()
        if now - self._first > FORGOTTEN_SECONDS:
            self._first = now
        return behaviour.minor >= 25 and now - self._first <= TOLERATED_SECONDS

    def pause(self) -> float:
        """Return the seconds until the next attempt: doubled each time, two at most."""
        now = self._clock()
        if now - self._paused > 5 * LONGEST_PAUSE:
            self._pause = SHORTEST_PAUSE
        self._paused = now
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        return pause
