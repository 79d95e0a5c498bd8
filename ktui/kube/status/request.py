"""Errors about the request itself: its path, method, media types, body, credentials."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.kube.status.error import StatusError

SERVED_MEDIA_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
STREAM_MEDIA_TYPES = ("application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
COLLECTION_MEDIA_TYPES = (*SERVED_MEDIA_TYPES, *STREAM_MEDIA_TYPES)


def path_not_found() -> StatusError:
    """404: the group and version are served, but not this path."""
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


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
