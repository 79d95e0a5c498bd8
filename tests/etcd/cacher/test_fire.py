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
import logging
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
    rule,
    run_state_machine_as_test,
)

from ktui.cacher import errors, watch_cache
from ktui.cacher.event_buffer import EventBuffer

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
FRACTIONS = st.sampled_from([0.0, 0.3, 0.6, 0.9, 0.97, 1.0])
READS = st.sampled_from(["", "limit=2", "labelSelector=colour%3Dred", "limit=1&labelSelector=colour%3Dblue"])


def step(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(st.just(name), *arguments)


WRITES = st.one_of(
    step("put", NAMES, COLOURS),
    step("put", NAMES, COLOURS),
    step("put", NAMES, COLOURS),
    step("delete", NAMES),
    step("delete", NAMES),
    step("burst", st.sampled_from([5, 20, 80]), COLOURS),
    step("burst", st.sampled_from([5, 20, 80]), COLOURS),
    step("put_leased", SOME, COLOURS),
    step("put_and_revoke", SOME, COLOURS),
)
OUTAGES = st.one_of(
    step("pause"),
    step("cut"),
    step("stall"),
    step("resume"),
    step("restore"),
    step("delay", st.sampled_from([0.0, 0.005, 0.05])),
    step("compact", FRACTIONS, st.booleans()),
)
CLIENTS = st.one_of(
    step("read", READS),
    step("read_exactly", FRACTIONS),
    step("read_at_least", FRACTIONS),
    step("watch", FRACTIONS, st.sampled_from(["", "red", "blue"])),
    step("watch", FRACTIONS, st.sampled_from(["", "red", "blue"])),
    step("watch_list", st.sampled_from(["", "red", "blue"])),
    step("stop_reading", st.integers(0, 3)),
    step("go_on_reading"),
    step("switch", VERSIONS),
)

_numbers = itertools.count(1)


class FireMachine(RuleBasedStateMachine):
    """Runs in a thread of its own; everything is done in the event loop of the test.

    One rule for all: of many rules hypothesis leaves half out in each schedule, and
    what is looked for takes several kinds of steps together.
    """

    loop: asyncio.AbstractEventLoop
    etcd: ShotEtcd

    def _do(self, step: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(step, self.loop).result()

    @initialize(version=VERSIONS)
    def start(self, version: str) -> None:
        self.fire = Fire(self.etcd, f"/fire{next(_numbers)}")
        self._do(self.fire.start(version))

    @rule(step=st.one_of(WRITES, CLIENTS, OUTAGES))
    def do(self, step: tuple[Any, ...]) -> None:
        self._do(self.fire.do(*step))

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
async def test_nothing_is_ever_stale_lost_or_repeated(shot_etcd: ShotEtcd, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "ktui.cacher")  # why caches were listed again, should that be wrong
    # Small, so that schedules of some steps get to where events are evicted and attempts are repeated.
    monkeypatch.setattr(watch_cache, "EventBuffer", partial(EventBuffer, lower=8, upper=64))
    monkeypatch.setattr(errors, "SHORTEST_PAUSE", 0.01)
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
