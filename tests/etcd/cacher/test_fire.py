"""Random schedules of writes, reads, watches, outages and compactions over a real etcd.

After every step: a consistent LIST is never older than the last acknowledged write,
every LIST is what etcd held at its resourceVersion, and each watcher has seen the
events after its own in order, once, or its stream has ended or said 410.

KTUI_FIRE=5000 plays as many schedules, KTUI_FIRE_SEED=7 others than the usual ones.
A schedule that fails is printed as the steps that reproduce it; KTUI_FIRE_SHRINK=1
looks for a shorter one first, which takes minutes.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Coroutine
from functools import partial
from typing import Any

import anyio.to_thread
import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ktui.cacher import patience, watch_cache
from ktui.cacher.ring import Ring

from .fire import Fire
from .shot_etcd import ShotEtcd

pytestmark = pytest.mark.anyio

SCHEDULES = int(os.environ.get("KTUI_FIRE", "20"))
SEED = int(os.environ.get("KTUI_FIRE_SEED", "1"))
SHRINK = bool(os.environ.get("KTUI_FIRE_SHRINK"))
STEPS = 30

VERSIONS = st.sampled_from(["1.24", "1.30", "1.32", "1.33", "1.36"])
NAMES = st.sampled_from([f"c{number}" for number in range(5)])
SOME = st.lists(NAMES, min_size=1, max_size=3, unique=True)
COLOURS = st.sampled_from(["red", "blue"])
ANY_COLOUR = st.sampled_from(["", "red", "blue"])
FRACTIONS = st.sampled_from([0.0, 0.3, 0.6, 0.9, 0.97, 1.0])
READS = st.sampled_from(
    ["", "", "limit=2", "labelSelector=colour%3Dred", "limit=1&labelSelector=colour%3Dblue"]
)

_numbers = itertools.count(1)


class FireMachine(RuleBasedStateMachine):
    """Runs in a thread of its own; everything is done in the event loop of the test."""

    loop: asyncio.AbstractEventLoop
    etcd: ShotEtcd

    def _do(self, step: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(step, self.loop).result()

    def _call(self, step: Any, *arguments: Any) -> None:
        async def inside() -> None:
            step(*arguments)

        self._do(inside())

    @initialize(version=VERSIONS)
    def start(self, version: str) -> None:
        self.fire = Fire(self.etcd, f"/fire{next(_numbers)}")
        self._do(self.fire.start(version))

    running = precondition(lambda self: not self.fire.paused)
    up = precondition(lambda self: self.fire.up)

    @running
    @rule(name=NAMES, colour=COLOURS)
    def put(self, name: str, colour: str) -> None:
        self._do(self.fire.put(name, colour))

    @running
    @rule(count=st.sampled_from([5, 20, 80]), colour=COLOURS)
    def burst(self, count: int, colour: str) -> None:
        self._do(self.fire.burst(count, colour))

    @running
    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        self._do(self.fire.delete(name))

    @running
    @rule(names=SOME, colour=COLOURS)
    def put_leased(self, names: list[str], colour: str) -> None:
        self._do(self.fire.put_leased(names, colour))

    @running
    @rule(names=SOME, colour=COLOURS)
    def put_and_revoke(self, names: list[str], colour: str) -> None:
        self._do(self.fire.put_and_revoke(names, colour))

    @running
    @rule(fraction=FRACTIONS, announced=st.booleans())
    def compact(self, fraction: float, announced: bool) -> None:
        self._do(self.fire.compact(fraction, announced=announced))

    @running
    @rule()
    def pause(self) -> None:
        self._call(self.fire.pause)

    @precondition(lambda self: self.fire.paused)
    @rule()
    def resume(self) -> None:
        self._call(self.fire.resume)

    @precondition(lambda self: self.fire.linked)
    @rule(stall=st.booleans())
    def cut(self, stall: bool) -> None:
        self._call(self.fire.stall if stall else self.fire.cut)

    @precondition(lambda self: not self.fire.linked)
    @rule()
    def restore(self) -> None:
        self._call(self.fire.restore)

    @rule(seconds=st.sampled_from([0.0, 0.005, 0.05]))
    def delay(self, seconds: float) -> None:
        self._call(self.fire.delay, seconds)

    @rule(version=VERSIONS)
    def switch(self, version: str) -> None:
        self._call(self.fire.switch, version)

    @rule(query=READS)
    def read(self, query: str) -> None:
        self._do(self.fire.read(query))

    @rule(fraction=FRACTIONS)
    def read_exactly(self, fraction: float) -> None:
        self._do(self.fire.read_exactly(fraction))

    @rule(fraction=FRACTIONS)
    def read_at_least(self, fraction: float) -> None:
        self._do(self.fire.read_at_least(fraction))

    @up
    @rule(fraction=FRACTIONS, colour=ANY_COLOUR)
    def watch(self, fraction: float, colour: str) -> None:
        self._do(self.fire.watch(fraction, colour))

    @rule(index=st.integers(0, 3))
    def stop_reading(self, index: int) -> None:
        self._call(self.fire.stop_reading, index)

    @rule()
    def go_on_reading(self) -> None:
        self._call(self.fire.go_on_reading)

    @invariant()
    def check(self) -> None:
        self._do(self.fire.check())

    def teardown(self) -> None:
        if not hasattr(self, "fire"):
            return
        try:
            self._do(self.fire.settle())
        finally:
            self._do(self.fire.close())


@pytest.fixture(scope="module")
async def shot_etcd(anyio_backend: object) -> AsyncIterator[ShotEtcd]:
    etcd = await ShotEtcd.start()
    yield etcd
    await etcd.close()


@pytest.mark.timeout(300 if SCHEDULES <= 20 else 0)
async def test_nothing_is_ever_stale_lost_or_repeated(shot_etcd: ShotEtcd, monkeypatch):
    # Small, so that schedules of some steps get to where events are evicted and attempts are repeated.
    monkeypatch.setattr(watch_cache, "Ring", partial(Ring, lower=8, upper=64))
    monkeypatch.setattr(patience, "SHORTEST_PAUSE", 0.01)
    machine = type("Machine", (FireMachine,), {"loop": asyncio.get_running_loop(), "etcd": shot_etcd})
    seed(SEED)(machine)
    play = settings(
        max_examples=SCHEDULES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink) if SHRINK else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    await anyio.to_thread.run_sync(lambda: run_state_machine_as_test(machine, settings=play))
