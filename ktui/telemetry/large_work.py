"""Threads for long CPU work: fair to users, and ended when no request waits for it.

Each user's work is done one piece at a time, the users take turns; so a user with large requests holds up
only her own. A piece that no request waits for any more (its deadline has passed, its client has gone, the
server stops) is ended wherever it is: an exception is raised in its thread at the next Python instruction,
again and again until the thread is free. A call of C code is not interrupted; those here take milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

THREADS = 4
IDLE_SECONDS = 30.0
AGAIN_SECONDS = 0.05  # the exception may have been raised where nothing passes it on, as in a finalizer

_CHECKS = 100  # steps of a loop, each of which raises what is to be raised

_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in.argtypes = (ctypes.c_ulong, ctypes.c_void_p)


class Ended(BaseException):
    """Raised in a thread whose work no request waits for."""


class _Job:
    """One piece of work: a thread calls `run`, the event loop `end` and `report`.

    Ended is raised in the thread within `run` only. So neither of them takes a lock for it, which an
    exception at the wrong moment would leave locked, and no thread ends by it.
    """

    def __init__(self, work: Callable[[], Any], user: str, left: Callable[[], None]) -> None:
        self.user = user
        self.left = left
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self._work = work
        self._thread = 0  # that does it now
        self._ended = self._raising = False

    def end(self) -> bool:
        """Raise Ended in the thread; return False if there is nothing to end."""
        self._ended = self._raising = True
        running = bool(self._thread)
        if running:
            _raise_in(self._thread, id(Ended))
        self._raising = False
        return running

    def run(self) -> Any:
        """Do the work. Raises what it raises, and Ended."""
        try:
            self._thread = threading.get_ident()
            if self._ended:
                raise Ended
            return self._work()
        finally:
            while True:
                try:
                    self._settle()
                    break
                except Ended:
                    continue

    def _settle(self) -> None:
        """Return once Ended is raised no more."""
        self._thread = 0
        while self._raising:
            time.sleep(0)
        for _ in range(_CHECKS):  # one that is still to be raised is raised here
            pass

    def report(self, result: Any, error: BaseException | None) -> None:
        self.loop.call_soon(self.left)  # when nothing of the work is held here
        future = self.future
        del self.future  # an error's traceback has this job: no cycle keeps the trees of its frames
        if future.done():
            return
        if error is None:
            future.set_result(result)
        elif isinstance(error, Ended):
            future.cancel()
        else:
            future.set_exception(error)


class LargeWork:
    """Threads, started on demand, that do the work of users in turns."""

    def __init__(self, threads: int = THREADS) -> None:
        self._most = threads
        self._changed = threading.Condition()
        self._waiting: dict[str, deque[_Job]] = {}  # by user, in the order of their turns
        self._running: dict[str, _Job] = {}  # by user
        self._threads = self._idle = 0

    async def run(self, work: Callable[[], T], user: str, left: Callable[[], None] = lambda: None) -> T:
        """Return `work()`, computed in a thread. If this call is cancelled, the work ends.

        `left` is called on the event loop once no thread does the work: after a cancellation that is later.
        """
        job = _Job(work, user, left)
        with self._changed:
            self._waiting.setdefault(user, deque()).append(job)
            if self._idle:
                self._changed.notify()
            elif self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._serve, name="large", daemon=True).start()
        try:
            found: T = await job.future
            return found
        except asyncio.CancelledError:
            self._end(job)
            raise

    def end_all(self) -> None:
        """End all work of this event loop: its server stops. Those who wait for it are cancelled."""
        loop = asyncio.get_running_loop()
        with self._changed:
            jobs = [job for queue in self._waiting.values() for job in queue] + [*self._running.values()]
        for job in jobs:
            if job.loop is loop:
                job.future.cancel()

    @property
    def users(self) -> list[str]:
        """The users whose work is being done."""
        with self._changed:
            return list(self._running)

    def _end(self, job: _Job) -> None:
        with self._changed:
            queue = self._waiting.get(job.user)
            if queue is not None and job in queue:
                queue.remove(job)
                if not queue:
                    del self._waiting[job.user]
                job.left()
                return
        if job.end() and not job.loop.is_closed():
            job.loop.call_later(AGAIN_SECONDS, self._end, job)

    def _serve(self) -> None:
        """Do work, in a thread, until there is none for IDLE_SECONDS."""
        while (job := self._next()) is not None:
            result: Any = None
            error: BaseException | None = None
            try:
                result = job.run()
            except BaseException as raised:
                # What the frames of ended work hold is freed here.
                error = raised.with_traceback(None) if isinstance(raised, Ended) else raised
            with self._changed:
                del self._running[job.user]
                self._changed.notify()
            with contextlib.suppress(RuntimeError):  # the loop is closed
                job.loop.call_soon_threadsafe(job.report, result, error)
            del job, result, error

    def _next(self) -> _Job | None:
        with self._changed:
            while True:
                user = next((user for user in self._waiting if user not in self._running), None)
                if user is not None:
                    break
                self._idle += 1
                woken = self._changed.wait(IDLE_SECONDS)
                self._idle -= 1
                if not woken and not any(user not in self._running for user in self._waiting):
                    self._threads -= 1
                    return None
            queue = self._waiting.pop(user)
            job = queue.popleft()
            if queue:
                self._waiting[user] = queue  # at the end: the others come first
            self._running[user] = job
            return job


LARGE_WORK = LargeWork()
