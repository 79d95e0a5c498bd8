"""Requests to a Store and its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ktui.storage.objects import EVERYTHING, SelectionPredicate, StoredObject

PageRule = Literal["constant", "doubling"]

MAX_PAGE = 10_000  # kube-apiserver: maxLimit
_FIRST_CHUNK = 500
_CHUNK_BYTES = 8 << 20


def next_page(limit: int, rule: PageRule) -> int:
    """Return the size of the page after an incomplete one of `limit` keys.

    kube-apiserver up to 1.23 keeps the client's limit; 1.24+ doubles it up to 10,000.
    """
    return limit if rule == "constant" or limit >= MAX_PAGE else min(limit * 2, MAX_PAGE)


class Chunks:
    """Chunk sizes for reading a whole range in responses of about 8 MiB, estimated from the values read so
    far.

    kube-apiserver reads an unlimited list with one Range; with 100,000 pods that is one response of 600 MB,
    which overloads etcd and ktui. All chunks have the first one's revision.
    """

    def __init__(self, most: int = MAX_PAGE) -> None:
        self._most = most
        self.size = min(_FIRST_CHUNK, most)
        self._keys = 0
        self._bytes = 0

    def record(self, keys: int, size: int) -> None:
        """Record a response: its number of keys and its bytes of values."""
        self._keys += keys
        self._bytes += size
        if self._bytes:
            fitting = _CHUNK_BYTES * self._keys // self._bytes
            self.size = max(1, min(fitting, self.size * 4, self._most))


@dataclass(frozen=True, slots=True)
class StoreListRequest:
    """A list of one collection, or of one object if `name` is given.

    `revision` 0: the current one. `start_key` is relative to the collection, as in a continue token. etcd
    must have reached `minimum_rv`. `limit` 0: no limit. `stream`: as a RangeStream, if etcd has it.
    `counted`: a page has the number of remaining objects, although a shard filters them (1.36).
    """

    namespace: str | None = None
    name: str | None = None
    selection: SelectionPredicate = EVERYTHING
    limit: int = 0
    revision: int = 0
    start_key: str = ""
    minimum_rv: int = 0
    page_rule: PageRule = "doubling"
    stream: bool = False
    counted: bool = False


@dataclass(frozen=True, slots=True)
class StoreList:
    """A page of objects. `next_start` is the start of the next page, relative to the collection, "" at the
    end.

    `remaining` is the number of objects after this page; None if selectors make it unknown.
    """

    objects: Sequence[StoredObject]
    rv: int
    next_start: str = ""
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a whole collection at `rv`; `count` is the number of objects in the collection."""

    objects: Sequence[StoredObject]
    rv: int
    count: int


class StoreEvent(NamedTuple):
    """A change at revision `rv`. BOOKMARK: no object, and no further event up to `rv`.

    A DELETED object is the last state with the deletion's rv; `previous` is that state with its own rv, None
    for ADDED.
    """

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: StoredObject | None
    previous: StoredObject | None
    rv: int
