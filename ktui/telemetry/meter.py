"""The cost of one request, counted where the work is done, and its CPU time.

The server opens a `Meter` for a request with `metered()`, and every package adds to the current meter.
A context variable holds it, so it follows the request through awaits and into its tasks, without
being passed as a parameter. Its `Footprint` is the growth of the process' memory meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from time import perf_counter, thread_time
from typing import Any, ClassVar

from msgspec import field

from ktui.contract.events import Cost

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_STATM = "/proc/self/statm"  # sizes in pages: total, then resident


def resident_bytes() -> int | None:
    """Return the resident memory of this process in bytes; None without /proc (not Linux)."""
    descriptor = _descriptor(os.getpid())
    return None if descriptor is None else int(os.pread(descriptor, 64, 0).split(None, 2)[1]) * PAGE_BYTES


@cache
def _descriptor(pid: int) -> int | None:
    """Open the file once per process: opening takes longer than reading."""
    with contextlib.suppress(OSError):
        return os.open(_STATM, os.O_RDONLY)
    return None


class ConcurrentRequests:
    """Counts concurrent requests: the memory growth cannot be attributed to one of several."""

    def __init__(self) -> None:
        self.present = 0
        self.came = 0

    def arrive(self, *, small: bool = False) -> Footprint:
        """`small`: the request takes no memory that tells, or looks itself before it does."""
        self.present += 1
        self.came += 1
        footprint = Footprint(self)
        if not small:
            footprint.look()
        return footprint


class Footprint:
    """The growth of the process since the first `look`, as sampled by later ones, and whether others ran."""

    __slots__ = ("_before", "_concurrent", "_highest", "_left", "_place", "_shared")

    def __init__(self, concurrent: ConcurrentRequests) -> None:
        self._concurrent = concurrent
        self._place = concurrent.came
        self._shared = concurrent.present > 1
        self._left = False
        self._before = self._highest = 0

    def look(self) -> None:
        now = resident_bytes() or 0
        self._before = self._before or now
        self._highest = max(self._highest, now)

    @property
    def growth(self) -> int | None:
        """Bytes; 0 if the process did not grow, None if unknown."""
        return self._highest - self._before if self._before else None

    @property
    def shared(self) -> bool:
        """True if other requests ran meanwhile; does not change after `leave`."""
        return self._shared or (not self._left and self._concurrent.came > self._place)

    def leave(self) -> None:
        """Mark the request as ended, or as a WATCH that only waits for events: it takes no more memory."""
        if not self._left:
            self._shared = self._shared or self._concurrent.came > self._place
            self._left = True
            self._concurrent.present -= 1


# Smaller requests do not measure the growth of the process: it would be noise.
TELLING_BYTES = 1 << 20


class Phase:
    """Adds the time of a block to a phase. A class, because a generator takes three times as long."""

    __slots__ = ("_began", "_name", "_phases")

    def __init__(self, phases: dict[str, float], name: str) -> None:
        self._phases = phases
        self._name = name

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *failure: object) -> None:
        ms = (time.perf_counter() - self._began) * 1000.0
        self._phases[self._name] = self._phases.get(self._name, 0.0) + ms


class Meter(Cost):
    """The cost of one request (`Cost`), counted where the work is done, and its progress.

    `phases` are milliseconds by phase. `initial_*` are a WATCH's events until it was live,
    `initial_ms` the time until the last was sent.

    `held` are the bytes that the request holds now (etcd's responses, objects, pieces of the body),
    `peak_held` their maximum; Python's overhead is not included. `footprint` measures the growth of the
    whole process.

    `on_plan` is called with the request's plan and its route:
    before anything is read, and again if the request falls back to another route.
    """

    request_id: int = 0
    user: str = ""  # who sent it; "" for the server's own work
    seats: int = 0
    clocked_steps: int = 1  # CPU time is sampled on every Nth step
    held: int = 0
    peak_held: int = 0
    footprint: Footprint | None = None
    streamed: bool = False  # etcd's LIST was a RangeStream
    large: bool = False  # its CPU work is done off the event loop
    trees: list[Any] = field(default_factory=list)  # of a large request: freed after it, piece by piece
    initial: int = 0
    initial_bytes: int = 0
    initial_ms: float = 0.0
    phases: dict[str, float] = field(default_factory=dict)
    on_plan: Callable[[Any, str], None] | None = None
    _look_at: int = TELLING_BYTES  # held bytes at which the process' memory is read next

    def planned(self, plan: object, route: str) -> None:
        if self.on_plan is not None:
            self.on_plan(plan, route)

    def hold(self, size: int) -> None:
        self.held += size
        if self.held > self.peak_held:
            self.peak_held = self.held
            if self.held >= self._look_at:
                self._look_at = self.held + TELLING_BYTES
                self.look()

    def reach(self, size: int) -> None:
        """Record a peak of `size` bytes above what is held."""
        if self.held + size > self.peak_held:
            self.peak_held = self.held + size

    def look(self) -> None:
        if self.footprint is not None:
            self.footprint.look()

    @property
    def process_growth(self) -> int | None:
        """Bytes that the process grew by meanwhile; None for a small request."""
        if self.footprint is None or max(self.peak_held, self.encoded_bytes) < TELLING_BYTES:
            return None
        return self.footprint.growth

    @property
    def shared(self) -> bool:
        """True if other requests ran meanwhile, so that the growth of the process is not its own."""
        return self.footprint is not None and self.footprint.shared

    def phase(self, name: str) -> Phase:
        """Return a context manager that adds the time of its block to phase `name` (ms)."""
        return Phase(self.phases, name)

    def add_phase(self, name: str, ms: float) -> None:
        self.phases[name] = self.phases.get(name, 0.0) + ms


_current: ContextVar[Meter | None] = ContextVar("ktui_meter", default=None)


def current_meter() -> Meter:
    """Return the meter of the current request, or a new one that is discarded."""
    return _current.get() or Meter()


def decoding(size: int) -> None:
    """Count an object of `size` stored bytes as decoded for the current request, if there is one."""
    meter = _current.get()
    if meter is not None:
        meter.decoded += 1
        meter.decoded_bytes += size


async def yield_to_loop() -> None:
    """Let other tasks run. The time until this task continues is added to the phase `queue`."""
    meter = _current.get()
    if meter is None:
        await asyncio.sleep(0)
        return
    started = time.perf_counter()
    await asyncio.sleep(0)
    meter.add_phase("queue", (time.perf_counter() - started) * 1000.0)


def use_meter(meter: Meter | None) -> None:
    """Make `meter` the current one of this task and of tasks started from it; None: none."""
    _current.set(meter)


@contextmanager
def metered(meter: Meter) -> Iterator[Meter]:
    """Make `meter` the current one for the block and for tasks started in it."""
    token = _current.set(meter)
    try:
        yield meter
    finally:
        _current.reset(token)


SHORT_STEP = 0.0002  # seconds


@dataclass(slots=True, eq=False)
class CpuClock:
    """`await CpuClock(coroutine, meter)` awaits it and adds the CPU time of its steps to `meter.cpu_ms`.

    `waits` is called once, when the coroutine first suspends.

    Between two suspensions only this coroutine runs on the thread, so the thread's CPU time is its own.
    Reading the thread's clock is a system call, which takes longer than many a GET of a cached object: with
    `brief`, steps of less than SHORT_STEP count by the wall clock, and of a longer one the lesser of its wall
    time and of what the thread has spent since its clock was read last. Of the small steps of a live WATCH
    only every `meter.clocked_steps`th is measured, and stands for the others. Work in other tasks, and in
    threads that are not Python's (TLS, HTTP, gRPC), is not included.
    """

    coroutine: Coroutine[Any, Any, Any]
    meter: Meter
    brief: bool = False
    waits: Callable[[], None] | None = None
    _read: ClassVar[float] = 0.0  # the last reading of the event loop's thread

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, meter = self.coroutine, self.meter
        step: Callable[[Any], Any] = coroutine.send
        value: Any = None
        steps = 0
        while True:
            steps += 1
            every = meter.clocked_steps
            clocked = steps % every == 0
            if clocked:
                began = perf_counter() if self.brief else thread_time()
            try:
                awaited = step(value)
            except StopIteration as done:
                return done.value
            finally:
                if clocked:
                    seconds = self._since(began) if self.brief else thread_time() - began
                    meter.cpu_ms += seconds * 1000.0 * every
            if steps == 1 and self.waits is not None:
                self.waits()
            try:
                value = yield awaited
                step = coroutine.send
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                step, value = coroutine.throw, error

    @staticmethod
    def _since(began: float) -> float:
        """Return the CPU seconds of a step that began at `began`, on the wall clock."""
        passed = perf_counter() - began
        if passed < SHORT_STEP:
            return passed
        now = thread_time()
        spent, CpuClock._read = now - CpuClock._read, now
        return min(passed, spent)


def in_thread(work: Callable[[bytes], bytes], piece: bytes) -> bytes:
    """Return `work(piece)`, and add its CPU time to the current meter. Call it in a worker thread.

    The request has to wait for it, so that nothing else changes the meter meanwhile.
    """
    begun = thread_time()
    try:
        return work(piece)
    finally:
        current_meter().cpu_ms += (thread_time() - begun) * 1000.0
