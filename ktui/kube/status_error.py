"""StatusError: an error response, and the parts of its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ktui.kube.golang.formatting import quote
from ktui.kube.resources import Resource

MAX_MESSAGE = 30_000  # characters: some of upstream's messages quote the whole body of a request


class StatusCause(NamedTuple):
    """One of the reasons in `details.causes`."""

    reason: str
    message: str
    field: str = ""

    def body(self) -> dict[str, str]:
        """Return the cause as JSON; an empty field is left out."""
        return {k: v for k, v in self._asdict().items() if v}


class StatusError(Exception):
    """An error response; `body()` is the JSON that the client receives.

    `code` is the HTTP status. `headers` holds Retry-After if `details.retryAfterSeconds` is above 0.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        *,
        continue_token: str = "",
    ) -> None:
        super().__init__(cut(message, MAX_MESSAGE))
        self.code = code
        self.reason = reason
        self.message = cut(message, MAX_MESSAGE)
        self.details = details
        self.continue_token = continue_token

    @property
    def retry_after(self) -> int:
        """Seconds until the client may retry; 0 if not set."""
        return int((self.details or {}).get("retryAfterSeconds", 0))

    @property
    def headers(self) -> dict[str, str]:
        """Headers of this response."""
        return {"Retry-After": str(self.retry_after)} if self.retry_after > 0 else {}

    def body(self) -> dict[str, Any]:
        """Return the Status object, its members in upstream's order, empty ones left out."""
        metadata = {"continue": self.continue_token} if self.continue_token else {}
        status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": metadata}
        status |= {"status": "Failure", "message": self.message}
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = dict(self.details)
        status["code"] = self.code
        return status


def success(resource: Resource, name: str, uid: str = "", rv: str = "") -> dict[str, Any]:
    """Return the body of a successful deletion, for kinds whose deletion does not return the object.

    `rv`: of the deletion, "" before 1.38.
    """
    details = resource_details(resource, name)
    if uid:
        details["uid"] = uid
    metadata = {"resourceVersion": rv} if rv else {}
    status = {"kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Success"}
    return {**status, "details": details}


def created(rv: str = "") -> dict[str, Any]:
    """Return the body of a binding or an eviction; `rv` is that of the pod's change, "" before 1.38."""
    metadata = {"resourceVersion": rv} if rv else {}
    return {"kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Success", "code": 201}


def resource_details(resource: Resource, name: str = "") -> dict[str, Any]:
    """Return `name`, `group`, `kind` of `details`; `kind` is the resource's plural name here."""
    parts = {"name": name, "group": resource.group, "kind": resource.resource}
    return {k: v for k, v in parts.items() if v}


def cut(text: str, most: int) -> str:
    """Return the text, or its beginning if it has more than `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def qualified(group: str, name: str) -> str:
    return f"{name}.{group}" if group else name


def named(resource: Resource, name: str) -> str:
    return f"{qualified(resource.group, resource.resource)} {quote(name)}"


@contextmanager
def ignoring_not_found() -> Iterator[None]:
    """End the block at a StatusError 404: what it would change or delete no longer exists."""
    try:
        yield
    except StatusError as error:
        if error.code != 404:
            raise
