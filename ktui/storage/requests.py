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

    `revision` 0: the current one. `start_key` is relative to the collection, as in a
    continue token. etcd must have reached `minimum_rv`. `limit` 0: none.
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
    """`next_start` is where the next page begins, relative to the collection, "" at the end.

    `remaining` counts what follows this page; None if selectors make it unknown.
    """

    objects: Sequence[StoredObject]
    rv: int
    next_start: str = ""
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a whole collection at `rv`; `count` is the size of the whole."""

    objects: Sequence[StoredObject]
    rv: int
    count: int


class StoreEvent(NamedTuple):
    """`rv` is the revision of the change. BOOKMARK: no event up to it, no object.

    A DELETED object is the last state at the deletion's rv; `previous` is that state
    at its own rv, None for ADDED.
    """

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: StoredObject | None
    previous: StoredObject | None
    rv: int
