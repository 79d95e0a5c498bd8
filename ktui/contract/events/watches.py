"""Open WATCHes, and changes on their way to them."""

from __future__ import annotations

from ktui.contract.events.base import Count, Event, Milliseconds, Seconds, UnixTime
from ktui.contract.events.cost import CostEvent


class CacheStatus(Event, frozen=True, kw_only=True, tag="cache"):
    """One resource's watch cache. Sent on change, at most 4 times a second per resource."""

    resource: str  # "pods", "ciliumnodes.cilium.io"
    state: str  # cold | initializing | ready | reinitializing | disabled
    rv: Count = 0
    objects: Count = 0
    bytes: Count = 0  # stored bytes of the objects held
    json_bytes: Count = 0  # of their JSON and Table rows, which are kept for the next answers
    json_evicted: Count = 0  # objects whose JSON was dropped to keep within the budget, since start
    oldest_rv: Count = 0
    capacity: Count = 0
    buffered: Count = 0  # events in the event buffer
    events: Count = 0  # received since start
    watchers: Count = 0
    waiting: Count = 0  # readers waiting for a revision
    snapshots: Count = 0
    loaded: Count = 0  # objects read so far while initializing
    loaded_bytes: Count = 0  # their stored bytes
    expected: Count = 0  # objects to read; 0 if unknown
    error: str = ""
    progress_requests: Count = 0
    # Unix time of etcd's last answer, if the cache serves reads although its watch of etcd is behind; else 0.
    stale_since: UnixTime = 0.0
    check: str = ""  # outcome of the last consistency check: success | failure | error; "" before the first
    checked_at: UnixTime = 0.0
    check_ms: Milliseconds = 0.0
    check_objects: Count = 0  # read from etcd by it
    check_bytes: Count = 0
    check_detail: str = ""  # the first difference, or why etcd could not be read


class ProgressTick(Event, frozen=True, kw_only=True, tag="progress_tick"):
    """A cache received a revision by an etcd progress notification, not by an event."""

    resource: str
    rv: Count


class WatcherOpened(Event, frozen=True, kw_only=True, tag="watcher_opened"):
    """A client's WATCH started; `id` is that of its request, `at` its start time."""

    id: Count
    resource: str
    since: str  # the requested resourceVersion, "" for none
    client: str
    namespace: str = ""
    name: str = ""
    selector: str = ""  # labelSelector and fieldSelector as the client wrote them
    form: str = ""  # "Table", "PartialObjectMetadata"; "" for the object itself
    route: str = ""  # cache | etcd
    timeout: Seconds = 0.0  # seconds after which the server ends it
    seats: Count = 0  # seats that it holds until it is live
    observed: bool = False  # known from traces, which do not count its events


class WatcherState(CostEvent, frozen=True, kw_only=True, tag="watcher"):  # type: ignore[misc]
    """The state of one WATCH, and its cost so far: the figures that its RequestFinished will have.

    At most once a second per watcher, and only if its numbers have changed.
    """

    id: Count
    resource: str
    buffered: Count = 0  # events that the client has not read yet
    capacity: Count = 0  # events that may wait for it before it counts as too slow; 0: unbounded
    delivered: Count = 0  # events sent so far, bookmarks and initial events included
    bookmarks: Count = 0
    made: Count = 0  # delivered events that were encoded for this watcher
    shared: Count = 0  # delivered events that were already encoded for another watcher
    live: bool = False  # past the initial events and the replay of the event buffer
    bytes: Count = 0  # sent so far
    initial: Count = 0  # events sent before it was live
    initial_bytes: Count = 0
    initial_ms: Milliseconds = 0.0  # until the last initial event was sent (without any, the headers)


class WatcherClosed(Event, frozen=True, kw_only=True, tag="watcher_closed"):
    """A WATCH ended, for the reason `cause`; the counters are those of WatcherState."""

    id: Count
    resource: str
    delivered: Count
    bookmarks: Count = 0
    cause: str = ""
    made: Count = 0
    shared: Count = 0


class FanOut(Event, frozen=True, kw_only=True, tag="fan_out"):
    """A sample of how one change was sent to the watchers, at most one per second and resource."""

    resource: str
    change: str  # ADDED | MODIFIED | DELETED
    rv: Count
    previous_rv: Count = 0  # of the object before the change
    namespace: str = ""
    name: str = ""
    watchers: Count = 0  # all live watchers of this cache
    concerned: Count = 0  # those matched by the dispatch index
    delivered: Count = 0  # watchers that it was sent to, after their selectors
    leaving: Count = 0  # those of `delivered` whose selector the object no longer matches
    tables: Count = 0  # those of `delivered` with a Table or PartialObjectMetadata
    plain_forms: Count = 0  # different encodings that the others use
    table_forms: Count = 0
    encodings: Count = 0  # encodings made
