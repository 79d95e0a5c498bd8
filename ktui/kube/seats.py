"""Flow-control seats: the share of the server's concurrency that a request takes.

kube-apiserver's list work estimator (since 1.23, by size since 1.34). It reads the options as the client
wrote them, before the server sets defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from ktui.kube.listoptions import ListOptions
from ktui.kube.versions import Behaviour

UNKNOWN_AVERAGE = 1_500_000
"""Assumed bytes of an object before any object was sized: etcd's request limit."""

_OBJECTS_PER_SEAT = 100
_BYTES_PER_SEAT = 100_000
_CACHE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class ListWork:
    """Input of the seat estimator.

    `objects` is the number of stored objects of the resource, None if never counted. `average_bytes` is the
    average stored size, 0 if unknown. `single` is a LIST narrowed to one name.
    """

    objects: int | None
    average_bytes: int = 0
    limit: int = 0
    from_cache: bool = False
    selectors: bool = False
    single: bool = False


class SeatRange(NamedTuple):
    """Fewest and most seats of a request, whatever number of objects is stored."""

    min: int
    max: int


def levels_cap_seats(behaviour: Behaviour) -> bool:
    """Return True if a queuing priority level caps the seats of one request, as since 1.25."""
    return behaviour.minor >= 25


def max_seats(behaviour: Behaviour, priority_level_max: int | None = None) -> int:
    """Return the most seats that one request may take; `levels_cap_seats` says if a level caps them."""
    most = 100 if behaviour.enabled("SizeBasedListCostEstimate") else 10
    capped = priority_level_max is not None and levels_cap_seats(behaviour)
    return min(most, priority_level_max or most) if capped else most


def priority_level_max(nominal_seats: int, hand_size: int) -> int:
    """The cap of a queuing priority level (1.25+): 15 % of it, and one queue's fair share of the hand."""
    return max(1, min(math.ceil(0.15 * nominal_seats), nominal_seats // hand_size))


def list_from_cache(behaviour: Behaviour, options: ListOptions, *, progress: bool) -> bool:
    """Return True if the estimator assumes that the cache will answer.

    The estimator ignores snapshots (a continued or exact LIST counts as etcd's) and does not know whether the
    resource has a cache.
    """
    resource_version, match, limit = options.resource_version, options.resource_version_match, options.limit
    if behaviour.minor >= 33 and match:
        return match == "NotOlderThan"  # the delegator checks the match first, even with a token
    if options.continue_ or match not in ("", "NotOlderThan"):
        return False
    if resource_version == "":
        gate = behaviour.enabled("ConsistentListFromCache")
        return gate and (limit <= 0 if behaviour.minor <= 30 else progress)
    if limit > 0 and resource_version != "0":
        return match == "NotOlderThan" and behaviour.minor >= 31
    return True


def work_of(
    behaviour: Behaviour,
    options: ListOptions,
    *,
    single: bool,
    progress: bool,
    objects: int | None = None,
    average_bytes: int = 0,
) -> ListWork:
    """The estimator's input for a LIST or WATCH over `objects` (None: never counted), from its options."""
    return ListWork(
        objects=objects,
        average_bytes=average_bytes,
        limit=max(options.limit, 0),
        from_cache=list_from_cache(behaviour, options, progress=progress),
        selectors=bool(options.label_selector or options.field_selector),
        single=single,
    )


def list_seats(behaviour: Behaviour, work: ListWork, priority_level_max: int | None = None) -> int:
    """Return the seats of a LIST; 0 without flow control (1.19)."""
    if not behaviour.enabled("APIPriorityAndFairness"):
        return 0
    if behaviour.minor <= 22 or (work.single and not behaviour.enabled("SizeBasedListCostEstimate")):
        return 1
    most = max_seats(behaviour, priority_level_max)
    if work.objects is None:
        return 1
    by_size = behaviour.enabled("SizeBasedListCostEstimate")
    seats = _by_size(work, work.objects) if by_size else _by_count(work, work.objects)
    return min(max(seats, 1), most)


def _requested(work: ListWork, objects: int) -> int:
    return work.limit if 0 < work.limit < objects else objects


def _by_count(work: ListWork, objects: int) -> int:
    requested = _requested(work, objects)
    if work.from_cache:
        cost = objects
    elif work.selectors:
        cost = objects + requested
    else:
        cost = 2 * requested
    return math.ceil(cost / _OBJECTS_PER_SEAT)


def _by_size(work: ListWork, objects: int) -> int:
    requested = _requested(work, objects)
    if work.single:
        read = 1
    elif work.selectors and not work.from_cache:
        read = max(requested, objects // 2)
    else:
        read = requested
    average = work.average_bytes if work.average_bytes > 0 or objects == 0 else UNKNOWN_AVERAGE
    size = read * average
    return math.ceil((min(size, _CACHE_BYTES) if work.from_cache else size) / _BYTES_PER_SEAT)


def watch_seats(
    behaviour: Behaviour,
    work: ListWork,
    resource_version: str,
    send_initial_events: bool | None,
    priority_level_max: int | None = None,
) -> int:
    """Return the seats of a WATCH while it starts: 1, or those of the LIST for its initial events."""
    if not behaviour.enabled("APIPriorityAndFairness"):
        return 0
    streaming = behaviour.minor >= 28 and behaviour.enabled("WatchList") and send_initial_events is True
    legacy = behaviour.minor >= 35 and send_initial_events is None and resource_version in ("", "0")
    if not (streaming or legacy):
        return 1
    return list_seats(behaviour, replace(work, from_cache=True), priority_level_max)


# Objects: enough to reach every cap, small enough for an int64.
_MANY = 10**9


def seat_range(seats: Callable[[ListWork], int], work: ListWork) -> SeatRange:
    """Return the seats over an empty resource and over a huge one with large objects."""
    few, many = (replace(work, objects=n, average_bytes=0) for n in (0, _MANY))
    return SeatRange(seats(few), seats(many))
