"""What the routing rules are asked and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Route(StrEnum):
    """Where the answer comes from."""

    CACHE = "cache"
    CACHE_SNAPSHOT = "cache_snapshot"
    ETCD = "etcd"
    NONE = "none"  # rejected before storage was asked

    @property
    def public(self) -> str:
        """`cache`, `etcd` or `none`: a snapshot belongs to the cache."""
        return "cache" if self is Route.CACHE_SNAPSHOT else self.value


class Readiness(StrEnum):
    """State of one resource's watch cache."""

    READY = "ready"
    INITIALIZING = "initializing"
    REINITIALIZING = "reinitializing"
    DISABLED = "disabled"  # events, `--watch-cache=false`


class TokenState(StrEnum):
    """What a continue token turned out to be."""

    NONE = "none"
    VALID = "valid"
    GARBAGE = "garbage"


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """The parts of a LIST that routing looks at.

    `resource_version` is the raw text ("" when unset, possibly garbage).
    `selectors` excludes metadata.name / metadata.namespace narrowing;
    `recursive` is False when a metadata.name selector was turned into one key.
    """

    resource_version: str = ""
    match: str = ""
    limit: int = 0
    token: TokenState = TokenState.NONE
    token_rv: int = 0  # -1: "continue at latest"
    selectors: bool = False
    recursive: bool = True
    send_initial_events: bool = False


@dataclass(frozen=True, slots=True)
class WatchQuestion:
    """The parts of a WATCH that routing looks at."""

    resource_version: str = ""
    match: str = ""
    bookmarks: bool = False
    send_initial_events: bool | None = None


@dataclass(frozen=True, slots=True)
class CacheState:
    """What the decision may know of the cache and of etcd.

    `etcd_rv` and `compact_rv` are None where nobody asked etcd (the live
    server does not before it decides); then nothing is predicted from them.
    `oldest_snapshot_rv` is None when no snapshot is retained.
    `oldest_watch_rv` is the smallest resourceVersion a WATCH may start from.
    """

    readiness: Readiness = Readiness.READY
    cache_rv: int = 0
    progress: bool = True
    oldest_snapshot_rv: int | None = None
    oldest_watch_rv: int = 0
    etcd_rv: int | None = None
    compact_rv: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One predicate of the walk: what it asked, the value it saw, whether it decided."""

    rule: str
    saw: str
    taken: bool


@dataclass(frozen=True, slots=True)
class RouteError:
    """An error that the rules foresee (the Status that the client gets)."""

    code: int
    reason: str
    message: str
    retry_after: int = 0
    in_stream: bool = False  # WATCH: an ERROR event inside a 200 answer


@dataclass(frozen=True, slots=True)
class Decision:
    """Route, the rules that led there, and what the client may expect.

    `reasons` are ids of `routing.reasons.REASONS`, most telling first. Values of
    `consistency`, `wait`, `list_rv`, `etcd_ops`, `fallback` are those of the
    outcomes in the routing facts (e.g. `linearizable`, `up_to_3s`).
    """

    route: Route
    reasons: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    limit_honoured: bool | None = None
    consistency: str | None = None
    wait: str = "none"
    list_rv: str | None = None
    etcd_ops: tuple[str, ...] = ()
    error: RouteError | None = None
    fallback: str | None = None

    @property
    def reason_id(self) -> str:
        return self.reasons[0]
