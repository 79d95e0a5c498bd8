"""How long one coroutine, among many on the same thread, was at work."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from time import perf_counter, thread_time
from typing import Any, TypeVar

from ktui.telemetry.meter import Meter, current_meter

T = TypeVar("T")


class BusyClock:
    """`await BusyClock(coroutine, meter)` awaits it and adds the time of its steps to `meter.busy_ms`.

    Between two suspensions a coroutine has the thread to itself, so the time of each such
    step is its own: CPU time, and what the operating system took away meanwhile. (The
    thread's CPU clock would tell the two apart, but a reading of it takes up to 2 µs: 5 %
    of a LIST from the cache.) What is done for it elsewhere is not in it: in other tasks,
    and in threads that are not Python's (TLS, HTTP, gRPC).
    """

    __slots__ = ("_coroutine", "_meter")

    def __init__(self, coroutine: Coroutine[Any, Any, T], meter: Meter) -> None:
        self._coroutine = coroutine
        self._meter = meter

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, meter = self._coroutine, self._meter
        step: Callable[[Any], Any] = coroutine.send
        value: Any = None
        while True:
            begun = perf_counter()
            try:
                awaited = step(value)
            except StopIteration as done:
                return done.value
            finally:
                meter.busy_ms += (perf_counter() - begun) * 1000.0
            try:
                value = yield awaited
                step = coroutine.send
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                step, value = coroutine.throw, error


def in_thread(work: Callable[[bytes], bytes], piece: bytes) -> bytes:
    """`work(piece)` in a worker thread that has the request's context: its CPU time counts as well.

    The request waits for it, so nobody else writes to the meter meanwhile.
    """
    begun = thread_time()
    try:
        return work(piece)
    finally:
        current_meter().busy_ms += (thread_time() - begun) * 1000.0
