"""WATCHes while they last, and changes on their way to them."""

from __future__ import annotations

from ktui.contract.events.base import Count, Event, Milliseconds, Seconds
from ktui.contract.events.cost import CostEvent


class WatcherOpened(Event, frozen=True, kw_only=True, tag="watcher_opened"):
    """A client's WATCH began; `id` is that of its request, `at` the time of its beginning."""

    id: Count
    resource: str
    since: str  # the resourceVersion that it named, "" for none
    client: str
    namespace: str = ""
    name: str = ""
    selector: str = ""  # labelSelector and fieldSelector as the client wrote them
    form: str = ""  # "Table", "PartialObjectMetadata"; "" for the object itself
    route: str = ""  # cache | etcd
    timeout: Seconds = 0.0  # seconds that the server lets it last
    seats: Count = 0  # that it takes until it is live


class WatcherState(CostEvent, frozen=True, kw_only=True, tag="watcher"):  # type: ignore[misc]
    """How one WATCH stands, and its cost so far: the figures that its RequestFinished will carry.

    At most once a second a watcher, and only when its numbers have moved.
    """

    id: Count
    resource: str
    buffered: Count = 0  # events that it has not read yet
    capacity: Count = 0  # events that may wait for it before it counts as too slow; 0: no bound
    delivered: Count = 0  # events sent since it began, bookmarks and initial events among them
    bookmarks: Count = 0
    made: Count = 0  # of the delivered, those that were encoded for it
    shared: Count = 0  # of the delivered, those whose encoding another watcher had caused before
    live: bool = False  # past the initial events and the replay of the ring
    bytes: Count = 0  # sent since it began
    initial: Count = 0  # events sent before it was live
    initial_bytes: Count = 0
    initial_ms: Milliseconds = 0.0  # from the request's arrival until they (without any, the head) were out


class WatcherClosed(Event, frozen=True, kw_only=True, tag="watcher_closed"):
    id: Count
    resource: str
    delivered: Count
    bookmarks: Count = 0
    cause: str = ""
    made: Count = 0
    shared: Count = 0


class FanOut(Event, frozen=True, kw_only=True, tag="fan_out"):
    """One change on its way to the watchers. At most once a second a resource: a sample."""

    resource: str
    change: str  # ADDED | MODIFIED | DELETED
    rv: Count
    previous_rv: Count = 0  # of the object before the change
    namespace: str = ""
    name: str = ""
    watchers: Count = 0  # all that are live on this cache
    concerned: Count = 0  # those that the dispatch index put it to
    delivered: Count = 0  # those that got it, after their selectors
    leaving: Count = 0  # of these, those whose selector a MODIFIED object has left
    tables: Count = 0  # of these, those who take a Table or PartialObjectMetadata
    plain_forms: Count = 0  # different encodings that the others ask for
    table_forms: Count = 0
    encodings: Count = 0  # encodings made
