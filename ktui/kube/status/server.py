"""Errors of the server: overloaded, not ready, timed out, internal."""

from __future__ import annotations

from ktui.kube.status.error import GroupResource, StatusError, qualified, resource_details


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


def server_timeout(resource: GroupResource, verb: str, retry_after: int = 2) -> StatusError:
    """500 ServerTimeout: storage is unreachable; `verb` is "list", "get" …"""
    what = qualified(resource.group, resource.resource)
    message = f"The {verb} operation against {what} could not be completed at this time, please try again."
    details = resource_details(resource, verb) | {"retryAfterSeconds": retry_after}
    return StatusError(500, "ServerTimeout", message, details)


def internal_error(why: str) -> StatusError:
    """500 InternalError: an error in the server itself."""
    return StatusError(
        500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]}
    )


def watch_progress_unsupported() -> StatusError:
    """500 as an ERROR event: a streaming list was requested, but etcd cannot report its progress."""
    message = (
        "a watch stream was requested by the client but the required storage feature "
        "RequestWatchProgress is disabled"
    )
    return StatusError(500, "InternalError", message)


def bare_error(message: str) -> StatusError:
    """500 without a reason: upstream's response for an error that is not an API status."""
    return StatusError(500, "", message)
