"""Inputs of a plan besides the request: the state of the watch cache and of etcd."""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

from ktui.kube.routing.parameters import TokenState, parse_rv
from ktui.kube.routing.request import ReadRequest

_NUMBER = r"(0|[1-9]\d{0,17})"
_PART = r"(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)"
_SEMANTIC = re.compile(
    rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PART}(?:\.{_PART})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)

# Major, minor, patch; False for a pre-release, which sorts before its release.
_Version = tuple[int, int, int, bool]
_FIXED_IN_3_4: _Version = (3, 4, 31, True)
_BROKEN_AGAIN: _Version = (3, 5, 0, True)
_FIXED_IN_3_5: _Version = (3, 5, 13, True)


def is_etcd_version(version: str) -> bool:
    """Return True for a semantic version."""
    return _SEMANTIC.fullmatch(version.strip()) is not None


def etcd_supports_progress(version: str) -> bool:
    """Apply kube-apiserver's rule (1.31+): True for 3.4.31+ within 3.4 and for 3.5.13+; False if unparsable.

    Older versions may answer before they have sent all events up to the revision that the answer names.
    Pre-releases compare as semantic versions do: 3.5.13-rc.1 comes before 3.5.13.
    """
    found = _SEMANTIC.fullmatch(version.strip())
    if not found:
        return False
    parsed: _Version = int(found[1]), int(found[2]), int(found[3]), not found[4]
    return _FIXED_IN_3_4 <= parsed < _BROKEN_AGAIN or parsed >= _FIXED_IN_3_5


class Readiness(StrEnum):
    """State of one resource's watch cache."""

    READY = "ready"
    INITIALIZING = "initializing"
    REINITIALIZING = "reinitializing"
    DISABLED = "disabled"  # events, `--watch-cache=false`


class CacheState(Struct, frozen=True):
    """The watch cache of one resource and the etcd behind it.

    `etcd_rv` and `compact_rv` are None if unknown (a running server does not ask etcd
    before it plans); then nothing is predicted from them.
    `progress`: etcd's progress notifications can be trusted.
    `range_stream`: etcd implements RangeStream (3.7 and later); None if it was not asked yet.
    `oldest_snapshot_rv` is None if no snapshot is retained.
    `oldest_watch_rv` is the smallest resourceVersion from which a WATCH may start.
    `downtime_seconds` is how long the cache has not been ready, `last_error` the reason.
    """

    readiness: Readiness = Readiness.READY
    cache_rv: int = 0
    progress: bool = True
    oldest_snapshot_rv: int | None = None
    oldest_watch_rv: int = 0
    etcd_rv: int | None = None
    compact_rv: int | None = None
    downtime_seconds: float = 0.0
    last_error: str = ""
    range_stream: bool | None = None


class RevisionAge(StrEnum):
    """Age of a revision relative to etcd and the cache.

    COMPACTED in etcd; OLD but known to the cache; CURRENT: the cache's newest; AHEAD of the cache but in
    etcd; BEYOND etcd's newest.
    """

    COMPACTED = "compacted"
    OLD = "old"
    CURRENT = "current"
    AHEAD = "ahead"
    BEYOND = "beyond"


# Only the order matters: compacted < compaction < watchable < old < cache < ahead < etcd < beyond.
_COMPACTED_UP_TO, _OLDEST_WATCH, _CACHE, _ETCD = 50, 60, 100, 120
_REVISION = {
    RevisionAge.COMPACTED: 40,
    RevisionAge.OLD: 80,
    RevisionAge.CURRENT: _CACHE,
    RevisionAge.AHEAD: 110,
    RevisionAge.BEYOND: 500,
}


class AssumedRevision(int):
    """An assumed revision: only its order relative to others has a meaning, its number has none."""

    def __str__(self) -> str:
        return "(not known)"


def assumed_state(
    request: ReadRequest,
    *,
    readiness: Readiness = Readiness.READY,
    progress: bool = True,
    rv_age: RevisionAge = RevisionAge.CURRENT,
    token_age: RevisionAge = RevisionAge.CURRENT,
    snapshot: bool = True,
    range_stream: bool | None = None,
) -> CacheState:
    """Return a state in which the request's resourceVersion (or else its token's) has the given age.

    `snapshot`: a snapshot as old as `old` is retained; one at the cache's own revision always is.
    """
    shift = _shift(request, rv_age, token_age)

    def at(revision: int) -> int:
        return AssumedRevision(max(revision + shift, 0))

    return CacheState(
        readiness=readiness,
        cache_rv=at(_CACHE),
        progress=progress,
        range_stream=range_stream,
        oldest_snapshot_rv=at(_REVISION[RevisionAge.OLD] if snapshot else _CACHE),
        oldest_watch_rv=at(_OLDEST_WATCH),
        etcd_rv=at(_ETCD),
        compact_rv=at(_COMPACTED_UP_TO),
    )


def _shift(request: ReadRequest, rv_age: RevisionAge, token_age: RevisionAge) -> int:
    revision = parse_rv(request.options.resource_version)
    if revision:
        return revision - _REVISION[rv_age]
    if request.token.state is TokenState.VALID and request.token.rv > 0:
        return request.token.rv - _REVISION[token_age]
    return 0
