"""Overlay: the difference between an earlier state of a watch cache and the present state."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from ktui.cacher.events import DELETED, CacheEvent

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

# More keys than this are appended and sorted, fewer are inserted one by one.
_FEW = 32
# Changes are inserted one by one if they are less than this share of the objects.
_FEW_CHANGES = 1 / 20

_key_of = attrgetter("key")


class Overlay:
    """The objects at `rv` that later events have changed, sorted by key.

    `seen` is the resourceVersion of the last applied event. The cost of reading a range depends on the number
    of changes in it.
    """

    __slots__ = ("_keys", "_surplus", "_then", "seen")

    def __init__(self, rv: int) -> None:
        self.seen = rv
        self._then: dict[str, StoredObject | None] = {}  # None: the object did not exist
        self._keys: list[str] = []
        # 1: an object that has been deleted since, -1: an object created since
        self._surplus: dict[str, int] = {}

    def follow(self, events: Sequence[CacheEvent]) -> None:
        """Apply the next events of the buffer."""
        then, fresh = self._then, []
        for event in events:
            key = event.object.key
            if key not in then:  # the first event after `rv` holds the object at `rv`
                then[key] = event.previous
                fresh.append(key)
            surplus = (then[key] is not None) - (event.type != DELETED)
            if surplus:
                self._surplus[key] = surplus
            else:
                self._surplus.pop(key, None)
        if events:
            self.seen = events[-1].rv
        if len(fresh) > _FEW:
            self._keys += fresh
            self._keys.sort()
        else:
            for key in fresh:
                insort(self._keys, key)

    def surplus(self, start: str, end: str) -> int:
        """Return how many more objects with keys in [start, end) existed then than exist now."""
        return sum(count for key, count in self._surplus.items() if start <= key < end)

    def applied(self, objects: list[StoredObject], start: str, end: str) -> list[StoredObject]:
        """Return the objects in [start, end) as they were at `rv`; may modify `objects`, the present ones."""
        low = bisect_left(self._keys, start)
        keys = self._keys[low : bisect_left(self._keys, end, lo=low)]
        if len(keys) > len(objects) * _FEW_CHANGES:
            return self._merged(objects, keys)
        for key in keys:
            obj = self._then[key]
            at = bisect_left(objects, key, key=_key_of)
            present = at < len(objects) and objects[at].key == key
            objects[at : at + present] = [] if obj is None else [obj]
        return objects

    def _merged(self, objects: list[StoredObject], keys: list[str]) -> list[StoredObject]:
        merged: dict[str, StoredObject | None] = {obj.key: obj for obj in objects}
        merged.update((key, self._then[key]) for key in keys)
        return [obj for key in sorted(merged) if (obj := merged[key]) is not None]
