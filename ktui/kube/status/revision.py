"""Errors about resourceVersions: not a number, too old, too large."""

from __future__ import annotations

from typing import Any

from ktui.kube.golang.formatting import quote
from ktui.kube.status.error import StatusError
from ktui.kube.status.request import bad_request
from ktui.kube.status.server import bare_error


def invalid_resource_version(text: str, why: str) -> StatusError:
    """400 from storage: `resourceVersion` is not a number (`why`: the parser's text)."""
    return bad_request(f"invalid resource version: {resource_version_fault(text, why)}")


def invalid_resource_version_in_cache(text: str, why: str) -> StatusError:
    """500 from the cache: `resourceVersion` is not a number. The cache's error is not an API status."""
    return bare_error(resource_version_fault(text, why))


def resource_version_fault(text: str, why: str) -> str:
    """The text that both errors share."""
    return f"resourceVersion: Invalid value: {quote(text)}: {why}"


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
    details: dict[str, Any] = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    }
    if retry_after:
        details["retryAfterSeconds"] = retry_after
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    return StatusError(504, "Timeout", message, details)
