"""Snapshots of one watch cache: its objects at the resourceVersion of any buffered event.

kube-apiserver keeps a copy-on-write B-tree per event (ListFromCacheSnapshot). Here
the event buffer already holds each event with the object before it, so a snapshot is
the current store with the later events undone. Which snapshots exist
follows kube-apiserver 1.36: one of the initial list and one per event; those
older than the oldest buffered event are dropped once the buffer is full, those below a
compaction at once. A quiet resource then has none until its next event.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ktui.cacher.event_buffer import EventBuffer
from ktui.cacher.sorted_store import SortedStore

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

# Clients that page through old revisions at the same time.
MAX_OVERLAYS = 16

Overlay = dict[str, "StoredObject | None"]  # key → the object then, None: there was none

_key_of = attrgetter("key")


class SnapshotPage(NamedTuple):
    """The first objects of a key range at an earlier revision; `total` is how many there were."""

    objects: list[StoredObject]
    total: int


class Snapshots:
    """Earlier states of a cache. `follow` must get every event after the event buffer has it."""

    def __init__(self, store: SortedStore, ring: EventBuffer) -> None:
        self._store = store
        self._ring = ring
        self._floor = 0
        self._list_rv: int | None = None
        self._trusted = True
        self._overlays: OrderedDict[int, tuple[int, Overlay]] = OrderedDict()

    def __len__(self) -> int:
        return (self._list_rv is not None) + self._ring.count_from(self._floor) if self._trusted else 0

    @property
    def oldest(self) -> int | None:
        """The oldest resourceVersion with a snapshot."""
        if not self._trusted:
            return None
        if self._list_rv is not None:
            return self._list_rv
        return self._ring.rv_at_or_above(self._floor)

    def reset(self, list_rv: int) -> None:
        """The store was filled again: its content is the only snapshot."""
        self._floor = list_rv
        self._list_rv = list_rv
        self._overlays.clear()

    def trust(self, consistent: bool) -> None:
        """Record whether the cache equals etcd. If not, there are no snapshots until it does."""
        self._trusted = consistent

    def drop_below(self, rv: int) -> None:
        """Drop snapshots older than `rv`: etcd has compacted up to it."""
        self._floor = max(self._floor, rv)
        if self._list_rv is not None and self._list_rv < rv:
            self._list_rv = None
        for old in [kept for kept in self._overlays if kept < rv]:
            del self._overlays[old]

    def follow(self) -> None:
        """An event was added to the buffer: the snapshots of evicted events are dropped."""
        oldest = self._ring.oldest_event_rv
        if oldest is not None and self._ring.full and (self._list_rv is not None or oldest > self._floor):
            self.drop_below(oldest)

    def has(self, rv: int) -> bool:
        """True if a LIST at exactly `rv` finds a snapshot."""
        oldest = self.oldest
        return oldest is not None and oldest <= rv

    def slice(self, rv: int, start: str, end: str, most: int | None = None) -> SnapshotPage | None:
        """The first `most` objects (None: all) of keys in [start, end) as they were at `rv`.

        None if there is no snapshot for `rv`.
        """
        if not self.has(rv):
            return None
        store = self._store
        past = {key: obj for key, obj in self._overlay(rv).items() if start <= key < end}
        total = store.count(start, end) + sum(
            (obj is not None) - (store.get(key) is not None) for key, obj in past.items()
        )
        # Each difference removes at most one of the current objects.
        objects = store.slice(start, end, None if most is None else most + len(past))
        if most is not None and len(objects) == most + len(past) and objects:
            past = {key: obj for key, obj in past.items() if key <= objects[-1].key}
        objects = _merge(objects, past) if len(past) * 20 > len(objects) else _patch(objects, past)
        return SnapshotPage(objects if most is None else objects[:most], total)

    def _overlay(self, rv: int) -> Overlay:
        seen, overlay = self._overlays.pop(rv, (rv, {}))
        for event in self._ring.since(seen):
            # The first event after `rv` holds the object at `rv`.
            overlay.setdefault(event.object.key, event.previous)
            seen = event.rv
        self._overlays[rv] = (seen, overlay)
        while len(self._overlays) > MAX_OVERLAYS:
            self._overlays.popitem(last=False)
        return overlay


def _patch(objects: list[StoredObject], past: Overlay) -> list[StoredObject]:
    """Few differences: insert each in its place."""
    for key, obj in past.items():
        at = bisect_left(objects, key, key=_key_of)
        present = at < len(objects) and objects[at].key == key
        if obj is None:
            del objects[at : at + present]
        else:
            objects[at : at + present] = [obj]
    return objects


def _merge(objects: list[StoredObject], past: Overlay) -> list[StoredObject]:
    """Many differences: sort once."""
    merged: Overlay = {obj.key: obj for obj in objects}
    merged.update(past)
    return sorted((obj for obj in merged.values() if obj is not None), key=_key_of)
