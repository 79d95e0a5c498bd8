"""One schedule: clients run under faults; afterwards everything has to recover and agree."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.faults import readers, watchers, writers
from tools.faults.bench import Bench, HarnessError
from tools.faults.check import caught_up, check
from tools.faults.faults import Faults
from tools.faults.objects import LAST, RESOURCES, SENTINEL, body, key_of
from tools.faults.records import Records, Violations, Write, clock
from tools.faults.watchers import Informer
from tools.faults.workload import NO_ANSWER, Workload

RECOVERY_SECONDS = 30.0  # longest recovery after the end of all faults
CATCH_UP_SECONDS = 30.0
VERSIONS = ("1.36", "1.36", "1.37", "1.33", "1.30", "1.25")
WRITERS, PAST_API, COUNTERS, PATCHERS, LISTERS, GETTERS, WATCHERS, INFORMERS = 3, 2, 4, 3, 4, 2, 8, 5

Client = Coroutine[Any, Any, None]


@dataclass(slots=True)
class Plan:
    """The schedule for a seed."""

    seed: int
    members: int
    version: str
    seconds: float

    @classmethod
    def of(cls, seed: int) -> Plan:
        rnd = random.Random(seed)
        return cls(seed, rnd.choice((1, 3, 3)), rnd.choice(VERSIONS), rnd.choice((10.0, 18.0)))


@dataclass(slots=True)
class Outcome:
    """The result of a schedule. `harness`: why it proves nothing, "" if it does. `recovered` in seconds."""

    violations: Violations
    records: Records = field(default_factory=Records)
    verified: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    recovered: float | None = None
    waited_for: str = ""  # the last problem before the recovery
    stood_still: float = 0.0  # longest stall of this process in seconds: delays up to it may be the machine's
    excused: int = 0  # events that informers missed within a transaction
    harness: str = ""


async def run(plan: Plan, etcd: Path, directory: Path, log: Path | None = None) -> Outcome:
    """Run a schedule on a new bench."""
    violations = Violations(log, seed=plan.seed, members=plan.members, version=plan.version)
    bench = Bench(plan.members, plan.version, etcd, directory, violations, plan.seed)
    outcome = Outcome(violations)
    try:
        await bench.start()
        await schedule(bench, plan.seed, plan.seconds, outcome)
    except HarnessError as error:
        outcome.harness = str(error)
    finally:
        await bench.close()
    return outcome


def keep(directory: Path, to: Path, outcome: Outcome) -> None:
    """Save the server's logs and the faults, to investigate a violation."""
    to.mkdir(parents=True, exist_ok=True)
    for name in ("ktui.log", "ktui.err"):
        if (directory / name).exists():
            (to / name).write_bytes((directory / name).read_bytes())
    (to / "faults.json").write_text(json.dumps(outcome.faults, indent=1))


async def schedule(
    bench: Bench, seed: int, seconds: float, outcome: Outcome, *, faulty: bool = True, restarts: bool = True
) -> None:
    """Run clients for `seconds`, with faults unless `faulty` is False; wait for recovery; check."""
    load = bench.workload(seed, outcome.records)
    informers = [Informer(load, f"informer {number}") for number in range(INFORMERS)]
    writing = [asyncio.create_task(client) for client in _writers(load)]
    reading = [asyncio.create_task(client) for client in _readers(load, informers)]
    measuring = asyncio.create_task(_measure_stalls(outcome))
    rnd = random.Random(f"{seed} faults")
    faults = Faults(rnd, bench.cluster, bench.server, bench.oracle, outcome.faults, restarts=restarts)
    try:
        end = clock() + seconds
        while clock() < end:
            await (faults.next() if faulty else asyncio.sleep(0.5))
            bench.look()
            _check_clients(writing + reading)
        bench.cluster.heal()
        await _recover(bench, load, outcome)
        await _cancel(writing)
        load.quiet.set()
        await _catch_up(bench, load, informers, outcome)
        _check_clients(reading)
        await _check_caches(load)
        if differs := await bench.cluster.disagreement():
            raise HarnessError(f"etcd itself has lost writes: {differs}")
    finally:
        await _cancel([*writing, *reading, measuring])
    outcome.verified = check(load.records, load.history, load.violations)


def _writers(load: Workload) -> list[Client]:
    return [
        *(writers.write_through_api(load, f"writer-{n}") for n in range(WRITERS)),
        *(writers.write_past_api(load, f"past {n}") for n in range(PAST_API)),
        *(writers.count(load, f"count {n}") for n in range(COUNTERS)),
        *(writers.patch_shared(load, f"patcher-{load.seed}-{n}") for n in range(PATCHERS)),
    ]


def _readers(load: Workload, informers: list[Informer]) -> list[Client]:
    return [
        *(readers.list_objects(load, f"list {n}") for n in range(LISTERS)),
        *(readers.get_objects(load, f"get {n}") for n in range(GETTERS)),
        *(watchers.watch(load, f"watch {n}") for n in range(WATCHERS)),
        watchers.watch_without_reading(load),
        *(informer.run() for informer in informers),
    ]


def _check_clients(clients: list[asyncio.Task[None]]) -> None:
    for client in clients:
        if client.done():
            raise HarnessError(f"a client of the checker failed: {client.exception()!r}")


async def _recover(bench: Bench, load: Workload, outcome: Outcome) -> None:
    outcome.recovered, problem = await bench.server.ready(load.api.http, RECOVERY_SECONDS)
    outcome.waited_for = problem
    if outcome.recovered is None:
        later, last = await bench.server.ready(load.api.http, 2 * RECOVERY_SECONDS)
        bench.violations.add(
            "not recovered", within=RECOVERY_SECONDS, problem=problem, later=later, last_problem=last
        )
    await asyncio.sleep(1.0)


async def _catch_up(bench: Bench, load: Workload, informers: list[Informer], outcome: Outcome) -> None:
    """Check that informers and open WATCHes catch up with all writes."""
    history = load.history
    last = max([await _write_last(load, resource) for resource in RESOURCES])
    if not await _until(lambda: bench.oracle.revision >= last):
        raise HarnessError("the independent watch has not seen the last write")

    def behind() -> list[Informer]:  # a write whose client was cancelled may still be made
        return [informer for informer in informers if not informer.agrees(history)]

    if not await _until(lambda: not behind()):
        for informer in behind():
            about = {"selection": informer.selection, "rv": informer.rv, "lists": informer.lists}
            load.violations.add("an informer does not have etcd's state", **about)
    outcome.excused = sum(one.check() for one in informers)
    lagging = [one for one in load.records.watches if one.status == 200 and not one.end]
    if not await _until(lambda: all(one.end or caught_up(one, history) for one in lagging)):
        for watched in lagging:
            if not watched.end and not caught_up(watched, history):
                load.violations.add("an open WATCH lags", url=watched.url, shown=len(watched.events))


async def _write_last(load: Workload, resource: str) -> int:
    key = key_of(resource, LAST, SENTINEL)
    for _ in range(40):
        mark = load.marks.next(resource)
        load.records.writes.append(Write("put_past", key, mark.id))
        try:
            return await load.cluster.put(key, json.dumps(body(resource, LAST, SENTINEL, mark)))
        except (*NO_ANSWER, RuntimeError):
            await asyncio.sleep(0.25)
    raise HarnessError("etcd takes no write after the end of all faults")


async def _check_caches(load: Workload) -> None:
    """Check that ktui finds its caches consistent with etcd, as soon as they are filled."""
    for resource in RESOURCES:
        status, end = 409, clock() + CATCH_UP_SECONDS
        while status == 409 and clock() < end:  # a late replacement of a dead watch fills the cache again
            status, answer = await load.api.request("POST", f"/ktui/v1/caches/{resource}/check", seconds=60)
            await asyncio.sleep(0.2 if status == 409 else 0)
        if status != 200 or not answer.get("consistent"):
            load.violations.add(
                "a cache is not what etcd holds", resource=resource, status=status, answer=answer
            )


async def _until(holds: Callable[[], bool]) -> bool:
    end = clock() + CATCH_UP_SECONDS
    while not holds():
        if clock() > end:
            return False
        await asyncio.sleep(0.2)
    return True


async def _measure_stalls(outcome: Outcome) -> None:
    while True:
        before = clock()
        await asyncio.sleep(0.05)
        outcome.stood_still = max(outcome.stood_still, clock() - before - 0.05)


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    """End the tasks. One whose HTTP client has lost the cancellation is cancelled again."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=1)
    await asyncio.gather(*tasks, return_exceptions=True)  # their errors are known or do not matter any more
