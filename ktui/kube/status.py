"""Status: the error body of the Kubernetes API (`kind: Status`, `apiVersion: v1`).

Each constructor gives the texts of kube-apiserver 1.36; `details` is None where
upstream leaves it out and `{}` where upstream sends it empty.
"""

from __future__ import annotations

from collections.abc import Iterable

from ktui.kube.golang.formatting import NumError, parse_uint, quote
from ktui.kube.resources import Resource
from ktui.kube.status_error import StatusCause as StatusCause
from ktui.kube.status_error import StatusError as StatusError
from ktui.kube.status_error import created as created
from ktui.kube.status_error import cut, named, qualified
from ktui.kube.status_error import ignoring_not_found as ignoring_not_found
from ktui.kube.status_error import resource_details as resource_details
from ktui.kube.status_error import success as success

# About one object or its collection.

MAX_CAUSES = 100
MAX_CAUSE_TEXT = 20_000  # characters; each cause is sent twice, and quoted
MAX_NAME = 1_000


def not_found(resource: Resource, name: str) -> StatusError:
    """404: no such object."""
    message = f"{named(resource, name)} not found"
    return StatusError(404, "NotFound", message, resource_details(resource, name))


def already_exists(resource: Resource, name: str) -> StatusError:
    """409 on create: an object with this name exists."""
    message = f"{named(resource, name)} already exists"
    return StatusError(409, "AlreadyExists", message, resource_details(resource, name))


def generated_name_taken(resource: Resource, name: str) -> StatusError:
    """409 on create with `generateName`, if the generated name exists: the client may retry."""
    why = "the server was not able to generate a unique name for the object"
    details = resource_details(resource, name) | {"retryAfterSeconds": 1}
    return StatusError(409, "AlreadyExists", f"{named(resource, name)} already exists, {why}", details)


def being_deleted(taken: StatusError) -> StatusError:
    """Return the 409 `taken` with the text for an existing object that is being deleted."""
    return StatusError(taken.code, taken.reason, f"object is being deleted: {taken.message}", taken.details)


def conflict(
    resource: Resource,
    name: str,
    why: str = "the object has been modified; please apply your changes to the latest version and try again",
) -> StatusError:
    """409 on update: the object has a newer resourceVersion."""
    message = f"Operation cannot be fulfilled on {named(resource, name)}: {why}"
    return StatusError(409, "Conflict", message, resource_details(resource, name))


def precondition_failed(resource: Resource, name: str, what: str, wanted: str, found: str) -> StatusError:
    """409 on delete: `what` ("UID", "ResourceVersion") differs from the precondition."""
    message = f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
    return conflict(resource, name, message)


def precondition_unmet(resource: Resource, name: str, what: str, wanted: str, found: str) -> StatusError:
    """409 before a deletion begins: the object is not the one in the precondition."""
    why = "deleted and then recreated" if what == "UID" else "modified"
    kind = qualified(resource.group, resource.kind)  # the kind, unlike in every other conflict
    message = (
        f"Operation cannot be fulfilled on {kind} {quote(name)}: the {what} in the precondition ({wanted}) "
        f"does not match the {what} in record ({found}). The object might have been {why}"
    )
    return StatusError(409, "Conflict", message, {**resource_details(resource, name), "kind": resource.kind})


def unmet_in_storage(
    resource: Resource, name: str, key: str, what: str, wanted: str, found: str
) -> StatusError:
    """409 for a precondition that storage checks; `key` is the object's key in etcd."""
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
    )
    return conflict(resource, name, why)


def invalid_status(kind: str, group: str, name: str, causes: Iterable[StatusCause]) -> StatusError:
    """422: validation failed. `kind` is the object's kind ("ListOptions"), not the plural.

    Several causes are joined as `[a, b]`, without duplicates, as upstream's aggregate does. Upstream lists
    all causes; here an answer has at most MAX_CAUSES and MAX_CAUSE_TEXT characters of them, and no more are
    read from `causes`. (Upstream's decoder stops at 100 unknown fields.)
    """
    kind, group, name = cut(kind, MAX_NAME), cut(group, MAX_NAME), cut(name, MAX_NAME)
    shown, complete = _first(causes)
    texts = list(dict.fromkeys(f"{c.field}: {c.message}" for c in shown))
    if not complete:
        texts.append("and more errors that are not shown")
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    parts = {"name": name, "group": group, "kind": kind, "causes": [c.body() for c in shown]}
    details = {k: v for k, v in parts.items() if v}
    return StatusError(422, "Invalid", f"{qualified(group, kind)} {quote(name)} is invalid: {text}", details)


def _first(causes: Iterable[StatusCause]) -> tuple[list[StatusCause], bool]:
    """Return the causes that an answer shows, and True if these are all causes."""
    shown: list[StatusCause] = []
    left = MAX_CAUSE_TEXT
    for cause in causes:
        field, message = cut(cause.field, MAX_NAME), cut(cause.message, MAX_CAUSE_TEXT)
        left -= len(field) + len(message)
        if len(shown) == MAX_CAUSES or (shown and left < 0):
            return shown, False
        shown.append(StatusCause(cause.reason, message, field))
    return shown, True


def method_not_supported(resource: Resource, verb: str) -> StatusError:
    """405 of custom resources; `verb` is the API's ("create"), "" for a method without one."""
    kind = quote(qualified(resource.group, resource.resource))
    message = f"{verb} is not supported on resources of kind {kind}"
    return StatusError(405, "MethodNotAllowed", message, resource_details(resource, ""))


def forbidden(resource: Resource, name: str, why: str) -> StatusError:
    """403 for an object, or for the whole collection when `name` is empty."""
    what = named(resource, name) if name else qualified(resource.group, resource.resource)
    return StatusError(403, "Forbidden", f"{what} is forbidden: {why}", resource_details(resource, name))


def namespace_terminating(resource: Resource, name: str, namespace: str) -> StatusError:
    """403 on create: the namespace is being deleted."""
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    refused = forbidden(resource, name, why)
    gone = f"namespace {namespace} is being terminated"
    cause = StatusCause("NamespaceTerminating", gone, "metadata.namespace")
    details = {**(refused.details or {}), "causes": [cause.body()]}
    return StatusError(refused.code, refused.reason, refused.message, details)


def forbidden_read_only(resource: Resource, name: str) -> StatusError:
    """403 of ktui itself: it only reads this etcd (no upstream counterpart)."""
    return forbidden(resource, name, "ktui reads this etcd only; start it with --allow-writes to write")


# About the request itself: its path, method, media types, body, credentials.

SERVED_MEDIA_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
STREAM_MEDIA_TYPES = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
COLLECTION_MEDIA_TYPES = (*SERVED_MEDIA_TYPES, *STREAM_MEDIA_TYPES)


def path_not_found() -> StatusError:
    """404: the group and version are served, but not this path."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def unknown_path() -> StatusError:
    """404: no API has this path. Since 1.38 a Status, before plain text (kubernetes#138219)."""
    return StatusError(404, "NotFound", "the server could not find the requested resource")


def bad_request(message: str) -> StatusError:
    """400: the request is not valid."""
    return StatusError(400, "BadRequest", message)


def body_incomplete() -> StatusError:
    """400: the body ended before it was complete."""
    return bad_request(
        "the body of the request is incomplete: its chunks are malformed, or it has fewer bytes than its "
        "Content-Length"
    )


def other_namespace() -> StatusError:
    """400 of a write: the object's namespace differs from the path's."""
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request"
    )


def unauthorized() -> StatusError:
    """401: no valid credentials."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def method_not_allowed() -> StatusError:
    """405: the path does not support this method."""
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message, {})


def not_acceptable(media_types: Iterable[str] = SERVED_MEDIA_TYPES) -> StatusError:
    """406: no media type in Accept is served (`media_types` may be COLLECTION_MEDIA_TYPES)."""
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(media_types)}"
    return StatusError(406, "NotAcceptable", message, {})


def not_acceptable_form(media_types: Iterable[str] = SERVED_MEDIA_TYPES) -> StatusError:
    """406: the media type is served, but not with these parameters (`as=Table;v=v9`) or this resource."""
    message = f"only the following media types are accepted: {', '.join(media_types)}"
    return StatusError(406, "NotAcceptable", message)


def unsupported_media_type(media_types: Iterable[str] = SERVED_MEDIA_TYPES) -> StatusError:
    """415: the body's media type is not one of these."""
    accepted = ", ".join(media_types)
    message = f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    return StatusError(415, "UnsupportedMediaType", message)


def request_entity_too_large(message: str = "limit is 3145728") -> StatusError:
    """413: a body above 3 MiB."""
    return StatusError(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


# About resourceVersions: not a number, too old, too large.


def invalid_resource_version(text: str) -> StatusError:
    """400 from storage: `resourceVersion` is not a number."""
    return bad_request(f"invalid resource version: {_resource_version_fault(text)}")


def invalid_resource_version_in_cache(text: str) -> StatusError:
    """500 from the cache: `resourceVersion` is not a number. The cache's error is not an API status.

    LIST up to 1.32; GET up to 1.37; WATCH in every version.
    """
    return bare_error(_resource_version_fault(text))


def _resource_version_fault(text: str) -> str:
    try:
        parse_uint(text)
    except NumError as why:
        return f"resourceVersion: Invalid value: {quote(text)}: {why}"
    raise AssertionError(f"{text} is a resourceVersion")


def future_revision() -> StatusError:
    """500 with etcd's own message, passed on unchanged (up to 1.33): a revision that does not exist yet."""
    return bare_error("etcdserver: mvcc: required revision is a future revision")


def continue_with_resource_version() -> StatusError:
    """400: `continue` together with a resourceVersion other than "" and "0"."""
    return bad_request("specifying resource version is not allowed when using continue")


def gone_expired(message: str, continue_token: str = "") -> StatusError:
    """410 Expired, with a fresh continue token if one is given."""
    return StatusError(410, "Expired", message, continue_token=continue_token)


def list_too_old() -> StatusError:
    """410: a list at a compacted revision."""
    return gone_expired("The resourceVersion for the provided list is too old.")


def watch_too_old() -> StatusError:
    """410 from etcd: a watch from a compacted revision (sent as an ERROR event)."""
    return gone_expired("The resourceVersion for the provided watch is too old.")


def too_old_resource_version(requested: int, oldest: int) -> StatusError:
    """410 from the cache: a watch from before its event buffer; `oldest` is the first RV that works."""
    return gone_expired(f"too old resource version: {requested} ({oldest})")


def continue_expired(fresh_token: str) -> StatusError:
    """410: a page at a compacted revision; the fresh token continues from the same key, inconsistently."""
    return gone_expired(
        "The provided continue parameter is too old to display a consistent list result. "
        "You can start a new list without the continue parameter, or use the continue token in this response "
        "to retrieve the remainder of the results. Continuing with the provided token results in an "
        "inconsistent list - objects that were created, modified, or deleted between the time the first "
        "chunk was returned and now may show up in the list.",
        fresh_token,
    )


def too_large_rv(requested: int, current: int, retry_after: int = 1) -> StatusError:
    """504: a resourceVersion that the cache (`retry_after` 1) or etcd (0) has not reached."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    details = {"causes": [cause]} | ({"retryAfterSeconds": retry_after} if retry_after else {})
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    return StatusError(504, "Timeout", message, details)


# About the server: overloaded, not ready, timed out, internal.


def too_many_requests(message: str, retry_after: int = 1) -> StatusError:
    """429, e.g. while a watch cache (re)initialises."""
    details = {"retryAfterSeconds": retry_after} if retry_after else {}
    return StatusError(429, "TooManyRequests", message, details)


def storage_initializing(last_error: str = "", retry_after: int = 1) -> StatusError:
    """429 of a resource whose watch cache is not ready (1.31+)."""
    text = "storage is (re)initializing"
    return too_many_requests(f"{text}: {last_error}" if last_error else text, retry_after)


def timeout(message: str = "request did not complete within the allotted timeout") -> StatusError:
    """504: the request's timeout has passed."""
    return StatusError(504, "Timeout", f"Timeout: {message}", {})


def service_unavailable(message: str) -> StatusError:
    """503: the wait for the cache was aborted (1.24–1.30), or the server is stopping."""
    return StatusError(503, "ServiceUnavailable", message)


def server_timeout(resource: Resource, verb: str) -> StatusError:
    """500 ServerTimeout: storage is unreachable; `verb` is "list", "get" …"""
    what = qualified(resource.group, resource.resource)
    message = f"The {verb} operation against {what} could not be completed at this time, please try again."
    details = resource_details(resource, verb) | {"retryAfterSeconds": 2}
    return StatusError(500, "ServerTimeout", message, details)


def internal_error(why: str) -> StatusError:
    """500 InternalError: an error in the server itself."""
    details = {"causes": [{"message": why}]}
    return StatusError(500, "InternalError", f"Internal error occurred: {why}", details)


def watch_progress_unsupported() -> StatusError:
    """500 as an ERROR event: a streaming list was requested, but etcd cannot report its progress."""
    why = "the required storage feature RequestWatchProgress is disabled"
    return StatusError(500, "InternalError", f"a watch stream was requested by the client but {why}")


def bare_error(message: str) -> StatusError:
    """500 without a reason: upstream's response for an error that is not an API status."""
    return StatusError(500, "", message)
