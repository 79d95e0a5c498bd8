"""Errors of the routing rules, as the Status that clients get."""

from __future__ import annotations

import math
from collections.abc import Callable

from ktui.kube import status
from ktui.kube.golang.formatting import NumError, parse_uint
from ktui.kube.listoptions import ListOptions
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour

FUTURE_REVISION = "etcdserver: mvcc: required revision is a future revision"
BAD_CONTINUE = "invalid continue token: continue key is not valid"


def invalid_options(
    validate: Callable[[ListOptions, Behaviour], None], options: ListOptions, behaviour: Behaviour
) -> StatusError:
    """Return the 422 for options that `validate` rejects, with every cause in its message."""
    try:
        validate(options, behaviour)
    except StatusError as error:
        return error
    raise AssertionError(f"routing rejects {options}, validation does not")


def bad_continue() -> StatusError:
    """Return the 400 without the decoder's own message, for a plan made without the token's text."""
    return status.bad_request(BAD_CONTINUE)


def bad_rv(text: str) -> StatusError:
    """Return the 400 of the storage layer for an invalid resourceVersion."""
    return status.invalid_resource_version(text, _fault(text))


def bad_rv_in_cache(text: str) -> StatusError:
    """Return the 500 for an invalid resourceVersion in the cache, whose parse error is not an API status.

    LIST up to 1.32; GET up to 1.37; WATCH in every version.
    """
    return status.invalid_resource_version_in_cache(text, _fault(text))


def _fault(text: str) -> str:
    try:
        parse_uint(text)
    except NumError as error:
        return str(error)
    raise AssertionError(f"{text} is a resourceVersion")


def not_ready(state: CacheState, behaviour: Behaviour) -> StatusError:
    """Return the 429 of a cache that is not ready.

    Since 1.33 the delay grows with the downtime, and the message includes the last error.
    """
    if behaviour.minor <= 32:
        return status.storage_initializing()
    # The cap of 30 s is reached after 57 s; much larger exponents would overflow.
    delay = min(max(int(math.exp(0.06 * min(state.downtime_seconds, 60.0))), 1), 30)
    return status.storage_initializing(state.last_error, delay)


def future_revision() -> StatusError:
    """Return the 500 with etcd's own message, passed on unchanged (up to 1.33)."""
    return status.bare_error(FUTURE_REVISION)
