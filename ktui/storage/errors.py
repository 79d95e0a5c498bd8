"""Errors of stored data, and etcd's errors in kube-apiserver's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ktui.etcd.errors import (
    CompactedError,
    EtcdError,
    FutureRevisionError,
    ReadOnlyError,
    RequestTooLargeError,
    UnreachableError,
)
from ktui.kube import status
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.wire.pb import CodecError


class UnreadableError(EtcdError):
    """A value is not an object of its resource: it is encrypted, truncated, or of an unknown kind."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key} cannot be read: {reason}", reason)

    def as_status(self) -> StatusError:
        """Return the 500 with which kube-apiserver fails a request for an object that it cannot decode."""
        return status.internal_error(str(self))


class asking:
    """Turn etcd's errors into a Status. `verb` as upstream names it: "list", "get", "update" …

    CompactedError and FutureRevisionError are passed on, as their meaning depends on the request. A class,
    because a generator takes three times as long.
    """

    __slots__ = ("_resource", "_verb")

    def __init__(self, resource: Resource, verb: str) -> None:
        self._resource = resource
        self._verb = verb

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, EtcdError) or isinstance(error, CompactedError | FutureRevisionError):
            return
        if isinstance(error, UnreadableError):
            raise error.as_status() from error
        if isinstance(error, UnreachableError):
            raise status.server_timeout(self._resource, self._verb) from error
        raise status.internal_error(str(error)) from error


@contextmanager
def browsing() -> Iterator[None]:
    """Turn errors of raw reads of etcd, which have no resource, into a Status with etcd's own message."""
    try:
        yield
    except UnreachableError as error:
        raise status.service_unavailable(str(error)) from error
    except (CompactedError, FutureRevisionError) as error:
        raise StatusError(410, "Expired", str(error)) from error
    except EtcdError as error:
        raise status.internal_error(str(error)) from error


@contextmanager
def writing(resource: Resource, name: str, verb: str) -> Iterator[None]:
    """Turn errors of writes into a Status, including those of the object itself."""
    try:
        with asking(resource, verb):
            try:
                yield
            except ReadOnlyError:
                raise status.forbidden_read_only(resource, name) from None
            except RequestTooLargeError as error:
                raise status.bare_error("etcdserver: request is too large") from error
    except CodecError as error:
        raise status.bad_request(f"{resource.kind} {name} cannot be stored: {error}") from error
