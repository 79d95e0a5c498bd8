"""The inputs of the routing rules, from a request's options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ktui.kube import continuetoken
from ktui.kube.continuetoken import ContinueToken
from ktui.kube.listoptions import ListOptions
from ktui.kube.routing.scope import RequestScope
from ktui.kube.status import StatusError


class TokenState(StrEnum):
    """The state of a continue token."""

    NONE = "none"
    VALID = "valid"
    GARBAGE = "garbage"


@dataclass(frozen=True, slots=True)
class DecodedToken:
    """A decoded continue token, or the 400 for an invalid token. `rv` -1: continue at the latest revision."""

    state: TokenState = TokenState.NONE
    rv: int = 0
    start: str = ""
    error: StatusError | None = None


NO_TOKEN = DecodedToken()


def read_token(text: str) -> DecodedToken:
    """Decode `continue`; never raises."""
    if not text:
        return NO_TOKEN
    try:
        decoded: ContinueToken = continuetoken.decode(text)
    except StatusError as error:
        return DecodedToken(TokenState.GARBAGE, error=error)
    return DecodedToken(TokenState.VALID, decoded.rv, decoded.start)


@dataclass(frozen=True, slots=True)
class ListParameters:
    """The parts of a LIST that routing depends on.

    `resource_version` is the raw text ("" if unset, possibly invalid). `selectors`: selectors remain after
    metadata.name and metadata.namespace narrowed the read. `recursive` is False if a metadata.name selector
    was turned into a single key. `send_initial_events`: the option was given. `narrowed`: a
    metadata.namespace selector narrowed the prefix; it stays in the predicate, so the request does not count
    as unfiltered.
    """

    resource_version: str = ""
    match: str = ""
    limit: int = 0
    token: DecodedToken = NO_TOKEN
    selectors: bool = False
    recursive: bool = True
    send_initial_events: bool = False
    narrowed: bool = False


@dataclass(frozen=True, slots=True)
class WatchParameters:
    """The parts of a WATCH that routing depends on."""

    resource_version: str = ""
    match: str = ""
    bookmarks: bool = False
    send_initial_events: bool | None = None
    has_token: bool = False


def list_parameters(options: ListOptions, scope: RequestScope, token: DecodedToken) -> ListParameters:
    """Return the parts of a LIST that routing depends on."""
    return ListParameters(
        resource_version=options.resource_version,
        match=options.resource_version_match,
        limit=options.limit,
        token=token,
        selectors=scope.selective,
        recursive=not scope.single,
        send_initial_events=options.send_initial_events is not None,
        narrowed=scope.narrowed,
    )


def watch_parameters(options: ListOptions) -> WatchParameters:
    """Return the parts of a WATCH that routing depends on."""
    return WatchParameters(
        resource_version=options.resource_version,
        match=options.resource_version_match,
        bookmarks=options.allow_watch_bookmarks,
        send_initial_events=options.send_initial_events,
        has_token=bool(options.continue_),
    )
