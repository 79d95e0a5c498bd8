"""The open WATCHes, and their figures for telemetry."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec.structs

from ktui.cacher.cacher_requests import WatchEvents
from ktui.contract.events import AnyEvent, WatcherClosed, WatcherOpened, WatcherState, figures
from ktui.telemetry.bus import Bus
from ktui.telemetry.meter import Meter

STOPPING = "server stopping"
INTERVAL = 1.0  # seconds between two reports of a watcher


class OpenWatch:
    """One client's WATCH. `made` of its events were encoded for it, `shared` for an earlier watcher.

    `bytes` were sent; the number sent before it was live is in its request's meter. `begun` are the events of
    its start, for later subscribers.
    """

    __slots__ = ("begun", "bytes", "made", "meter", "opened", "over", "reported", "shared", "stream")

    def __init__(
        self, opened: WatcherOpened, stream: WatchEvents, meter: Meter, begun: Sequence[AnyEvent]
    ) -> None:
        self.begun = begun
        self.opened = opened
        self.stream = stream
        self.meter = meter
        self.bytes = 0
        self.made = 0
        self.shared = 0
        self.reported: WatcherState | None = None
        self.over = False  # its end has been published

    def state(self) -> WatcherState:
        stream, meter = self.stream, self.meter
        return WatcherState(
            *figures(meter),
            **self._counts(),
            buffered=stream.buffered,
            capacity=stream.capacity,
            live=stream.live,
            bytes=self.bytes,
            initial=meter.initial,
            initial_bytes=meter.initial_bytes,
            initial_ms=meter.initial_ms,
        )

    def closed(self) -> WatcherClosed:
        return WatcherClosed(**self._counts(), cause=self.stream.cause)

    def _counts(self) -> dict[str, Any]:
        opened, stream = self.opened, self.stream
        sent = {"delivered": stream.delivered, "bookmarks": stream.bookmarks}
        return {"id": opened.id, "resource": opened.resource, "made": self.made, "shared": self.shared} | sent


class OpenWatches:
    """Publishes each WATCH: its start, its state once a second, its end.

    A stream that the cache has ended is reported with the next states, although its request continues until
    the client has read what was sent before, or disconnects. New subscribers get the open ones.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._open: dict[int, OpenWatch] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._stopping = False
        bus.add_snapshot(self.describe)

    def add(
        self, opened: WatcherOpened, stream: WatchEvents, meter: Meter, begun: Sequence[AnyEvent] = ()
    ) -> OpenWatch:
        opened = msgspec.structs.replace(opened, at=self._bus.now())
        watch = self._open[opened.id] = OpenWatch(opened, stream, meter, begun)
        self._bus.publish(opened)
        if self._timer is None:
            self._arm()
        if self._stopping:
            stream.close(STOPPING)
        return watch

    def discard(self, watch: OpenWatch) -> None:
        del self._open[watch.opened.id]
        self._end(watch)

    def end_all(self) -> None:
        """Close every stream, including those about to start, because the server stops."""
        self._stopping = True
        for watch in list(self._open.values()):
            watch.stream.close(STOPPING)

    def describe(self) -> Iterator[AnyEvent]:
        for watch in self._open.values():
            yield from watch.begun
            if not watch.over:
                yield watch.opened
                yield watch.state()

    def _end(self, watch: OpenWatch) -> None:
        if not watch.over:
            watch.over = True
            self._bus.publish(watch.closed())

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._report)

    def _report(self) -> None:
        self._timer = None
        if self._bus.watched:
            for watch in self._open.values():
                stream = watch.stream
                if stream.cause and stream.buffered:  # its client does not read
                    self._end(watch)
                if watch.over:
                    continue
                state = watch.state()
                if state != watch.reported:
                    watch.reported = state
                    self._bus.publish(state)
        if self._open:
            self._arm()
