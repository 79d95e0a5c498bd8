"""The CPU time of one coroutine among many on the same thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from time import perf_counter, thread_time
from typing import Any, TypeVar

from ktui.telemetry.meter import Meter, current_meter

T = TypeVar("T")


SHORT_STEP = 0.0002  # seconds


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

    __slots__ = ("_brief", "_coroutine", "_meter", "_waits")

    _read = 0.0  # the last reading of the event loop's thread

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, T],
        meter: Meter,
        *,
        brief: bool = False,
        waits: Callable[[], None] | None = None,
    ) -> None:
        self._coroutine = coroutine
        self._meter = meter
        self._brief = brief
        self._waits = waits

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, meter = self._coroutine, self._meter
        step: Callable[[Any], Any] = coroutine.send
        value: Any = None
        steps = 0
        while True:
            steps += 1
            every = meter.clocked_steps
            clocked = steps % every == 0
            if clocked:
                began = perf_counter() if self._brief else thread_time()
            try:
                awaited = step(value)
            except StopIteration as done:
                return done.value
            finally:
                if clocked:
                    seconds = self._since(began) if self._brief else thread_time() - began
                    meter.cpu_ms += seconds * 1000.0 * every
            if steps == 1 and self._waits is not None:
                self._waits()
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
