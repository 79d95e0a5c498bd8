"""The errors that the routing rules foresee; their texts are those of `ktui.kube.status`."""

from __future__ import annotations

from collections.abc import Callable

from ktui.kube import status
from ktui.kube.golang.numbers import NumError, parse_uint
from ktui.kube.listoptions import ListOptions
from ktui.kube.routing.model import RouteError
from ktui.kube.versions import Behaviour

FUTURE_REVISION = "etcdserver: mvcc: required revision is a future revision"
BAD_CONTINUE = "invalid continue token: continue key is not valid"


def of_status(error: status.StatusError, *, in_stream: bool = False) -> RouteError:
    """The same error as routing tells it; `in_stream`: as the only event of a watch."""
    return RouteError(error.code, error.reason, error.message, error.retry_after, in_stream)


def invalid_options(
    validate: Callable[[ListOptions, Behaviour], None], options: ListOptions, behaviour: Behaviour
) -> RouteError:
    """The 422 of options that `validate` refuses, every cause in its text."""
    try:
        validate(options, behaviour)
    except status.StatusError as error:
        return of_status(error)
    raise AssertionError(f"routing refuses {options}, validation does not")


def bad_continue() -> RouteError:
    """400; what exactly is wrong with a token only its decoder can tell."""
    return of_status(status.bad_request(BAD_CONTINUE))


def rv_with_continue() -> RouteError:
    return of_status(status.continue_with_resource_version())


def bad_rv(text: str) -> RouteError:
    """400 of the storage layer."""
    return of_status(status.invalid_resource_version(text, _fault(text)))


def bad_rv_in_cache(text: str) -> RouteError:
    """500: in the cache the parse error is no API status (LIST up to 1.32, GET and WATCH always)."""
    return of_status(status.invalid_resource_version_in_cache(text, _fault(text)))


def _fault(text: str) -> str:
    try:
        parse_uint(text)
    except NumError as error:
        return str(error)
    raise AssertionError(f"{text} is a resourceVersion")


def not_ready(retry_after: int) -> RouteError:
    """429 of a cache that is being filled."""
    return of_status(status.storage_initializing(retry_after=retry_after))


def list_too_old() -> RouteError:
    return of_status(status.list_too_old())


def continue_expired() -> RouteError:
    """410; the fresh token is made where the old one is known."""
    return of_status(status.continue_expired(""))


def too_large(requested: int, current: int, *, retry_after: int = 0, in_stream: bool = False) -> RouteError:
    """504; the cache hints at a retry after 1 s, etcd does not."""
    return of_status(status.too_large_rv(requested, current, retry_after), in_stream=in_stream)


def future_revision() -> RouteError:
    """500: etcd's own words, not yet translated (up to 1.33)."""
    return of_status(status.bare_error(FUTURE_REVISION))


def too_old(requested: int, oldest_watch_rv: int) -> RouteError:
    """410 of the watch cache; `oldest_watch_rv` is one below the first revision its buffer can send."""
    return of_status(status.too_old_resource_version(requested, oldest_watch_rv), in_stream=True)


def watch_too_old() -> RouteError:
    return of_status(status.watch_too_old(), in_stream=True)


def no_progress() -> RouteError:
    return of_status(status.watch_progress_unsupported(), in_stream=True)
