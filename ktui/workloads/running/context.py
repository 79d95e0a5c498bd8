"""What a workload is given when it runs: clients, knobs, phases, and a place for its findings."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ktui.contract.faults import Fault
from ktui.supervision import stop
from ktui.workloads.running.account import Account
from ktui.workloads.running.cluster import Cluster
from ktui.workloads.running.fleet import Fleet, LoadClient
from ktui.workloads.running.knobs import Knobs
from ktui.workloads.running.tags import Tag
from ktui.workloads.running.users import LoadUser, user_of

DRAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class FindingsTable:
    """A workload's own table in the summary: cells are text, all columns but the first are numbers.

    `data` is what programs get beyond the cells.
    """

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    data: tuple[dict[str, Any], ...] = ()

    def shown(self) -> dict[str, Any]:
        """What people see of it, as JSON."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.heads, row, strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }

    def document(self) -> dict[str, Any]:
        return self.shown() | ({"data": list(self.data)} if self.data else {})


async def _no_faults(fault: Fault) -> None:
    raise AssertionError(f"no run to inject {fault} into")


async def _no_rules(version: str, gates: Mapping[str, bool]) -> None:
    raise AssertionError(f"no run to follow the rules of {version} in")


@dataclass(slots=True)
class LoadContext:
    """`found` are figures that only the workload knows, by name; `now` says in a few words what goes on.

    `inject` begins a fault: kinds that are always used belong into `Workload.faults`. `follow_rules`
    makes ktui's server follow a version's rules with these gates until the run ends (ClientError).
    `speed` is by how much simulated time is faster than real time: a workload that simulates sets it.
    """

    workload: str
    run: str
    variant: str
    knobs: Knobs
    cluster: Cluster
    fleet: Fleet
    account: Account
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    speed: float = 1.0
    now: str = ""
    found: dict[str, float | int | str] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)  # of the workload, for its tables
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _phase: str = "run"
    began: Callable[[str], None] = lambda _: None
    stopped: Callable[[], None] = lambda: None
    replica: Fleet | None = None  # connections to a second server over the same etcd
    inject: Callable[[Fault], Awaitable[None]] = field(default=_no_faults)
    follow_rules: Callable[[str, Mapping[str, bool]], Awaitable[None]] = field(default=_no_rules)

    @property
    def phase(self) -> str:
        return self._phase

    def begin(self, phase: str) -> None:
        """Requests from now on belong to `phase`."""
        if phase != self._phase:
            self._phase = phase
            self.began(phase)

    def client(self, agent: str, user: LoadUser | None = None) -> LoadClient:
        """One more client; `agent` is the first part of its User-Agent, and decides its user."""
        return LoadClient(self.fleet, agent, user or user_of(agent), self._tag, self.account)

    def replica_client(self, agent: str) -> LoadClient:
        """A client of the second replica, whose account is not part of the run's figures."""
        assert self.replica is not None
        return LoadClient(self.replica, agent, user_of(agent), self._tag, Account(self.run))

    async def drain(self, tasks: Collection[asyncio.Task[None]]) -> None:
        """Let requests in flight end, for a few seconds: they belong to the phase, this time does not."""
        self.stopped()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=DRAIN_SECONDS)
            await stop(*late)

    def count(self, name: str, more: float = 1) -> None:
        """Add to one of `found`."""
        before = self.found.get(name, 0)
        assert not isinstance(before, str)
        self.found[name] = before + more

    async def pause(self, seconds: float) -> bool:
        """Wait; True when a knob was changed since the last time, which ends the wait."""
        try:
            async with asyncio.timeout(seconds):
                await self.changed.wait()
        except TimeoutError:
            return False
        self.changed.clear()
        return True

    def _tag(self, label: str) -> Tag:
        return Tag(self.workload, self.run, self.variant, self._phase, label)
