"""Status: the error body of the Kubernetes API (`kind: Status`, `apiVersion: v1`).

Each constructor gives the texts of kube-apiserver 1.36; `details` is None where
upstream leaves it out and `{}` where upstream sends it empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from ktui.kube.golang.quoting import quote


class GroupResource(Protocol):
    """What an error needs to name a resource; `Resource` is one."""

    @property
    def group(self) -> str: ...
    @property
    def resource(self) -> str: ...
    @property
    def kind(self) -> str: ...


class Cause(NamedTuple):
    """One of the reasons in `details.causes`."""

    reason: str
    message: str
    field: str = ""

    def body(self) -> dict[str, str]:
        """As JSON: an empty field is left out."""
        return {k: v for k, v in self._asdict().items() if v}


class StatusError(Exception):
    """An answer other than success; `body()` is the JSON that goes to the client.

    `code` is the HTTP status. `headers` holds Retry-After where
    `details.retryAfterSeconds` is above 0.
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
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.continue_token = continue_token

    @property
    def retry_after(self) -> int:
        """Seconds until the client may try again; 0 when nothing is said."""
        return int((self.details or {}).get("retryAfterSeconds", 0))

    @property
    def headers(self) -> dict[str, str]:
        """Headers that belong to this answer."""
        return {"Retry-After": str(self.retry_after)} if self.retry_after > 0 else {}

    def body(self) -> dict[str, Any]:
        """The Status object, its members in upstream's order, empty ones left out."""
        metadata = {"continue": self.continue_token} if self.continue_token else {}
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = dict(self.details)
        status["code"] = self.code
        return status


def success(resource: GroupResource, name: str, uid: str = "") -> dict[str, Any]:
    """The body that answers a deletion (kinds other than those that answer the object)."""
    details = resource_details(resource, name)
    if uid:
        details["uid"] = uid
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def resource_details(resource: GroupResource, name: str = "") -> dict[str, Any]:
    """`name`, `group`, `kind` of `details`: kind is the resource's plural name here."""
    parts = {"name": name, "group": resource.group, "kind": resource.resource}
    return {k: v for k, v in parts.items() if v}


def _qualified(group: str, name: str) -> str:
    return f"{name}.{group}" if group else name


def _named(resource: GroupResource, name: str) -> str:
    return f"{_qualified(resource.group, resource.resource)} {quote(name)}"


def not_found(resource: GroupResource, name: str) -> StatusError:
    """404: no such object."""
    return StatusError(
        404, "NotFound", f"{_named(resource, name)} not found", resource_details(resource, name)
    )


def path_not_found() -> StatusError:
    """404: the group and version are served, the path below them is not."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: GroupResource, name: str) -> StatusError:
    """409 on create: the key is taken."""
    message = f"{_named(resource, name)} already exists"
    return StatusError(409, "AlreadyExists", message, resource_details(resource, name))


def conflict(
    resource: GroupResource,
    name: str,
    why: str = "the object has been modified; please apply your changes to the latest version and try again",
) -> StatusError:
    """409 on update: the object has another resourceVersion by now."""
    message = f"Operation cannot be fulfilled on {_named(resource, name)}: {why}"
    return StatusError(409, "Conflict", message, resource_details(resource, name))


def precondition_failed(
    resource: GroupResource, name: str, what: str, wanted: str, found: str
) -> StatusError:
    """409 on delete: `what` ("UID", "ResourceVersion") is not what the client demanded."""
    message = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
    return conflict(resource, name, message)


def invalid(kind: str, group: str, name: str, causes: Iterable[Cause]) -> StatusError:
    """422: validation failed. `kind` is the object's kind ("ListOptions"), not the plural.

    Several causes are joined as `[a, b]`, equal ones once, as upstream's aggregate does.
    """
    causes = tuple(causes)
    texts = list(dict.fromkeys(f"{c.field}: {c.message}" for c in causes))
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    parts = {"name": name, "group": group, "kind": kind, "causes": [c.body() for c in causes]}
    details = {k: v for k, v in parts.items() if v}
    return StatusError(422, "Invalid", f"{_qualified(group, kind)} {quote(name)} is invalid: {text}", details)


def bad_request(message: str) -> StatusError:
    """400: the request cannot be understood."""
    return StatusError(400, "BadRequest", message)


def invalid_resource_version(text: str, why: str) -> StatusError:
    """400 from storage: `resourceVersion` is not a number (`why`: the parser's text)."""
    return bad_request(f"invalid resource version: {resource_version_fault(text, why)}")


def invalid_resource_version_in_cache(text: str, why: str) -> StatusError:
    """500 from the cache for the same fault: there it is no API error, so a bare one."""
    return bare_error(resource_version_fault(text, why))


def resource_version_fault(text: str, why: str) -> str:
    """What both of them say."""
    return f"resourceVersion: Invalid value: {quote(text)}: {why}"


def continue_with_resource_version() -> StatusError:
    """400: continue together with a resourceVersion other than "" and "0"."""
    return bad_request("specifying resource version is not allowed when using continue")


def unauthorized() -> StatusError:
    """401: no valid credentials."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: GroupResource, name: str, why: str) -> StatusError:
    """403 for an object, or for the whole collection when `name` is empty."""
    what = _named(resource, name) if name else _qualified(resource.group, resource.resource)
    return StatusError(403, "Forbidden", f"{what} is forbidden: {why}", resource_details(resource, name))


def forbidden_read_only(resource: GroupResource, name: str, why: str = "") -> StatusError:
    """403 of ktui itself: it only reads this etcd (no upstream counterpart)."""
    return forbidden(
        resource, name, why or "ktui reads this etcd only; start it with --allow-writes to write"
    )


def method_not_allowed() -> StatusError:
    """405: the path is served, not with this method."""
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message, {})


SERVED_MEDIA_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
WATCH_MEDIA_TYPES = (
    *SERVED_MEDIA_TYPES,
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
)


def not_acceptable(media_types: Iterable[str] = SERVED_MEDIA_TYPES) -> StatusError:
    """406: nothing in Accept matches what is served (also `WATCH_MEDIA_TYPES`)."""
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(media_types)}"
    return StatusError(406, "NotAcceptable", message, {})


def not_acceptable_form(media_types: Iterable[str] = SERVED_MEDIA_TYPES) -> StatusError:
    """406: the media type is served, its parameters (`as=Table;v=v9`) or this resource in it are not."""
    message = f"only the following media types are accepted: {', '.join(media_types)}"
    return StatusError(406, "NotAcceptable", message)


def unsupported_media_type(media_types: Iterable[str] = SERVED_MEDIA_TYPES) -> StatusError:
    """415: the request's body is of another type than those."""
    accepted = ", ".join(media_types)
    message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    return StatusError(415, "UnsupportedMediaType", message)


def request_entity_too_large(message: str = "limit is 3145728") -> StatusError:
    """413: a body above 3 MiB."""
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


def too_many_requests(message: str, retry_after: int = 1) -> StatusError:
    """429, e.g. while a watch cache (re)initialises."""
    details = {"retryAfterSeconds": retry_after} if retry_after else {}
    return StatusError(429, "TooManyRequests", message, details)


def storage_initializing(last_error: str = "", retry_after: int = 1) -> StatusError:
    """429 of a resource whose watch cache is not ready (1.31+)."""
    text = "storage is (re)initializing"
    return too_many_requests(f"{text}: {last_error}" if last_error else text, retry_after)


def gone_expired(message: str, continue_token: str = "") -> StatusError:
    """410 Expired, with a fresh continue token where one is offered."""
    return StatusError(410, "Expired", message, continue_token=continue_token)


def list_too_old() -> StatusError:
    """410: a list at a compacted revision."""
    return gone_expired("The resourceVersion for the provided list is too old.")


def watch_too_old() -> StatusError:
    """410 from etcd: a watch from a compacted revision (sent as an ERROR event)."""
    return gone_expired("The resourceVersion for the provided watch is too old.")


def too_old_resource_version(asked: int, oldest: int) -> StatusError:
    """410 from the cache: a watch from before its window; `oldest` is the first RV that still works."""
    return gone_expired(f"too old resource version: {asked} ({oldest})")


def continue_expired(fresh_token: str) -> StatusError:
    """410: a page at a compacted revision; the fresh token goes on, inconsistently, from the same key."""
    return gone_expired(
        "The provided continue parameter is too old to display a consistent list result. "
        "You can start a new list without the continue parameter, or use the continue token in this response "
        "to retrieve the remainder of the results. Continuing with the provided token results in an "
        "inconsistent list - objects that were created, modified, or deleted between the time the first "
        "chunk was returned and now may show up in the list.",
        fresh_token,
    )


def too_large_rv(asked: int, current: int, retry_after: int = 1) -> StatusError:
    """504: a resourceVersion that the cache (`retry_after` 1) or etcd (0) has not reached."""
    details: dict[str, Any] = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    }
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    message = f"Timeout: Too large resource version: {asked}, current: {current}"
    return StatusError(504, "Timeout", message, details)


def timeout(message: str = "request did not complete within the allotted timeout") -> StatusError:
    """504: the request's own time is over."""
    return StatusError(504, "Timeout", f"Timeout: {message}", {})


def service_unavailable(message: str) -> StatusError:
    """503: waiting for the cache was given up (1.24–1.30), or the server stops."""
    return StatusError(503, "ServiceUnavailable", message)


def server_timeout(resource: GroupResource, verb: str, retry_after: int = 2) -> StatusError:
    """500 ServerTimeout: storage cannot be reached; `verb` is "list", "get" …"""
    what = _qualified(resource.group, resource.resource)
    message = f"The {verb} operation against {what} could not be completed at this time, please try again."
    details = resource_details(resource, verb) | {"retryAfterSeconds": retry_after}
    return StatusError(500, "ServerTimeout", message, details)


def internal_error(why: str) -> StatusError:
    """500 InternalError: a fault of the server's own."""
    return StatusError(
        500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]}
    )


def watch_progress_unsupported() -> StatusError:
    """500 as an ERROR event: a streaming list was asked for, etcd cannot tell how far it is."""
    message = (
        "a watch stream was requested by the client but the required storage feature "
        "RequestWatchProgress is disabled"
    )
    return StatusError(500, "InternalError", message)


def bare_error(message: str) -> StatusError:
    """500 without a reason: what upstream makes of an error that is no API status."""
    return StatusError(500, "", message)
