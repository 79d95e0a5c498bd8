"""kubelet-configmaps: how kubelets keep the ConfigMaps of their pods current, by strategy and version.

Simulated time is faster than real time by the knob `speed`. Rates in the table are per simulated second.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial

from ktui.client.connection import ClientError
from ktui.core.format import figure, milliseconds
from ktui.workloads.behaviours.client_reflector import LoadReflector
from ktui.workloads.behaviours.object_store import (
    LEAST_FACTOR,
    MOST_FACTOR,
    MOST_RECENT,
    KubeletFleet,
    ObjectStore,
)
from ktui.workloads.running.account import Account
from ktui.workloads.running.figures import LoadFigures
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import MOST_NAMES, FindingsTable, Fix, LoadContext, Workload, names_in

STRATEGIES = ("Cache", "Get", "Watch")
MOST_WATCHES = 400  # one connection each
MODEL_SHARE = 0.05  # of the time between two syncs, which a GET may take

KNOBS = (
    Knob("kubelets", 5, "kubelets", least=1, most=200, former="nodes"),
    Knob("pods", 20, "pods of each node", least=1, most=250),
    Knob("references", 2, "ConfigMaps that each pod mounts", least=1, most=10),
    Knob("configmaps", 0, "different ConfigMaps of a node; 0: as many as there are references", most=1_000,
         former="objects"),
    Knob("strategy", "Cache", "configMapAndSecretChangeDetectionStrategy", STRATEGIES),
    Knob("kubelet_version", "1.28", "version: from 1.29 on a sync does not drop what is held",
         ("1.28", "1.29"), former="kubelet"),
    Knob("sync_frequency", 60.0, "syncFrequency in simulated seconds", least=1, most=3_600, unit="s",
         former="sync"),
    Knob("extra_syncs", 0.0, "further syncs of each pod per simulated minute (PLEG, changes)", most=60,
         unit="/min", former="updates"),
    Knob("cluster_nodes", 0, "nodes of the cluster: they decide the TTL; 0: as the server has", most=15_000,
         former="cluster"),
    Knob("immutable", False, "whether the ConfigMaps are immutable: with Watch they are read once"),
    Knob("speed", 20.0, "by how much simulated time is faster than real time", least=1, most=200, unit="×"),
)  # fmt: skip


@dataclass(order=True)
class PodSync:
    """The next sync of one pod; `at` is in real seconds of the loop's clock."""

    at: float
    number: int
    kubelet: Kubelet = field(compare=False)
    pod: str = field(compare=False)
    names: tuple[str, ...] = field(compare=False)


class Kubelet:
    """The kubelet of one node: its manager and its client."""

    def __init__(self, client: LoadClient, store: ObjectStore) -> None:
        self.client = client
        self.store = store
        self.watched: set[str] = set()
        self._fetching: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def sync(self, context: LoadContext, pod: str, names: Sequence[str], tasks: NodeTasks) -> None:
        """Sync a pod, then access its volumes as the reconciler does in its next iteration."""
        self.store.register_pod(pod, names)
        for name in names:
            match context.knobs.text("strategy"):
                case "Get":
                    await self._read(name, MOST_RECENT)
                case "Watch":
                    tasks.start(self, name)
                case _:  # under the object's lock, as upstream reads it; dropped data has no lock
                    async with nullcontext() if self.store.minor <= 28 else self._fetching[name]:
                        now = asyncio.get_running_loop().time() * context.knobs.number("speed")  # simulated
                        version = self.store.version_to_read(name, now)
                        if version is not None and await self._read(name, version):
                            self.store.fetched(name, now)

    async def _read(self, name: str, version: str) -> bool:
        query = f"?resourceVersion={version}" if version else ""
        try:
            answer = await self.client.get(f"{name}{query}", "GET rv=0" if version else "GET")
        except ClientError:
            return False
        return answer.ok


class NodeTasks:
    """The syncs in progress, and the reflectors of the strategy Watch: one for each object of each node.

    A pod has one sync at a time, as with a kubelet: updates that arrive meanwhile become one sync after it.
    """

    def __init__(self, context: LoadContext, group: asyncio.TaskGroup, syncs: Sequence[PodSync]) -> None:
        self._context = context
        self._group = group
        self._tasks: set[asyncio.Task[None]] = set()
        self._reflectors: list[LoadReflector] = []
        self._unsynced = {sync.number for sync in syncs}
        self._all_synced = asyncio.Event()
        self._syncing: dict[int, asyncio.Task[None]] = {}
        self._updated: set[int] = set()

    def sync(self, pod: PodSync, *, updated: bool = False) -> None:
        """Synchronise the pod; a bug in it ends the run."""
        if pod.number in self._syncing:
            if updated:
                self._updated.add(pod.number)
            return
        task = self._syncing[pod.number] = self._group.create_task(self._sync(pod))
        task.add_done_callback(partial(self._synced, pod.number))

    async def _sync(self, pod: PodSync) -> None:
        again = True
        try:
            while again:
                self._context.count("syncs")
                await pod.kubelet.sync(self._context, pod.pod, pod.names, self)
                again = pod.number in self._updated
                self._updated.discard(pod.number)
        finally:
            del self._syncing[pod.number]  # an update from now on begins a sync of its own

    async def drain(self) -> None:
        """Let the syncs in progress end."""
        self._updated.clear()
        await self._context.drain([*self._syncing.values()])

    def _synced(self, number: int, task: asyncio.Task[None]) -> None:
        self._unsynced.discard(number)
        if not self._unsynced:
            self._all_synced.set()

    async def first_syncs(self) -> None:
        """Return once every pod has been synchronised, and what is to be watched is."""
        await self._all_synced.wait()
        for reflector in self._reflectors:
            await reflector.synced.wait()

    def start(self, kubelet: Kubelet, name: str) -> None:
        if name in kubelet.watched:
            return
        kubelet.watched.add(name)
        if len(self._tasks) >= MOST_WATCHES:
            self._context.count("watches_not_opened")
            return
        # LIST one object from the cache, then WATCH it; immutable objects are not watched.
        collection, _, object_name = name.rpartition("/")
        selector = f"fieldSelector=metadata.name%3D{object_name}"
        watches = not self._context.knobs.yes("immutable")
        client = self._context.client("kubelet/v1.29.0")
        reflector = LoadReflector(client, collection, selector, "LIST one", watches=watches)
        self._reflectors.append(reflector)
        task = self._group.create_task(reflector.run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()


async def run(context: LoadContext) -> None:
    """Synchronise the kubelets' pods until the run ends; a changed knob restarts them."""
    names = await names_in(context.cluster.client, "/api/v1/configmaps", MOST_NAMES)
    maps = [f"/api/v1/namespaces/{namespace}/configmaps/{name}" for namespace, name in names]
    if not maps:
        raise ClientError("the server has no ConfigMaps: `ktui seed` fills it with a demo cluster")
    after = ""
    while True:
        context.speed = context.knobs.number("speed")
        fleet = fleet_of(context, len(maps))
        syncs = _pods(context, fleet, maps)
        async with asyncio.TaskGroup() as group:
            tasks = NodeTasks(context, group, syncs)
            phases = group.create_task(_phases(context, fleet, after, tasks))
            await _synchronise(context, group, syncs, tasks)
            phases.cancel()
            tasks.stop()
        after = f"{context.phase}, "


async def _phases(context: LoadContext, fleet: KubeletFleet, after: str, tasks: NodeTasks) -> None:
    """Begin the phases: every pod's first sync, then the steady state, which the formula describes."""
    if context.memory.get("begun") == fleet:  # in an earlier slice of a comparison
        return
    context.memory["begun"] = fleet
    context.begin(f"{after}first syncs")
    await asyncio.sleep(fleet.sync * MOST_FACTOR / context.speed)
    await tasks.first_syncs()
    context.begin(f"{after}steady")
    context.memory.setdefault("fleets", {})[context.phase] = fleet


def fleet_of(context: LoadContext, available: int) -> KubeletFleet:
    """Return the fleet that the knobs describe, with as many different objects as the server has."""
    knobs = context.knobs
    pods, references = knobs.integer("pods"), knobs.integer("references")
    objects = min(knobs.integer("configmaps") or pods * references, pods * references, available)
    return KubeletFleet(
        nodes=knobs.integer("kubelets"), pods=pods, references=min(references, objects), objects=objects,
        strategy=knobs.text("strategy"), minor=int(knobs.text("kubelet_version").partition(".")[2]),
        sync=knobs.number("sync_frequency"), updates=knobs.number("extra_syncs") / 60,
        cluster=knobs.integer("cluster_nodes") or len(context.cluster.nodes),
    )  # fmt: skip


def _pods(context: LoadContext, fleet: KubeletFleet, maps: Sequence[str]) -> list[PodSync]:
    """Return every pod with its next sync, spread over one interval as in a cluster that has run for a while.

    Kubelets of an earlier slice of a comparison keep their cached objects.
    """
    if context.memory.get("of") != fleet:
        context.memory["of"] = fleet
        context.memory["kubelets"] = [
            Kubelet(context.client(f"kubelet/v1.{fleet.minor}.0"), ObjectStore(fleet.minor, fleet.ttl))
            for _ in range(fleet.nodes)
        ]
    now = asyncio.get_running_loop().time()
    syncs: list[PodSync] = []
    for node, kubelet in enumerate(context.memory["kubelets"]):
        own = [maps[(node * fleet.objects + place) % len(maps)] for place in range(fleet.objects)]
        for pod in range(fleet.pods):
            names = tuple(own[(pod * fleet.references + r) % fleet.objects] for r in range(fleet.references))
            at = now + context.rng.random() * _interval(context, fleet) / context.speed
            syncs.append(PodSync(at, len(syncs), kubelet, f"pod-{pod}", names))
    return syncs


def _interval(context: LoadContext, fleet: KubeletFleet) -> float:
    return fleet.sync * context.rng.uniform(LEAST_FACTOR, MOST_FACTOR)


async def _synchronise(
    context: LoadContext, group: asyncio.TaskGroup, syncs: list[PodSync], tasks: NodeTasks
) -> None:
    """Run syncs at their times until a knob changes. Times are absolute: a late sync delays no other."""
    fleet: KubeletFleet = context.memory["of"]
    clock = asyncio.get_running_loop().time
    heapq.heapify(syncs)
    updates = group.create_task(_updates(context, list(syncs), fleet, tasks))
    try:
        while True:
            due = syncs[0]
            if due.at > clock() and await context.pause(due.at - clock()):
                return
            tasks.sync(due)
            due.at += _interval(context, fleet) / context.speed
            heapq.heapreplace(syncs, due)
    finally:
        updates.cancel()
        await tasks.drain()


async def _updates(
    context: LoadContext, pods: Sequence[PodSync], fleet: KubeletFleet, tasks: NodeTasks
) -> None:  # fmt: skip
    """Run syncs for reasons other than the resync, at random times and a given rate."""
    per_second = fleet.updates * len(pods) * context.speed
    while per_second:
        await asyncio.sleep(context.rng.expovariate(per_second))
        tasks.sync(context.rng.choice(pods), updated=True)


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    """Return GETs per simulated second, by the formula and as the server counted them."""
    rows = []
    for phase, fleet in context.memory.get("fleets", {}).items():
        figures = account.phases.get((context.variant, phase))
        seconds = context.memory.get("seconds", {}).get(phase, 0.0)
        if figures is None or not seconds:
            continue
        measured = gets(figures, seconds * context.speed)
        manager = f"{fleet.strategy} {'≥' if fleet.minor > 28 else '≤'} 1.{fleet.minor}"
        for route, formula, found in zip(("etcd", "cache"), fleet.rates(), measured, strict=True):
            off = f"{(found - formula) / formula:+.1%}" if formula else "–"
            rows.append((phase, manager, route, figure(formula), figure(found), off))
    heads = ("phase", "manager", "GETs to", "formula/s", "measured/s", "off by")
    notes = (
        f"per simulated second; simulated time is {context.speed:g} times as fast as real time",
        "formula: nodes × pods × references × (1/75 s at a syncFrequency of 60 s + updates)",
        "from 1.29 on from the cache, and at most objects ÷ (TTL + the wait for the next access)",
    )
    return [FindingsTable("GETs of ConfigMaps", heads, tuple(rows), notes)] if rows else []


def caveats(context: LoadContext, account: Account) -> list[str]:
    """Return a warning if a GET takes so long in simulated time that the formula no longer holds."""
    found = []
    for phase, fleet in context.memory.get("fleets", {}).items():
        figures = account.phases.get((context.variant, phase))
        latency = figures.milliseconds(0.95) / 1_000 if figures is not None else 0.0
        if latency * context.speed > fleet.mean_sync * MODEL_SHARE:
            found.append(
                f"{phase}: a GET takes {milliseconds(latency * 1_000)} ms (p95), which are "
                f"{latency * context.speed:.1f} s of simulated time; with {fleet.mean_sync:g} s between two "
                "syncs the formula, which takes it as nothing, does not hold: lower the knob speed"
            )
    return found


def gets(figures: LoadFigures, seconds: float) -> tuple[float, float]:
    total = figures.verb_routes
    return total["GET", "etcd"] / seconds, total["GET", "cache"] / seconds


WORKLOAD = Workload(
    name="kubelet-configmaps",
    sentence="Kubelets keep the ConfigMaps of their pods current: how many GETs reach etcd, by strategy?",
    own_knobs=KNOBS, run=run, tables=tables, caveats=caveats,
    fixes=(
        Fix("strategy Watch: no GETs", ("strategy=Watch",)), Fix("strategy Cache", ("strategy=Cache",)),
        Fix("kubelets 1.29: what is held is not dropped", ("kubelet_version=1.29",)),
        Fix("kubelets 1.28", ("kubelet_version=1.28",)),
        Fix("syncFrequency 5 min", ("sync_frequency=300",)), Fix("half the references", ("references=1",)),
        Fix("immutable ConfigMaps (with Watch)", ("strategy=Watch", "immutable=yes")),
    ),
)  # fmt: skip
