"""Bound the JSON that watch caches keep of their objects.

An object's JSON is made for its first answer and kept for the next ones, as are rows of Tables. All caches
share a budget of bytes. When it is spent, what was not used again for longest goes first, approximately (the
clock algorithm): a hand goes round over the objects that keep something; it clears the bit of one that was
used since its last round, and evicts the JSON of one that was not. So room is made at the same cost in a
cache of a million objects. Bytes that objects share are counted for each of them, so the caches take less
memory than is counted.
"""

from __future__ import annotations

import threading
from typing import Protocol

KEPT_BYTES = 1 << 30
# Objects that the hand passes to make room for another one, about ten microseconds.
_PASSED = 128


class Keeping(Protocol):
    """An object that may keep its JSON."""

    share: Share | None
    kept: int  # the counted bytes
    kept_at: int  # its place in the ring of its share
    used: bool  # again, since the hand passed

    def drop_kept(self) -> None:
        """Drop what can be computed again."""


class KeptJson:
    """A budget of `limit` bytes for all caches. `held` bytes are used."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self.limit = limit
        self.held = 0
        self.lock = threading.Lock()  # large objects are encoded in threads
        self._shares: list[Share] = []
        self._turn = 0  # the share that the hand is in

    def share(self) -> Share:
        """Return the share of another cache."""
        share = Share(self)
        with self.lock:
            self._shares.append(share)
        return share

    def remove(self, share: Share) -> None:
        """Remove a share whose cache is gone; what it had is no longer counted."""
        with self.lock:
            self.held -= share.bytes
            share.end()
            if share in self._shares:
                self._shares.remove(share)

    def make_room(self, size: int, new: Keeping) -> bool:
        """Drop unused JSON until there are `size` bytes for `new`, which counts as used; return success."""
        passed = 0
        while self.held + size > self.limit:
            share = self._shares[self._turn % len(self._shares)]
            passed += 1
            if passed > _PASSED or size > self.limit:
                return False
            if not share.pass_one(new):
                self._turn += 1
        return True


class Share:
    """What one cache keeps: `bytes`, and how many objects' JSON was evicted."""

    def __init__(self, budget: KeptJson) -> None:
        self.bytes = 0
        self.evicted = 0
        self._budget = budget
        self._ring: list[Keeping] = []  # the objects that keep something
        self._hand = 0
        self._ended = False

    def end(self) -> None:
        """Keep nothing from now on. Objects refer to their share: without theirs, they can be freed."""
        self.bytes = 0
        self._ended = True
        self._ring = []

    def keep(self, obj: Keeping, size: int) -> None:
        """Count `size` bytes that `obj` keeps from now on; without room for them, it drops all it keeps.

        An object that has left the cache is not counted: the event buffer bounds it.
        """
        budget = self._budget
        with budget.lock:
            if obj.share is not self:
                return
            if self._ended or not budget.make_room(size, obj):
                self._drop(obj)
                return
            if not obj.kept:
                self._insert(obj)
            obj.kept += size
            self.bytes += size
            budget.held += size

    def leave(self, obj: Keeping) -> None:
        """Stop counting an object that has left the cache."""
        with self._budget.lock:
            if obj.share is self:
                obj.share = None
                self._uncount(obj)

    def pass_one(self, new: Keeping) -> bool:
        """Move the hand over one object; return False at the end of the ring."""
        if self._hand >= len(self._ring):
            self._hand = 0
            return False
        obj = self._ring[self._hand]
        self._hand += 1
        if obj.used or obj is new:
            obj.used = False
        else:
            self._drop(obj)
            self.evicted += 1
        return True

    def _insert(self, obj: Keeping) -> None:
        """Put an object behind the hand, so that it has a whole round; another one goes to the end for it."""
        ring = self._ring
        at = obj.kept_at = min(self._hand, len(ring))
        if at < len(ring):
            other = ring[at]
            other.kept_at = len(ring)
            ring.append(other)
            ring[at] = obj
        else:
            ring.append(obj)
        self._hand = at + 1

    def _drop(self, obj: Keeping) -> None:
        obj.drop_kept()
        self._uncount(obj)

    def _uncount(self, obj: Keeping) -> None:
        """Take an object out of the ring: the last one takes its place."""
        if self._ended or not obj.kept:
            return
        last = self._ring.pop()
        if last is not obj:
            self._ring[obj.kept_at] = last
            last.kept_at = obj.kept_at
        self.bytes -= obj.kept
        self._budget.held -= obj.kept
        obj.kept = 0
