"""What a workload is given when it runs: clients, knobs, phases, and a place for its findings."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ktui.workloads.running.account import Account
from ktui.workloads.running.cluster import Cluster
from ktui.workloads.running.fleet import Fleet, LoadClient
from ktui.workloads.running.knobs import Knobs
from ktui.workloads.running.tags import Tag


@dataclass(frozen=True, slots=True)
class Table:
    """A workload's own table in the summary: cells are text, all columns but the first are numbers."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "rows": [dict(zip(self.heads, row, strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }


@dataclass(slots=True)
class Stage:
    """`found` are figures that only the workload knows, by name; `now` says in a few words what goes on.

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
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _phase: str = "run"
    _begun: Callable[[str], None] = lambda _: None

    @property
    def phase(self) -> str:
        return self._phase

    def begin(self, phase: str) -> None:
        """Requests from now on belong to `phase`."""
        if phase != self._phase:
            self._phase = phase
            self._begun(phase)

    def client(self, agent: str) -> LoadClient:
        """One more client; `agent` is the first part of its User-Agent."""
        return LoadClient(self.fleet.lend(), agent, self._tag, self.account)

    def count(self, name: str, more: float = 1) -> None:
        """Add to one of `found`."""
        before = self.found.get(name, 0)
        assert not isinstance(before, str)
        self.found[name] = before + more

    async def pause(self, seconds: float) -> bool:
        """Wait; True when a knob was changed meanwhile, which ends the wait."""
        self.changed.clear()
        try:
            async with asyncio.timeout(seconds):
                await self.changed.wait()
        except TimeoutError:
            return False
        return True

    def _tag(self, label: str) -> Tag:
        return Tag(self.workload, self.run, self.variant, self._phase, label)
