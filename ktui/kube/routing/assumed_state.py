"""An assumed state of cache and etcd in which a given revision has a given age."""

from __future__ import annotations

from enum import StrEnum

from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.parameters import TokenState
from ktui.kube.routing.request import ReadRequest
from ktui.kube.routing.resource_version import parse_rv


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
