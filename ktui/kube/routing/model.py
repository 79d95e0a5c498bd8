"""What the routing rules are asked and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


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
    `recursive` is False when a metadata.name selector was turned into one key;
    `send_initial_events` says that the option was given at all;
    `narrowed` that a metadata.namespace selector shrank the prefix: it stays
    in the predicate, so that the request does not count as unfiltered.
    """

    resource_version: str = ""
    match: str = ""
    limit: int = 0
    token: TokenState = TokenState.NONE
    token_rv: int = 0  # -1: "continue at latest"
    selectors: bool = False
    recursive: bool = True
    send_initial_events: bool = False
    narrowed: bool = False


@dataclass(frozen=True, slots=True)
class WatchQuestion:
    """The parts of a WATCH that routing looks at."""

    resource_version: str = ""
    match: str = ""
    bookmarks: bool = False
    send_initial_events: bool | None = None
    has_token: bool = False


@dataclass(frozen=True, slots=True)
class CacheState:
    """What the decision may know of the cache and of etcd.

    `etcd_rv` and `compact_rv` are None where nobody asked etcd (the live
    server does not before it decides); then nothing is predicted from them.
    `oldest_snapshot_rv` is None when no snapshot is retained.
    `oldest_watch_rv` is the smallest resourceVersion a WATCH may start from.
    `downtime_seconds` is for how long the cache has not been ready.
    """

    readiness: Readiness = Readiness.READY
    cache_rv: int = 0
    progress: bool = True
    oldest_snapshot_rv: int | None = None
    oldest_watch_rv: int = 0
    etcd_rv: int | None = None
    compact_rv: int | None = None
    downtime_seconds: float = 0.0


class Step(NamedTuple):
    """One predicate of the walk: what it asked, the value it saw, whether it held.

    `phase` is the function of kube-apiserver that asks, e.g. `shouldDelegateList`.
    """

    rule: str
    saw: str
    taken: bool
    phase: str = ""


@dataclass(frozen=True, slots=True)
class RouteError:
    """An error that the rules foresee (the Status that the client gets).

    `retry_after` is in seconds, 0 for no hint; `in_stream` means an ERROR event
    inside a 200 answer (WATCH).
    """

    code: int
    reason: str
    message: str
    retry_after: int = 0
    in_stream: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """Route, the rules that led there, and what the client may expect.

    `reasons` are ids of `routing.reasons.REASONS`, most telling first. Values of
    `consistency`, `wait`, `list_rv`, `etcd_ops`, `fallback` are those of the
    outcomes in docs/routing.md (e.g. `linearizable`, `up_to_3s`).
    `object_rv` is for a GET: which RV the object bears. `initial_events_defaulted`
    is for a WATCH: the server itself asked for sendInitialEvents (WatchList).
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
    object_rv: str | None = None
    initial_events_defaulted: bool = False

    @property
    def reason_id(self) -> str:
        return self.reasons[0]

    @property
    def probes(self) -> bool:
        """Whether etcd is asked for its present revision first."""
        return "revision_probe" in self.etcd_ops

    @property
    def waits_until_ready(self) -> bool:
        """Whether the request blocks until the cache is filled (up to 1.30)."""
        return self.wait.startswith("until_ready") or "w.notready_wait" in self.reasons

    @property
    def initial_from_cache(self) -> bool:
        """Whether a WATCH begins with the objects that are in the cache."""
        return any(reason.startswith("w.initial_") for reason in self.reasons)

    @property
    def initial_from_etcd(self) -> bool:
        """Whether a WATCH begins with the objects that are in etcd."""
        return "w.etcd_list" in self.reasons
