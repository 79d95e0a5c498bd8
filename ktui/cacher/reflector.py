"""Keep one watch cache filled: a paged list of etcd, then a watch from its revision.

kube-apiserver's reflector over the etcd store. A watch that breaks is resumed as long as WatchRetryPolicy
allows. After that the cache is not ready, its clients' watches end, and after a second everything is listed
again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ktui.cacher.dispatcher import Dispatcher
from ktui.cacher.errors import WatchRetryPolicy
from ktui.cacher.settings import Settings
from ktui.cacher.watch_cache import WatchCache
from ktui.cacher.watch_events import BOOKMARK
from ktui.etcd import connection_liveness
from ktui.etcd.errors import EtcdError
from ktui.etcd.watch import WatchStream
from ktui.kube.routing.cache_state import Readiness
from ktui.storage.errors import UnreadableError
from ktui.storage.objects import StoredObject
from ktui.storage.store import Store

log = logging.getLogger(__name__)

# Longer than one iteration of etcd's loop that catches watchers up, with a margin for a busy machine.
SETTLE_SECONDS = 0.3
# A watch that resumes has events to catch up with, on an etcd that was just in trouble: 1 s was too short for
# three members that shared two cores with a dozen programs. Meanwhile consistent reads are sent to etcd.
RESUMED_SECONDS = 5.0
# etcd's queue of a watch stream holds 128 answers: half of it at once is a burst.
BURST_EVENTS = 64
BURST_SECONDS = 0.1


class ProgressConfirmation:
    """Decides when a progress notification of an etcd before 3.4.31 or 3.5.13 can be trusted, for one watch.

    Such an etcd answers with its current revision, even if events are still to be sent to the watcher:

    - the answer uses another queue than events that are ready to be sent. They have arrived once the answer
      to a later request has;
    - a watcher that starts at an older revision, or whose queue was full, is caught up by a loop that runs
      every 100 ms. Answers before that prove nothing.

    `pending` is the revision that the next answer will prove. `created_at` returns when etcd confirmed the
    watch, before which the loop ignores it.
    """

    def __init__(
        self,
        created_at: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        *,
        resumed: bool = False,
    ) -> None:
        self._created_at = created_at
        self._clock = clock
        self._start_seconds = RESUMED_SECONDS if resumed else SETTLE_SECONDS
        self._settled = 0.0
        self.pending = 0
        self._burst_started = 0.0
        self._burst = 0

    def event(self) -> None:
        now = self._clock()
        if now - self._burst_started > BURST_SECONDS:
            self._burst_started, self._burst = now, 0
        self._burst += 1
        if self._burst >= BURST_EVENTS:
            self._settled = now + SETTLE_SECONDS

    def answered(self, rv: int) -> int:
        """Record an answer; return the revision up to which all events have arrived, 0 if none is proven."""
        if self._clock() < max(self._settled, self._created_at() + self._start_seconds):
            self.pending = 0
            return 0
        proven, self.pending = self.pending, rv
        return proven


RETRY_SECONDS = 1.0
# kube-apiserver retries every second, whatever the error. A value that cannot be decoded stays that way, and
# every retry reads the whole resource: here the delay doubles each time, up to this.
UNREADABLE_SECONDS = 30.0
FEW_OBJECTS = 100  # of a small cache
BROKEN_SECONDS = 1.0  # a watch broken for a shorter time does not make the cache stale


@dataclass(eq=False)
class Reflector:
    """Fills a watch cache and keeps it current.

    `gate` is held while filling a cache, unless a small one is filled again, to limit how many caches read
    the same etcd at a time. `changed` is called whenever anything that telemetry shows has changed,
    `progressed` with each resourceVersion that a progress notification brought.
    """

    _store: Store
    _cache: WatchCache
    _dispatcher: Dispatcher
    _settings: Settings
    _gate: asyncio.Semaphore
    _changed: Callable[[], None]
    _progressed: Callable[[int], None]
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    readiness = Readiness.INITIALIZING
    loaded = loaded_bytes = expected = progress_requests = 0
    error = ""
    _down_since: float = field(default_factory=time.monotonic)
    _watch: WatchStream | None = None
    _heard_at = 0.0
    _confirmation: ProgressConfirmation = field(
        default_factory=lambda: ProgressConfirmation(lambda: math.inf)
    )
    _retry = RETRY_SECONDS
    _history = 0  # etcd's history when the cache was filled

    @property
    def downtime(self) -> float:
        """Seconds since the cache was last ready."""
        return 0.0 if self.ready.is_set() else time.monotonic() - self._down_since

    @property
    def stale_seconds(self) -> float:
        """Seconds since etcd last answered on the cache's watch; 0 if recent or the cache is not ready."""
        if not self.ready.is_set():
            return 0.0
        silent = time.monotonic() - self._last_heard()
        broken = self._watch is None and self.error  # else the first watch is still being opened
        limit = BROKEN_SECONDS if broken else connection_liveness.HEARD_SECONDS
        return silent if silent > limit else 0.0

    async def run(self) -> None:
        """Fill and follow until cancelled. Errors other than etcd's end it and leave the cache not ready."""
        while True:
            cause, pause = "stopped", RETRY_SECONDS
            try:
                await self._fill()
                await self._follow()
                cause = "etcd closed the watch"
            except UnreadableError as error:
                cause, pause = str(error), self._retry
                self._retry = min(self._retry * 2, UNREADABLE_SECONDS)
                log.warning("watch cache of %s: %s", self._store.resource.id, cause)
            except EtcdError as error:
                cause = str(error)
                log.info("watch cache of %s: %s", self._store.resource.id, cause)
            except Exception as error:
                cause = f"internal error: {error}"
                raise
            finally:
                # Whatever the error was, a cache without a watch must not be ready.
                self._not_ready(cause)
            await asyncio.sleep(pause)

    async def request_progress(self) -> None:
        """Request a progress notification; the watch's reader handles a broken watch."""
        if self._watch is None:
            return
        self.progress_requests += 1
        try:
            await self._watch.request_progress()
        except EtcdError as error:
            log.debug("progress request for %s: %s", self._store.resource.id, error)

    async def _fill(self) -> None:
        # A small cache that is filled again does not wait for the gate: those before it may wait for etcd.
        small = self.readiness is Readiness.REINITIALIZING and len(self._cache.store) <= FEW_OBJECTS
        async with contextlib.nullcontext() if small else self._gate:
            objects: list[StoredObject] = []
            self._history = self._store.history
            rv = self.loaded = self.loaded_bytes = self.expected = 0
            async for page in self._store.pages(stream=self._settings.behaviour.enabled("EtcdRangeStream")):
                objects += page.objects
                rv = page.rv
                self.loaded, self.expected = len(objects), page.count or self.expected
                self.loaded_bytes += sum(obj.size for obj in page.objects)
                self._changed()
        self._same_history()
        self._cache.replace(objects, rv)
        self._dispatcher.reset(rv, "cache reinitialized")
        self.readiness, self.error = Readiness.READY, ""
        self._retry = RETRY_SECONDS
        self._heard_at = time.monotonic()
        self.ready.set()
        self._changed()

    async def _follow(self) -> None:
        """Follow etcd from the cache's revision; raise EtcdError if the watch cannot be resumed."""
        retry, seen = WatchRetryPolicy(), 0
        while True:
            try:
                await self._watch_on(seen)
                return
            except EtcdError as error:
                if not retry.should_retry(error, self._settings.behaviour):
                    raise
                await self._resume(retry, str(error))
            seen = self._cache.rv

    async def _watch_on(self, seen: int) -> None:
        """Follow one watch; `seen` is the revision to resume from, 0 for the first watch.

        A resumed watch begins at the last revision seen. Compactions of etcd before 3.5.18 (etcd #18274) lose
        a deletion at exactly the compacted revision but still let a watch begin there, which would miss it. A
        watch that begins earlier gets the compaction error.
        """
        cache, dispatcher = self._cache, self._dispatcher
        async with self._store.watch(seen - 1 if seen else cache.rv) as watch:
            self._watch = stream = watch.stream
            self._confirmation = ProgressConfirmation(lambda: stream.created_at, resumed=bool(seen))
            try:
                async for transaction in watch:
                    self._same_history()
                    rv = transaction[0].rv
                    if transaction[0].type == BOOKMARK:
                        await self._answered(rv)
                        continue
                    if rv <= seen:
                        continue
                    await dispatcher.room()
                    dispatcher.submit(
                        [cache.apply(event.type, event.object, rv) for event in transaction if event.object]
                    )
                    self._confirmation.event()
                    self._changed()
            finally:
                self._last_heard()
                self._watch = None

    async def _resume(self, retry: WatchRetryPolicy, problem: str) -> None:
        """Wait until etcd answers after an error; raise EtcdError if another one is not retryable.

        (An error kept in a variable here would hold itself, and the ended watch, by its traceback.)
        """
        while True:
            log.info("watch of %s: %s", self._store.resource.id, problem)
            self._report(problem)
            await asyncio.sleep(retry.pause())
            try:
                head = await self._store.head()
            except EtcdError as error:
                if not retry.should_retry(error, self._settings.behaviour):
                    raise
                problem = str(error)
                continue
            if head < self._cache.rv:
                raise EtcdError(f"etcd has gone back from revision {self._cache.rv} to {head}.")
            self._same_history()
            self._report("")
            return

    def _last_heard(self) -> float:
        if self._watch is not None and self._watch.created_at:
            self._heard_at = max(self._heard_at, self._watch.heard_at)
        return self._heard_at

    def _same_history(self) -> None:
        """Raise EtcdError if etcd's revisions have started over: the cache would hold another history."""
        if self._store.history != self._history:
            raise EtcdError("etcd was emptied, restored from a backup, or is another cluster.")

    async def _answered(self, rv: int) -> None:
        """Record a progress notification; if it cannot be trusted, request another while a reader waits."""
        if not self._settings.confirm_progress:
            self._progress(rv)
            return
        self._progress(self._confirmation.answered(rv))
        pending = self._confirmation.pending
        if pending > self._cache.rv and self._cache.waiter.wanted(pending):
            await self.request_progress()

    def _progress(self, rv: int) -> None:
        if rv <= self._cache.rv:
            return
        self._cache.progress(rv)
        self._dispatcher.submit(rv)
        self._progressed(rv)
        self._changed()

    def _not_ready(self, cause: str) -> None:
        if self.ready.is_set():
            self.ready.clear()
            self._down_since = time.monotonic()
            self.readiness = Readiness.REINITIALIZING
            self._dispatcher.reset(self._cache.rv, "cache reinitializing")
        self._report(cause)

    def _report(self, error: str) -> None:
        self.error = error
        self._changed()
