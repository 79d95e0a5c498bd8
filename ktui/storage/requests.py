"""Requests to a Store and its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ktui.storage.objects import StoredObject
from ktui.storage.paging import PageRule
from ktui.storage.selection import EVERYTHING, SelectionPredicate


@dataclass(frozen=True, slots=True)
class StoreListRequest:
    """A list of one collection, or of one object if `name` is given.

    `revision` 0: the current one. `start_key` is relative to the collection, as in a continue token. etcd
    must have reached `minimum_rv`. `limit` 0: no limit.
    """

    namespace: str | None = None
    name: str | None = None
    selection: SelectionPredicate = EVERYTHING
    limit: int = 0
    revision: int = 0
    start_key: str = ""
    minimum_rv: int = 0
    page_rule: PageRule = "doubling"


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
