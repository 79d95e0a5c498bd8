"""The CPU time of one coroutine among many on the same thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from time import thread_time
from typing import Any, TypeVar

from ktui.telemetry.meter import Meter, current_meter

T = TypeVar("T")


class CpuClock:
    """`await CpuClock(coroutine, meter)` awaits it and adds the CPU time of its steps to `meter.cpu_ms`.

    Between two suspensions only this coroutine runs on the thread, so the thread's CPU time is its own.
    (Two readings take 1 µs, which matters for the small steps of a live WATCH: only every
    `meter.clocked_steps`th step is measured, and stands for the others.) Work in other tasks, and in threads
    that are not Python's (TLS, HTTP, gRPC), is not included.
    """

    __slots__ = ("_coroutine", "_meter")

    def __init__(self, coroutine: Coroutine[Any, Any, T], meter: Meter) -> None:
        self._coroutine = coroutine
        self._meter = meter

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, meter = self._coroutine, self._meter
        step: Callable[[Any], Any] = coroutine.send
        value: Any = None
        steps = 0
        while True:
            steps += 1
            every = meter.clocked_steps
            begun = thread_time() if steps % every == 0 else None
            try:
                awaited = step(value)
            except StopIteration as done:
                return done.value
            finally:
                if begun is not None:
                    meter.cpu_ms += (thread_time() - begun) * 1000.0 * every
            try:
                value = yield awaited
                step = coroutine.send
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                step, value = coroutine.throw, error


def in_thread(work: Callable[[bytes], bytes], piece: bytes) -> bytes:
    """Return `work(piece)`, and add its CPU time to the current meter. Call it in a worker thread.

    The request has to wait for it, so that nothing else changes the meter meanwhile.
    """
    begun = thread_time()
    try:
        return work(piece)
    finally:
        current_meter().cpu_ms += (thread_time() - begun) * 1000.0
