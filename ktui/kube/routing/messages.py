"""Texts of the Status errors that the routing rules foresee, as kube-apiserver words them."""

from __future__ import annotations

from collections.abc import Sequence

NOT_READY = "storage is (re)initializing"
LIST_RV_TOO_OLD = "The resourceVersion for the provided list is too old."
WATCH_RV_TOO_OLD = "The resourceVersion for the provided watch is too old."
ETCD_FUTURE_REVISION = "etcdserver: mvcc: required revision is a future revision"
RV_WITH_CONTINUE = "specifying resource version is not allowed when using continue"
BAD_CONTINUE = "invalid continue token: continue key is not valid"
WATCH_LIST_NO_PROGRESS = (
    "a watch stream was requested by the client but the required storage feature "
    "RequestWatchProgress is disabled"
)
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the continue parameter, or use the continue token in this response to retrieve the "
    "remainder of the results. Continuing with the provided token results in an inconsistent list - objects "
    "that were created, modified, or deleted between the time the first chunk was returned and now may show "
    "up in the list."
)

MATCH_NEEDS_RV = (
    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
)
MATCH_WITH_CONTINUE = (
    "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"
)
EXACT_ZERO = (
    'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
)
LIST_SEND_INITIAL = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"
WATCH_MATCH_FORBIDDEN = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch"
WATCH_MATCH_NEEDS_INITIAL = f"{WATCH_MATCH_FORBIDDEN} unless sendInitialEvents is provided"
WATCH_INITIAL_NEEDS_MATCH = (
    "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
)
WATCH_INITIAL_NEEDS_GATE = (
    "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature "
    "gate is enabled"
)


def invalid_options(causes: Sequence[str]) -> str:
    """Message of the 422 that names every illegal option."""
    detail = causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]"
    return f'ListOptions.meta.k8s.io "" is invalid: {detail}'


def match_unknown(value: str, supported: Sequence[str] = ("", "Exact", "NotOlderThan")) -> str:
    """Cause of the 422 for a resourceVersionMatch that nobody knows."""
    values = ", ".join(f'"{one}"' for one in supported)
    return f'resourceVersionMatch: Unsupported value: "{value}": supported values: {values}'


def invalid_rv(value: str) -> str:
    """What Go's ParseUint says; the bare 500 of the cache up to 1.32."""
    return f'resourceVersion: Invalid value: "{value}": strconv.ParseUint: parsing "{value}": invalid syntax'


def invalid_rv_request(value: str) -> str:
    """The 400 of the etcd store (any version) and of every path from 1.33 on."""
    return f"invalid resource version: {invalid_rv(value)}"


def too_old_rv(requested: int, oldest_watch_rv: int) -> str:
    """The watch cache's 410; `oldest_watch_rv` is one below the first revision that its buffer can send."""
    return f"too old resource version: {requested} ({oldest_watch_rv})"


def too_large_rv(requested: int, current: int) -> str:
    """The 504 for a revision that cache or etcd has not reached."""
    return f"Timeout: Too large resource version: {requested}, current: {current}"
