"""WATCHes while they last, and changes on their way to them."""

from __future__ import annotations

from ktui.contract.events.base import Event


class WatcherOpened(Event, frozen=True, kw_only=True, tag="watcher_opened"):
    """A client's WATCH began; `id` is that of its request, `at` the time of its beginning."""

    id: int
    resource: str
    since: str  # the resourceVersion that it named, "" for none
    client: str
    namespace: str = ""
    name: str = ""
    selector: str = ""  # labelSelector and fieldSelector as the client wrote them
    form: str = ""  # "Table", "PartialObjectMetadata"; "" for the object itself
    route: str = ""  # cache | etcd
    timeout: float = 0.0  # seconds that the server lets it last
    seats: int = 0  # that it takes until it is live


class WatcherState(Event, frozen=True, kw_only=True, tag="watcher"):
    """How one WATCH stands. At most once a second a watcher, and only when its numbers have moved."""

    id: int
    resource: str
    buffered: int = 0  # events that it has not read yet
    capacity: int = 0  # events that may wait for it before it counts as too slow; 0: no bound
    delivered: int = 0  # events sent since it began, bookmarks and initial events among them
    bookmarks: int = 0
    made: int = 0  # of the delivered, those that were encoded for it
    shared: int = 0  # of the delivered, those whose encoding another watcher had caused before
    live: bool = False  # past the initial events and the replay of the ring
    bytes: int = 0  # sent since it began
    initial: int = 0  # events sent before it was live
    initial_bytes: int = 0
    initial_ms: float = 0.0  # from the request's arrival until they (without any, the head) were out
    # What its request has cost so far: the counters that its RequestFinished will tell at the end.
    fetched: int = 0
    etcd_rpcs: int = 0
    etcd_bytes: int = 0
    cached_bytes: int = 0
    decoded_bytes: int = 0
    cpu_ms: float = 0.0


class WatcherClosed(Event, frozen=True, kw_only=True, tag="watcher_closed"):
    id: int
    resource: str
    delivered: int
    bookmarks: int = 0
    cause: str = ""
    made: int = 0
    shared: int = 0


class FanOut(Event, frozen=True, kw_only=True, tag="fan_out"):
    """One change on its way to the watchers. At most once a second a resource: a sample."""

    resource: str
    change: str  # ADDED | MODIFIED | DELETED
    rv: int
    previous_rv: int = 0  # of the object before the change
    namespace: str = ""
    name: str = ""
    watchers: int = 0  # all that are live on this cache
    concerned: int = 0  # those that the dispatch index put it to
    delivered: int = 0  # those that got it, after their selectors
    leaving: int = 0  # of these, those whose selector a MODIFIED object has left
    tables: int = 0  # of these, those who take a Table or PartialObjectMetadata
    plain_forms: int = 0  # different encodings that the others ask for
    table_forms: int = 0
    encodings: int = 0  # encodings made
