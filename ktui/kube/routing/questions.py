"""From a request's options to the question that the rules are asked."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.kube import continuetoken
from ktui.kube.continuetoken import ContinueToken
from ktui.kube.listoptions import ListOptions
from ktui.kube.routing.model import ListQuestion, TokenState, WatchQuestion
from ktui.kube.routing.scope import Scope
from ktui.kube.status import StatusError


@dataclass(frozen=True, slots=True)
class Token:
    """A continue token as it was found: decoded, or the 400 that it deserves."""

    state: TokenState = TokenState.NONE
    rv: int = 0
    start: str = ""
    error: StatusError | None = None


NO_TOKEN = Token()


def read_token(text: str) -> Token:
    """Decode `continue`; never raises."""
    if not text:
        return NO_TOKEN
    try:
        decoded: ContinueToken = continuetoken.decode(text)
    except StatusError as error:
        return Token(TokenState.GARBAGE, error=error)
    return Token(TokenState.VALID, decoded.rv, decoded.start)


def list_question(options: ListOptions, scope: Scope, token: Token) -> ListQuestion:
    """The parts of a LIST that routing looks at."""
    return ListQuestion(
        resource_version=options.resource_version,
        match=options.resource_version_match,
        limit=options.limit,
        token=token.state,
        token_rv=token.rv,
        selectors=scope.selective,
        recursive=not scope.single,
        send_initial_events=options.send_initial_events is not None,
        narrowed=scope.narrowed,
    )


def watch_question(options: ListOptions) -> WatchQuestion:
    """The parts of a WATCH that routing looks at."""
    return WatchQuestion(
        resource_version=options.resource_version,
        match=options.resource_version_match,
        bookmarks=options.allow_watch_bookmarks,
        send_initial_events=options.send_initial_events,
        has_token=bool(options.continue_),
    )
