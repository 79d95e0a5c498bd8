"""A workload: a name, a sentence, knobs, and a function that sends requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from ktui.workloads.running.account import Account
from ktui.workloads.running.context import FindingsTable, LoadContext
from ktui.workloads.running.knobs import Knob, Knobs

Run = Callable[[LoadContext], Awaitable[None]]
Caveats = Callable[[LoadContext, Account], Sequence[str]]
Tables = Callable[[LoadContext, Account], Sequence[FindingsTable]]


@dataclass(frozen=True, slots=True)
class Fix:
    """A remedy that can be applied while the workload runs: a title and the knobs that it sets."""

    title: str
    settings: tuple[str, ...]


# Knobs that every workload has.
VERSION = Knob("version", "", "Kubernetes version whose rules ktui's server follows; empty: as it is")


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload. `story` is its page in docs/workloads/. `run` sends requests until it returns or is
    cancelled.

    `tables` returns the tables that the summary shows in addition to the common figures, `caveats` sentences
    on what they do not show.
    """

    name: str
    sentence: str
    own_knobs: tuple[Knob, ...]
    run: Run
    tables: Tables = lambda _stage, _account: ()
    caveats: Caveats = lambda _context, _account: ()
    fixes: tuple[Fix, ...] = ()
    writes: bool = False  # whether it creates or changes objects
    faults: tuple[str, ...] = ()  # faults that it injects itself
    replica: bool = False  # whether it needs a second server over the same etcd

    @property
    def knobs(self) -> tuple[Knob, ...]:
        return (*self.own_knobs, VERSION)

    def settings(self) -> Knobs:
        return Knobs(self.knobs)
