"""What is inside a cache, for those who look at it: plain pages, newest events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ktui.cacher.events import CacheEvent
from ktui.cacher.watch_cache import WatchCache

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject


@dataclass(frozen=True, slots=True)
class ObjectsPage:
    """Some of a cache's objects in key order; `total` is how many there are (that match the filter)."""

    rv: int
    total: int
    objects: Sequence[StoredObject]


def objects_page(cache: WatchCache, offset: int = 0, limit: int = 200, text: str = "") -> ObjectsPage:
    """`limit` objects from the `offset`th on, of those whose `namespace/name` contains `text`."""
    if not text:
        return ObjectsPage(cache.rv, len(cache.store), cache.store.page(offset, limit))
    found = [obj for obj in cache.store.all() if text in obj.name or text in f"{obj.namespace}/{obj.name}"]
    return ObjectsPage(cache.rv, len(found), found[offset : offset + limit])


def newest_events(cache: WatchCache, limit: int = 200) -> Sequence[CacheEvent]:
    """The newest events of the ring, newest first."""
    return cache.ring.newest(limit)
