"""Kubelets' reads of ConfigMaps: the manager in simulated time agrees with the formula."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from ktui.workloads.behaviours.object_store import (
    ANY,
    LEAST_FACTOR,
    MOST_FACTOR,
    MOST_RECENT,
    KubeletFleet,
    ObjectStore,
    ttl_of,
)
from ktui.workloads.catalog.kubelet_configmaps import WORKLOAD, Kubelet, NodeTasks, PodSync
from ktui.workloads.running.account import Account
from ktui.workloads.running.figures import LoadFigures

SECONDS = 20_000.0


def fleet(*, minor: int, cluster: int, objects: int = 40, nodes: int = 1) -> KubeletFleet:
    return KubeletFleet(
        nodes=nodes,
        pods=20,
        references=2,
        objects=objects,
        strategy="Cache",
        minor=minor,
        sync=60.0,
        updates=0.0,
        cluster=cluster,
    )


def simulated(of: KubeletFleet) -> Counter[str]:
    """Reads of one kubelet by their resourceVersion, after the first sync of every pod."""
    rng = random.Random(7)
    store, reads = ObjectStore(of.minor, of.ttl), Counter[str]()
    pods = {f"pod-{n}": rng.random() * of.sync for n in range(of.pods)}
    while (now := min(pods.values())) < SECONDS:
        pod = min(pods, key=pods.__getitem__)
        number = int(pod.partition("-")[2])
        names = [f"map-{(number * of.references + r) % of.objects}" for r in range(of.references)]
        store.register_pod(pod, names)
        for name in names:
            version = store.version_to_read(name, now)
            if version is not None:
                store.fetched(name, now)
                reads[version] += now > of.sync * MOST_FACTOR
        pods[pod] = now + of.sync * rng.uniform(LEAST_FACTOR, MOST_FACTOR)
    return reads


@pytest.mark.parametrize(
    "of",
    [
        fleet(minor=28, cluster=20),
        fleet(minor=28, cluster=5_000),
        fleet(minor=28, cluster=1_000, objects=3),
        fleet(minor=29, cluster=20),
        fleet(minor=29, cluster=1_000),  # a TTL of 30 s: older than that at every sync
        fleet(minor=29, cluster=1_000, objects=4),  # ten pods share each
        fleet(minor=29, cluster=2_000, objects=20),
        fleet(minor=29, cluster=5_000),
        fleet(minor=29, cluster=5_000, objects=2),
    ],
    ids=[
        "1.28",
        "1.28 large",
        "1.28 shared",
        "1.29",
        "1.29 large",
        "TTL 30 s",
        "60 s",
        "300 s",
        "300 s shared",
    ],
)
def test_the_manager_reads_as_often_as_the_formula_says(of: KubeletFleet) -> None:
    reads = simulated(of)
    for version, formula in zip((MOST_RECENT, ANY), of.rates(), strict=True):
        assert reads[version] / SECONDS == pytest.approx(formula, rel=0.1, abs=1e-9)


def test_shared_objects_are_read_at_most_once_in_a_ttl() -> None:
    shared = fleet(minor=29, cluster=5_000, objects=2)
    reads = simulated(shared)
    assert shared.rates()[0] == 0.0 and 2 / 305 < shared.rates()[1] < 2 / 300
    assert 0 < reads[ANY] / SECONDS <= 2 / 300
    assert reads[MOST_RECENT] == 0


def test_the_article_s_example() -> None:
    """110 pods with two references: 2.9 GETs a second of each node, 14,700 of 5,000."""
    one = KubeletFleet(1, 110, 2, 220, "Cache", 28, 60.0, 0.0, 5_000)
    assert one.rates()[0] == pytest.approx(2.93, abs=0.01)
    many = KubeletFleet(5_000, 110, 2, 220, "Get", 29, 60.0, 0.0, 5_000)
    assert many.rates()[0] == pytest.approx(14_667, abs=1)


@pytest.mark.parametrize(
    ("nodes", "seconds"), [(1, 0), (100, 0), (101, 15), (501, 30), (1_001, 60), (2_001, 300), (9_000, 300)]
)
def test_the_ttl_grows_with_the_cluster(nodes: int, seconds: int) -> None:
    assert ttl_of(nodes) == seconds


def test_what_is_held_is_dropped_by_every_sync_up_to_1_28() -> None:
    for minor, expected in ((28, MOST_RECENT), (29, None)):
        store = ObjectStore(minor, ttl=60.0)
        store.register_pod("a", ["map"])
        assert store.version_to_read("map", 0.0) == MOST_RECENT
        store.fetched("map", 0.0)
        store.register_pod("a", ["map"])
        assert store.version_to_read("map", 1.0) == expected


def test_a_first_read_is_from_etcd_and_an_old_one_refreshed_from_the_cache() -> None:
    store = ObjectStore(29, ttl=60.0)
    store.register_pod("a", ["map"])
    assert store.version_to_read("map", 1.0) == MOST_RECENT
    store.fetched("map", 1.0)
    assert [store.version_to_read("map", now) for now in (60.9, 61.0)] == [None, ANY]


def test_an_object_without_references_is_not_registered() -> None:
    store = ObjectStore(29, ttl=60.0)
    store.register_pod("a", ["map"])
    store.register_pod("a", [])
    with pytest.raises(KeyError):
        store.version_to_read("map", 0.0)
    store.fetched("map", 0.0)  # an answer that comes late


@pytest.mark.parametrize(("speed", "warns"), [(20.0, False), (200.0, True)])
def test_a_latency_that_leaves_the_model_is_reported(speed: float, warns: bool) -> None:
    account, figures = Account("r"), LoadFigures()
    figures.times.add(40_000)  # µs: 0.8 s of simulated time at 20×, 8 s at 200×, of 75 s between two syncs
    account.phases["", "steady"] = figures
    context: Any = SimpleNamespace(
        memory={"fleets": {"steady": fleet(minor=28, cluster=100)}}, variant="", speed=speed
    )
    caveats = WORKLOAD.caveats(context, account)
    assert len(caveats) == warns and all("lower the knob speed" in caveat for caveat in caveats)


class SlowKubelet(Kubelet):
    """Its syncs last until they are let go."""

    def __init__(self) -> None:
        client: Any = None
        super().__init__(client, ObjectStore(28, 0.0))
        self.let_go = asyncio.Semaphore(0)
        self.began: asyncio.Queue[str] = asyncio.Queue()
        self.at_once: Counter[str] = Counter()
        self.most = 0

    async def sync(self, context: Any, pod: str, names: Any, tasks: NodeTasks) -> None:
        self.at_once[pod] += 1
        self.most = max(self.most, self.at_once[pod])
        self.began.put_nowait(pod)
        await self.let_go.acquire()
        self.at_once[pod] -= 1


@pytest.mark.anyio
async def test_a_pod_has_one_sync_at_a_time_and_one_more_for_all_updates_meanwhile() -> None:
    context: Any = SimpleNamespace(count=lambda name: None)
    kubelet = SlowKubelet()
    pods = [PodSync(0.0, number, kubelet, f"pod-{number}", ()) for number in range(2)]
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        tasks = NodeTasks(context, group, pods)
        for pod in pods:
            tasks.sync(pod)
        assert {await kubelet.began.get() for _ in pods} == {"pod-0", "pod-1"}
        tasks.sync(pods[0])  # the next resync is due
        for _ in range(3):
            tasks.sync(pods[1], updated=True)
        kubelet.let_go.release()
        kubelet.let_go.release()
        assert await kubelet.began.get() == "pod-1"
        kubelet.let_go.release()
    assert kubelet.began.empty() and kubelet.most == 1
