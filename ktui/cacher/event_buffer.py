"""The cyclic buffer of a watch cache's newest events (upstream: watchCache.cache).

kube-apiserver: the capacity starts at 100 and follows the load, to hold about 75 seconds of events
(`eventFreshDuration`), with a maximum of 102,400.

Upstream keeps the objects of all events. Here only the newest few megabytes of events are kept whole, for as
long as they are fresh, and more while LISTs that need older versions are being sent; older events keep only
the difference to the object's next version.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from ktui.cacher.watch_events import CacheEvent

LOWER_CAPACITY = 100
UPPER_CAPACITY = 102_400
FRESH_SECONDS = 75.0
# Bytes of the newest events to keep whole; the second limit applies while LISTs are being sent.
WHOLE_BYTES = 8 << 20
MOST_WHOLE_BYTES = 64 << 20
# What a whole event takes besides its stored value: encodings, labels and fields of a small object.
EVENT_BYTES = 3584
# Maximum events to shrink for each added event, so that an append is always fast.
_SHRUNK_AT_ONCE = 4
# Evicted events are removed when they reach this share of the capacity.
_CUT = 1 / 8

_rv_of = attrgetter("rv")


@dataclass(eq=False)
class EventBuffer:
    """Events by resourceVersion, oldest first. Times are seconds of one monotonic clock."""

    lower: int = LOWER_CAPACITY
    upper: int = UPPER_CAPACITY
    fresh_seconds: float = FRESH_SECONDS
    whole_bytes: int = WHOLE_BYTES
    most_whole_bytes: int = MOST_WHOLE_BYTES
    _events: list[CacheEvent] = field(default_factory=list)
    _readers: list[int] = field(default_factory=list)
    _start = 0  # events before this index are evicted, and removed from time to time
    _whole = 0  # events before this index are shrunk
    grown = shrunk = 0  # changes of the capacity
    held = 0  # bytes of events that are not shrunk
    _list_rv = _evicted_rv = 0

    def __post_init__(self) -> None:
        self.capacity = self.lower

    def __len__(self) -> int:
        return len(self._events) - self._start

    @property
    def full(self) -> bool:
        return len(self) >= self.capacity

    @property
    def oldest_event_rv(self) -> int | None:
        return self._events[self._start].rv if len(self) else None

    @property
    def oldest_watch_rv(self) -> int:
        """The smallest resourceVersion from which a WATCH may start: the oldest deliverable event's, minus
        one.

        At least the evicted event's resourceVersion, in case both belong to one transaction.
        """
        if self._evicted_rv:
            return max((self.oldest_event_rv or 1) - 1, self._evicted_rv)
        return self._list_rv

    def reset(self, list_rv: int) -> None:
        """Empty the buffer, because the store was filled again at `list_rv`. The capacity stays."""
        self._events = []
        self._start = self._whole = self.held = 0
        self._list_rv = list_rv
        self._evicted_rv = 0

    def append(self, event: CacheEvent) -> None:
        """Add the newest event; evict the oldest one if the buffer is full and may not grow."""
        if self.full:
            self._resize(event.at)
        if self.full:
            self._evict(self._start + 1)
        self._events.append(event)
        self.held += _bytes_of(event)
        self.shrink(_SHRUNK_AT_ONCE)
        self._cut()

    def since(self, rv: int, limit: int | None = None) -> Sequence[CacheEvent]:
        """Return events newer than `rv`, oldest first: `limit`, and all others at the last one's revision."""
        events = self._events
        low = bisect_right(events, rv, lo=self._start, key=_rv_of)
        if limit is None or low + limit >= len(events):
            return events[low:]
        high = bisect_right(events, events[low + limit - 1].rv, lo=low, key=_rv_of)
        return events[low:high]

    def rv_at_or_above(self, rv: int) -> int | None:
        """The resourceVersion of the oldest buffered event at or above `rv`; None without such an event."""
        low = bisect_left(self._events, rv, lo=self._start, key=_rv_of)
        return self._events[low].rv if low < len(self._events) else None

    def count_from(self, rv: int) -> int:
        """Return the number of buffered events at or above `rv`."""
        return len(self._events) - bisect_left(self._events, rv, lo=self._start, key=_rv_of)

    def newest(self, limit: int) -> Sequence[CacheEvent]:
        """Return the newest `limit` events, newest first."""
        return self._events[max(self._start, len(self._events) - limit) :][::-1]

    def reader(self, rv: int) -> None:
        """Keep versions that were superseded after `rv`, because a LIST at `rv` is being sent."""
        self._readers.append(rv)

    def reader_gone(self, rv: int) -> None:
        self._readers.remove(rv)

    def shrink(self, most: int, now: float = 0.0) -> bool:
        """Shrink up to `most` events that are due; return False if no more are due.

        Due are the oldest while too many bytes are whole, and with the time `now` those that are not fresh.
        """
        for _ in range(most):
            if self._whole == len(self._events):
                return False
            event = self._events[self._whole]
            if self.held <= self.whole_bytes and now - event.at <= self.fresh_seconds:
                return False
            needed = bool(self._readers) and event.rv > min(self._readers)
            if needed and self.held <= self.most_whole_bytes:
                return False
            self.held -= _bytes_of(event)
            self._whole += 1
            event.shrink()
        return True

    def _resize(self, now: float) -> None:
        if now - self._events[self._start].at < self.fresh_seconds:
            self._set_capacity(min(self.capacity * 2, self.upper))
            return
        last_quarter = self._events[len(self._events) - self.capacity // 4]
        if now - last_quarter.at > self.fresh_seconds:
            self._set_capacity(max(self.capacity // 2, self.lower))
            self._evict(max(self._start, len(self._events) - self.capacity))

    def _evict(self, start: int) -> None:
        if start > self._start:
            self._evicted_rv = self._events[start - 1].rv
            self._start = start

    def _set_capacity(self, capacity: int) -> None:
        self.grown += capacity > self.capacity
        self.shrunk += capacity < self.capacity
        self.capacity = capacity

    def _cut(self) -> None:
        """Remove evicted events, and shrink them: a slow reader may still hold their objects."""
        if self._start < self.capacity * _CUT:
            return
        for event in self._events[self._whole : self._start]:
            self.held -= _bytes_of(event)
            event.shrink()
        self._whole = max(self._whole - self._start, 0)
        del self._events[: self._start]
        self._start = 0


def _bytes_of(event: CacheEvent) -> int:
    return event.object.size + EVENT_BYTES
