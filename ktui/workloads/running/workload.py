"""A workload (knobs, and a function that sends requests), and the context that it runs in."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError
from ktui.client.list_stream import ItemList
from ktui.contract.faults import Fault
from ktui.contract.paths import Rules
from ktui.documents.limits import DocumentError, decode_json
from ktui.supervision import stop
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import Fleet, LoadClient
from ktui.workloads.running.knobs import Knob, Knobs
from ktui.workloads.running.users import LoadUser, Tag, user_of


@dataclass(frozen=True, slots=True)
class Fix:
    """A remedy that can be applied while the workload runs: a title and the knobs that it sets."""

    title: str
    settings: tuple[str, ...]


# Knobs that every workload has.
VERSION = Knob("version", "", "Kubernetes version whose rules ktui's server follows; empty: as it is")


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload. `run` sends requests until it returns or is cancelled.

    `tables` returns the tables that the summary shows in addition to the common figures, `caveats` sentences
    on what they do not show.
    """

    name: str
    sentence: str
    own_knobs: tuple[Knob, ...]
    run: Callable[[LoadContext], Awaitable[None]]
    tables: Callable[[LoadContext, Account], Sequence[FindingsTable]] = lambda _stage, _account: ()
    caveats: Callable[[LoadContext, Account], Sequence[str]] = lambda _context, _account: ()
    fixes: tuple[Fix, ...] = ()
    writes: bool = False  # whether it creates or changes objects
    faults: tuple[str, ...] = ()  # faults that it injects itself
    replica: bool = False  # whether it needs a second server over the same etcd

    @property
    def knobs(self) -> tuple[Knob, ...]:
        return (*self.own_knobs, VERSION)

    def settings(self) -> Knobs:
        return Knobs(self.knobs)


MOST_NAMES = 5_000
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster, and its names."""

    client: ApiClient
    nodes: tuple[str, ...]
    namespaces: tuple[str, ...]

    def node(self, index: int) -> str:
        """Return the node of agent number `index`; with more agents than nodes, several share one."""
        return self.nodes[index % len(self.nodes)]


async def read_cluster(client: ApiClient) -> Cluster:
    """Read the names; raise ClientError if there are no nodes or no server."""
    nodes = await names_in(client, "/api/v1/nodes", MOST_NAMES)
    if not nodes:
        raise ClientError("the server has no nodes: `ktui seed` fills it with a demo cluster")
    namespaces = await names_in(client, "/api/v1/namespaces", MOST_NAMES)
    return Cluster(client, tuple(name for _, name in nodes), tuple(name for _, name in namespaces))


async def names_in(client: ApiClient, collection: str, limit: int) -> list[tuple[str, str]]:
    """Return one page of names, by a LIST that is not part of the run's figures."""
    response = await client.request("GET", f"{collection}?limit={limit}", headers={"Accept": METADATA_LIST})
    if response.status_code != 200:
        raise ClientError(f"cannot list {collection}: HTTP {response.status_code}")
    try:
        found = decode_json(response.content, ItemList)
    except DocumentError as error:
        raise ClientError(f"the answer to {collection} is not a list: {error}") from error
    return [(item.metadata.namespace, item.metadata.name) for item in found.items or []]


DRAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class FindingsTable:
    """A workload's own table of texts, all but the first of each row numbers; `data` is for programs."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    data: tuple[dict[str, Any], ...] = ()

    def shown(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "rows": [dict(zip(self.heads, row, strict=True)) for row in self.rows],
            "notes": list(self.notes),
        }

    def document(self) -> dict[str, Any]:
        return self.shown() | ({"data": list(self.data)} if self.data else {})


async def _no_run(what: Fault | Rules) -> None:
    raise AssertionError(f"no run that {what} could be for")


@dataclass(slots=True)
class LoadContext:
    """The context of a run. `found` are figures that only the workload knows; `now` says what it is doing.

    `inject` begins a fault; faults that a workload always uses belong in `Workload.faults`. `follow_rules`
    makes ktui's server follow a version's rules until the run ends (ClientError). `speed` is how many times
    faster than real time simulated time is; a workload that simulates sets it.
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
    actions: int = 0  # that are repeated at a rate
    late_actions: int = 0  # which took longer than the time until the next
    memory: dict[str, Any] = field(default_factory=dict)  # the workload's data for its tables
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    phase: str = "run"
    phase_ends: Callable[[], None] = lambda: None
    stopped: Callable[[], None] = lambda: None
    replica: Fleet | None = None  # connections to a second server over the same etcd
    inject: Callable[[Fault], Awaitable[None]] = field(default=_no_run)
    follow_rules: Callable[[Rules], Awaitable[None]] = field(default=_no_run)

    def begin(self, phase: str) -> None:
        """Begin a phase: requests from now on belong to it."""
        if phase != self.phase:
            self.phase_ends()
            self.phase = phase

    def client(self, agent: str, user: LoadUser | None = None) -> LoadClient:
        """Return a new client; `agent` is the first part of its User-Agent, and determines its user."""
        return LoadClient(self.fleet, agent, user or user_of(agent), self._tag, self.account)

    def replica_client(self, agent: str) -> LoadClient:
        """Return a client of the second replica, whose account is not part of the run's figures."""
        assert self.replica is not None
        return LoadClient(self.replica, agent, user_of(agent), self._tag, Account(self.run))

    async def drain(self, tasks: Collection[asyncio.Task[None]]) -> None:
        """Let requests in flight finish for a few seconds, which do not count as the phase's time."""
        self.stopped()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=DRAIN_SECONDS)
            await stop(*late)

    def count(self, name: str, more: float = 1) -> None:
        before = self.found.get(name, 0)
        assert not isinstance(before, str)
        self.found[name] = before + more

    def paced(self, took: float, interval: float) -> None:
        """Count an action that is to be repeated each `interval` seconds; late if it took longer."""
        self.actions += 1
        self.late_actions += took > interval

    async def pause(self, seconds: float) -> bool:
        """Wait; return True if a knob was changed since the last call, which ends the wait."""
        try:
            async with asyncio.timeout(seconds):
                await self.changed.wait()
        except TimeoutError:
            return False
        self.changed.clear()
        return True

    def _tag(self, label: str) -> Tag:
        return Tag(self.workload, self.run, self.variant, self.phase, label)
