"""Requests to a Cacher and its answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ktui.cacher.watch_events import OutEvent
from ktui.kube.listoptions import ListOptions
from ktui.kube.resources import Resource
from ktui.kube.routing.plan import Plan
from ktui.storage.objects import SelectionPredicate, StoredObject

FELL_BACK = "cache,etcd"


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A LIST. `namespace` and `name` are those of the URL (None: all); `selection` holds the selectors."""

    namespace: str | None
    name: str | None
    options: ListOptions
    selection: SelectionPredicate


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """A WATCH."""

    namespace: str | None
    name: str | None
    options: ListOptions
    selection: SelectionPredicate
    timeout: float | None = None  # seconds
    resource: Resource | None = None  # has the version of its bookmarks; None: the store's
    form: str = ""  # names the client's encoding


class GetAnswer(NamedTuple):
    """The answer to a GET: `object` is None if not found; `rv` is the resourceVersion of cache or etcd."""

    object: StoredObject | None
    rv: int
    plan: Plan
    route: str


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """A LIST's objects in key order and its ListMeta."""

    objects: Sequence[StoredObject]
    rv: int
    continue_: str
    remaining: int | None
    plan: Plan
    route: str  # `cache`, `cache_snapshot`, `etcd`; `cache,etcd`: the cache could not answer, and etcd did


class WatchEvents(Protocol):
    """A WATCH's events, until `close`, its timeout, or an end by the server.

    `buffered` of `capacity` events wait for the client (`capacity` 0: events never wait). `live` is True once
    the initial and the missed events have been sent; `on_live` is called then.
    """

    on_live: Callable[[], None]

    @property
    def delivered(self) -> int: ...
    @property
    def bookmarks(self) -> int: ...
    @property
    def cause(self) -> str: ...
    @property
    def buffered(self) -> int: ...
    @property
    def capacity(self) -> int: ...
    @property
    def live(self) -> bool: ...

    def batches(self) -> AsyncIterator[list[OutEvent]]: ...

    def close(self, cause: str) -> None: ...


class WatchAnswer(NamedTuple):
    """An accepted WATCH. Errors from here on are ERROR events in the stream."""

    plan: Plan
    route: str
    stream: WatchEvents
