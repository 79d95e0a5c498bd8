"""The CPU time of a request: its own steps, not its waiting, not what others do meanwhile."""

import asyncio
import time

import pytest

from ktui.telemetry import meter as module
from ktui.telemetry.meter import CpuClock, Meter, decoding, in_thread, metered, yield_to_loop


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def used_since(begun: float) -> float:
    """CPU milliseconds of this thread, collecting others' garbage too."""
    return (time.thread_time() - begun) * 1000.0


async def worker(seconds: float, turns: int) -> str:
    for _ in range(turns):
        burn(seconds)
        await asyncio.sleep(0)
    return "done"


def test_each_of_two_that_take_turns_is_charged_with_its_own() -> None:
    async def run() -> tuple[float, float]:
        light, heavy = Meter(), Meter()
        answers = await asyncio.gather(CpuClock(worker(0.001, 5), light), CpuClock(worker(0.004, 5), heavy))
        assert answers == ["done", "done"]
        return light.cpu_ms, heavy.cpu_ms

    begun = time.thread_time()
    light, heavy = asyncio.run(run())
    assert light >= 5 and heavy >= 20
    assert light + heavy <= used_since(begun), "nothing is charged twice"


def test_one_step_of_many_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    meter, now = Meter(clocked_steps=5), 0.0
    monkeypatch.setattr(module, "thread_time", lambda: now)

    async def work() -> None:
        nonlocal now
        for _ in range(20):
            now += 0.001
            await asyncio.sleep(0)

    async def run() -> None:
        await CpuClock(work(), meter)

    asyncio.run(run())
    assert meter.cpu_ms == pytest.approx(20)


def test_waiting_is_no_work_and_errors_pass_through() -> None:
    async def fails() -> None:
        await asyncio.wait_for(asyncio.Event().wait(), 0.2)

    meter = Meter()

    async def run() -> None:
        await CpuClock(fails(), meter)

    begun = time.thread_time()
    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert 0 < meter.cpu_ms <= used_since(begun)  # of which the 0.2 s are no part


def test_a_cancelled_request_ends_and_its_last_step_counts() -> None:
    async def run() -> tuple[bool, float]:
        cleaned, meter = asyncio.Event(), Meter()

        async def request() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                burn(0.003)
                cleaned.set()

        async def clocked() -> None:
            await CpuClock(request(), meter)

        task = asyncio.create_task(clocked())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return cleaned.is_set(), meter.cpu_ms

    cleaned, ms = asyncio.run(run())
    assert cleaned
    assert ms >= 3


def test_work_in_a_thread_counts_for_the_request_that_waits_for_it() -> None:
    def work(piece: bytes) -> bytes:
        burn(0.003)
        return piece

    async def run() -> float:
        with metered(Meter()) as meter:
            assert await asyncio.to_thread(in_thread, work, b"x") == b"x"
        return meter.cpu_ms

    assert asyncio.run(run()) >= 3


def test_time_in_which_others_run_is_queueing() -> None:
    async def run() -> tuple[Meter, Meter]:
        async def request(meter: Meter, seconds: float) -> None:
            with metered(meter):
                await yield_to_loop()
                burn(seconds)

        first, second = Meter(), Meter()
        await asyncio.gather(request(first, 0.0), request(second, 0.005))
        with metered(first):
            decoding(7)
        decoding(1_000)  # of no request
        return first, second

    first, second = asyncio.run(run())
    assert set(first.phases) == {"queue"} == set(second.phases)
    assert first.decoded_bytes == 7
    assert second.decoded_bytes == 0
