"""The server's own account of a run: its telemetry, added up by variant, phase and label."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    Dropped,
    EtcdCall,
    LevelScrape,
    Marker,
    RequestFinished,
    RequestStarted,
    WatcherState,
)
from ktui.core.ranking.ranking import TotalCost, by_watch
from ktui.workloads.running.figures import LoadFigures
from ktui.workloads.running.users import Tag, tag_of


class _Open(NamedTuple):
    tag: Tag
    verb: str
    level: str  # priority level


class Account:
    """Adds up telemetry events (`take`) in `phases` and `labels`.

    `others` counts what the server did meanwhile outside of this run: its own housekeeping, and other
    clients' requests. `dropped` counts events that the server did not send because this reader was slow.
    """

    def __init__(self, run: str) -> None:
        self.phases: dict[tuple[str, str], LoadFigures] = {}
        self.labels: dict[tuple[str, str], LoadFigures] = {}
        self.live = LoadFigures()  # since `take_live` was last called
        self.others = LoadFigures()
        self.housekeeping = TotalCost()  # RPCs of the server itself: reflectors, counts, progress requests
        self.dropped = 0
        self.caches: dict[str, CacheStatus] = {}
        self.nominal_seats: dict[str, int] = {}  # by priority level
        # called with each event, for a workload's own use
        self.observers: list[Callable[[AnyEvent], None]] = []
        self._run = run
        self._open: dict[int, _Open] = {}
        self._watched: dict[int, TotalCost] = {}
        self._verbs: dict[int, str] = {}  # verbs of other clients' open requests
        self._waiting: dict[object, float] = {}  # when each request without an answer was sent
        self._answered = self._finished_count = 0
        self._marked = ""  # the newest marker
        self._settled = asyncio.Event()

    @property
    def missing(self) -> int:
        """Requests that were answered or are still being served, but are missing in the server's account."""
        return max(len(self._open), self._answered - self._finished_count)

    def take(self, events: Iterable[AnyEvent]) -> None:
        for event in events:
            for observe in self.observers:
                observe(event)
            match event:
                case RequestStarted():
                    self._started(event)
                case RequestFinished():
                    self._finished(event)
                case WatcherState():
                    self._watching(event)
                case EtcdCall():
                    self._called(event)
                case CacheStatus():
                    self.caches[event.resource] = event
                case LevelScrape():
                    self.nominal_seats[event.level] = int(event.gauges.nominal or 0)
                case Dropped():
                    self.dropped += event.count
                case Marker():
                    self._marked = event.text
        self._settled.set()

    def take_live(self) -> LoadFigures:
        live, self.live = self.live, LoadFigures()
        return live

    def unanswered(self, tag: Tag) -> None:
        """Record a request that failed on the client's side, without an answer."""
        for figures in self._of(tag):
            figures.unanswered += 1

    @contextmanager
    def waits(self) -> Iterator[None]:
        """Count a request as waiting for its answer while the block runs."""
        key = object()
        self._waiting[key] = time.monotonic()
        try:
            yield
        finally:
            del self._waiting[key]

    def waiting(self) -> tuple[int, float]:
        """Return how many requests wait for their answer, and for how many seconds the first one has."""
        first = min(self._waiting.values(), default=0.0)
        return len(self._waiting), time.monotonic() - first if self._waiting else 0.0

    def answered(self) -> None:
        """Record that a client has its answer; the server's account of it comes before or after."""
        self._answered += 1

    def server_ended(self) -> None:
        """Record that the server was killed: it gives no account of the open requests."""
        self._open.clear()
        self._watched.clear()
        self._verbs.clear()
        self._finished_count = self._answered

    async def settled(self, last: str, patience: float, most: float) -> None:
        """Wait until the server has accounted for every answered request, and none is open.

        The server may still serve a request that its client has given up; all events that it publishes before
        the marker `last` include such requests ("": there is no marker). Raises TimeoutError if no request
        has ended for `patience` seconds, or after `most`: a server ends LISTs of gigabytes one after the
        other.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + most
        async with asyncio.timeout(min(patience, most)) as limit:
            while self._open or self._finished_count < self._answered or (last and last != self._marked):
                before = self._finished_count
                self._settled.clear()
                await self._settled.wait()
                if self._finished_count > before:
                    limit.reschedule(min(end, loop.time() + patience))

    async def know_level(self, name: str, most: float) -> None:
        """Wait, at most `most` seconds, for a priority level, which the server reports once a second."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most):
                while name not in self.nominal_seats:
                    self._settled.clear()
                    await self._settled.wait()

    def _started(self, event: RequestStarted) -> None:
        tag = tag_of(event.user_agent, self._run)
        if tag is None:
            if len(self._verbs) > 10_000:  # their ends were dropped
                self._verbs.clear()
            if event.client != "ktui":  # the run's own preparations, or a dashboard
                self._verbs[event.id] = event.verb
            return
        self._open[event.id] = _Open(tag, event.verb, event.level)

    def _finished(self, event: RequestFinished) -> None:
        found = self._open.pop(event.id, None)
        if found is None:
            if (verb := self._verbs.pop(event.id, None)) is not None:
                self.others.add(verb, event)
            return
        before = self._watched.pop(event.id, None)
        for figures in self._of(found.tag):
            figures.add(found.verb, event, before, found.level)
        self._finished_count += 1

    def _watching(self, event: WatcherState) -> None:
        found = self._open.get(event.id)
        if found is None:
            return
        now = by_watch(event, 0)
        more = now.since(self._watched.get(event.id, TotalCost()))
        more.count = 0  # counted when it ends
        self._watched[event.id] = now
        for figures in self._of(found.tag):
            figures.spent.merge(more)

    def _called(self, event: EtcdCall) -> None:
        if not event.request_id:
            self.housekeeping.merge(
                TotalCost(etcd_rpcs=1, etcd_keys=event.count, etcd_bytes=event.received_bytes, count=1)
            )

    def _of(self, tag: Tag) -> tuple[LoadFigures, ...]:
        phase = self.phases.setdefault((tag.variant, tag.phase), LoadFigures())
        label = self.labels.setdefault((tag.variant, tag.label), LoadFigures())
        return phase, label, self.live
