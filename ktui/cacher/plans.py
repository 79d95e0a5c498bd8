"""From a request to the question that routing is asked, and from its decision to numbers."""

from __future__ import annotations

from dataclasses import dataclass

from ktui.cacher.scope import Scope
from ktui.kube import continuetoken
from ktui.kube.continuetoken import ContinueToken
from ktui.kube.listoptions import ListOptions
from ktui.kube.routing.model import Decision, ListQuestion, TokenState, WatchQuestion
from ktui.kube.status import StatusError

PROBE = "revision_probe"


@dataclass(frozen=True, slots=True)
class Token:
    """A continue token as it was found: decoded, or the 400 that it deserves."""

    state: TokenState = TokenState.NONE
    rv: int = 0
    start: str = ""
    error: StatusError | None = None


def read_token(text: str) -> Token:
    """Decode `continue`; never raises."""
    if not text:
        return Token()
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


def exact_rv(decision: Decision, options: ListOptions, token: Token) -> int | None:
    """The resourceVersion that must be read exactly; None when a newer one will do."""
    if decision.consistency != "exact_rv":
        return None
    return token.rv if token.state is TokenState.VALID else int(options.resource_version)


def minimum_rv(options: ListOptions) -> int:
    """The resourceVersion that an answer must not be older than; 0 for any or the newest."""
    return int(options.resource_version or 0)


def probes(decision: Decision) -> bool:
    """Whether etcd is asked for its present revision first."""
    return PROBE in decision.etcd_ops


def waits_until_ready(decision: Decision) -> bool:
    """Whether the request blocks until the cache is filled (up to 1.30)."""
    return decision.wait.startswith("until_ready") or "w.notready_wait" in decision.reasons
