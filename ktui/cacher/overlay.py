"""What differs between an earlier state of a watch cache and the present one."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from ktui.cacher.events import DELETED, CacheEvent

if TYPE_CHECKING:
    from ktui.storage.objects import StoredObject

# More keys than this are sorted in together, fewer inserted one by one.
_FEW = 32
# Changes are inserted each in its place if they are less than this share of the objects.
_FEW_CHANGES = 1 / 20

_key_of = attrgetter("key")


class Overlay:
    """The objects at `rv` that the events since have changed, sorted by key.

    `seen` is the resourceVersion of the last event followed. Reading a range costs what is in it.
    """

    __slots__ = ("_keys", "_surplus", "_then", "seen")

    def __init__(self, rv: int) -> None:
        self.seen = rv
        self._then: dict[str, StoredObject | None] = {}  # None: there was none
        self._keys: list[str] = []
        self._surplus: dict[str, int] = {}  # 1: there was an object that is gone, -1: there is a new one

    def follow(self, events: Sequence[CacheEvent]) -> None:
        """Take in the next events of the buffer."""
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
        """How many more objects with keys in [start, end) there were than there are."""
        return sum(count for key, count in self._surplus.items() if start <= key < end)

    def applied(self, objects: list[StoredObject], start: str, end: str) -> list[StoredObject]:
        """The objects in [start, end) as they were; `objects` are the present ones, and are changed."""
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
