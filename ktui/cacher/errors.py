"""Errors that the routing rules foresee, as the Status that the client gets."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from ktui.etcd.errors import EtcdError
from ktui.kube import status
from ktui.kube.resources import Resource
from ktui.kube.routing.model import RouteError
from ktui.kube.status import StatusError

log = logging.getLogger(__name__)


class SnapshotGone(Exception):
    """The cache's internal 410: there is no snapshot at or below that resourceVersion (any more)."""


class NotFresh(Exception):
    """The cache did not reach a resourceVersion within its 3 seconds."""

    def __init__(self, asked: int, current: int) -> None:
        super().__init__(f"resourceVersion {asked} was not reached, cache at {current}")
        self.asked = asked
        self.current = current

    def as_status(self) -> StatusError:
        return status.too_large_rv(self.asked, self.current)


def status_of(error: RouteError, last_error: str = "") -> StatusError:
    """The Status of a foreseen error; `last_error` is why the cache is not ready, "" to keep it quiet."""
    if error.code == 429:
        return status.storage_initializing(last_error, error.retry_after)
    if error.code == 410:
        return status.gone_expired(error.message)
    if error.code == 500 and error.reason:
        return StatusError(500, error.reason, error.message)
    details = {"retryAfterSeconds": error.retry_after} if error.retry_after else None
    return StatusError(error.code, error.reason, error.message, details)


@contextmanager
def reaching(resource: Resource, verb: str) -> Iterator[None]:
    """Give the client the Status of a storage that cannot be reached; `verb` is "get", "list" …"""
    try:
        yield
    except EtcdError as error:
        log.warning("%s %s: %s", verb, resource.id, error)
        raise status.server_timeout(resource, verb) from error
