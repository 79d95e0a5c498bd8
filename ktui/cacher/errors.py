"""Errors of cache and storage, and the Status that clients get for them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from ktui.etcd.errors import EtcdError
from ktui.kube import status
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError

log = logging.getLogger(__name__)


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


@contextmanager
def reaching(resource: Resource, verb: str) -> Iterator[None]:
    """Turn errors of unreachable storage into a Status; `verb` is "list", "get" …"""
    try:
        yield
    except EtcdError as error:
        log.warning("%s %s: %s", verb, resource.id, error)
        raise status.server_timeout(resource, verb) from error
