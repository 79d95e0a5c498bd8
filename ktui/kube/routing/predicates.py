"""The predicates of the routing rules, each with a function that formats the values it saw."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

_MOST = 60  # maximum characters of an error message in a decision trace


def _unset(text: str) -> str:
    return text or "unset"


def _pair(first: object, second: str) -> str:
    return f"{first}, {_unset(second)}"


def _either(yes: str, no: str) -> Callable[[bool], str]:
    return lambda holds: yes if holds else no


_gate, _progress = _either("on", "off"), _either("supported", "unsupported")
_key = _either("one key", "a collection")


def _range_stream(supported: bool | None) -> str:
    if supported is None:
        return "assumed: etcd 3.7 and later have it"
    return "supported" if supported else "unimplemented, asked again after 10 minutes"


def _token(state: str, revision: int) -> str:
    if state == "none":
        return "no token"
    if state == "garbage":
        return "a token that cannot be decoded"
    return "a token at latest (-1)" if revision < 0 else f"a token at {revision}"


def _limit(limit: int, rv: str) -> str:
    return f"{_limit_alone(limit)}, {_unset(rv)}"


def _limit_alone(limit: int) -> str:
    return f"limit={limit}" if limit > 0 else "no limit"


def _limit_and_selector(limit: int, unfiltered: bool) -> str:
    return f"{_limit_alone(limit)}, {'no selector' if unfiltered else 'a selector'}"


def _cache_at(requested: object, cache_rv: int) -> str:
    return f"{requested}, cache at {cache_rv}"


def _cut(message: str) -> str:
    return message if len(message) <= _MOST else f"{message[: _MOST - 1]}…"


def _three(value: bool | None) -> str:
    return "unset" if value is None else "true" if value else "false"


class Predicate(Enum):
    """A predicate and its formatter. `write(*seen)` takes `Step.seen`."""

    # API validation
    NOT_UNDERSTOOD = "parameter or selector invalid?", _cut
    FIELD_UNSUPPORTED = "field selector unsupported?", _cut
    SHARDS_NOT_UNDERSTOOD = "shardSelector invalid?", _cut
    MATCH_WITHOUT_RV = "resourceVersionMatch without resourceVersion?", _pair
    MATCH_WITH_CONTINUE = "resourceVersionMatch with continue?", _token
    MATCH_UNKNOWN = "unknown resourceVersionMatch?", str
    EXACT_AT_ZERO = "Exact at resourceVersion 0?", _pair
    LIST_SENDS_INITIAL = "sendInitialEvents on a LIST?", lambda: "set"
    ILLEGAL_OPTIONS = "illegal combination of options?", lambda what: what or "none"
    # storage
    TOKEN_UNDECODABLE = "continue token undecodable?", _token
    RV_WITH_CONTINUE = "resourceVersion with continue?", _unset
    RV_UNPARSABLE = "resourceVersion unparsable?", _unset
    # where to read
    ONE_KEY = "metadata.name narrows to one key?", _key
    NO_CACHE = "resource has a watch cache", str
    RV_UNSET = "resourceVersion unset?", _unset
    RV_ZERO = "resourceVersion 0 (any)?", _unset
    RV_ZERO_OR_UNSET = "resourceVersion 0 or unset?", _unset
    CONTINUE = "continue?", _token
    CONTINUE_LATEST = "token at latest?", _token
    MATCH_EXACT = "resourceVersionMatch=Exact?", _unset
    MATCH_SET = "resourceVersionMatch set?", _unset
    LIMIT_UNLESS_ZERO = "limit with resourceVersion other than 0?", _limit
    LIMIT_WITHOUT_MATCH = "limit with resourceVersion N and no match?", _limit
    LIMIT_WITH_RV = "limit with resourceVersion N?", _limit
    CONSISTENT_READS_OFF = "ConsistentListFromCache", _gate
    SNAPSHOTS_OFF = "ListFromCacheSnapshot", _gate
    PROGRESS_UNSUPPORTED = "etcd progress requests", _progress
    SINGLE_KEY = "single key?", _key
    EXACT_AHEAD = "exact revision ahead of the cache?", _cache_at
    BEFORE_SNAPSHOTS = (
        "older than every snapshot?",
        lambda asked, oldest: f"{asked}, {'no snapshot' if oldest is None else f'oldest snapshot {oldest}'}",
    )
    LOST_PAGE = "1.33.0–1.33.2: consistent read with a limit?", str
    # the cache
    NOT_READY = "watch cache ready", str
    CHEAP_PAGE = "limit and no selector?", _limit_and_selector
    CACHE_BEHIND = "cache behind resourceVersion?", _cache_at
    CACHE_BEHIND_EXACT = "cache behind the exact revision?", _cache_at
    PROBE = "revision probe: wait until the cache has seen it", lambda cache_rv: f"cache at {cache_rv}"
    # etcd
    COMPACTED = "revision compacted?", lambda requested, oldest: f"{requested}, compacted up to {oldest}"
    AHEAD_OF_ETCD = "ahead of etcd as well?", lambda requested, newest: f"{requested}, etcd at {newest}"
    LIMIT_AND_SELECTOR = "limit with a selector?", _limit_and_selector
    NO_RANGE_STREAM = "etcd without RangeStream?", _range_stream
    # a WATCH
    WATCH_LIST_DEFAULTS = (
        "WatchList asks for initial events by itself?",
        lambda on, rv: f"gate {_gate(on)}, resourceVersion {_unset(rv)}",
    )
    SENDS_INITIAL = "sendInitialEvents?", _three
    SENDS_NO_INITIAL = "sendInitialEvents=false?", _three
    RV_UNSET_OR_ZERO = "resourceVersion unset or 0?", _unset
    BEFORE_EVENTS = (
        "older than the event buffer?",
        lambda requested, oldest: f"{requested}, buffer starts after {oldest}",
    )
    AHEAD_OF_CACHE = "ahead of the cache?", _cache_at

    def __init__(self, parameters: str, write: Callable[..., str]) -> None:
        self.parameters = parameters
        self.write = write


# What the cache needs. They are shown as met or not, and not as a question for its absence.
_NEEDS = frozenset(need.parameters for need in (
    Predicate.NO_CACHE, Predicate.CONSISTENT_READS_OFF, Predicate.SNAPSHOTS_OFF,
    Predicate.PROGRESS_UNSUPPORTED, Predicate.NOT_READY,
))  # fmt: skip


def result(rule: str, taken: bool) -> str:
    """Return the result of a step as it is shown: yes or no, and of a need whether it is met."""
    if rule in _NEEDS:
        return "✗" if taken else "✓"
    return "yes" if taken else "no"
