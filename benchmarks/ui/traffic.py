"""Generate synthetic telemetry like that of a busy server, in any amount and at any rate.

The mix is that of the demo's clients: requests with all steps, etcd's revision, caches, watchers.
The numbers are those of a cluster of 100,000 pods. Each run generates the same events.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import msgspec.structs

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    EtcdCall,
    EtcdHealth,
    EtcdProgress,
    EtcdUsage,
    Prefix,
    ProgressTick,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    ServerInfo,
    WatcherClosed,
    WatcherOpened,
    WatcherState,
)

PODS = 100_000
# resource → (prefix under /registry/, objects)
RESOURCES = {
    "pods": ("pods/", PODS),
    "nodes": ("minions/", 4_000),
    "namespaces": ("namespaces/", 200),
    "leases.coordination.k8s.io": ("leases/", 4_010),
    "endpointslices.discovery.k8s.io": ("endpointslices/", 2_400),
    "configmaps": ("configmaps/", 1_800),
    "secrets": ("secrets/", 900),
    "deployments.apps": ("deployments/", 1_200),
    "replicasets.apps": ("replicasets/", 3_600),
    "events": ("events/", 12_000),
    "ciliumendpoints.cilium.io": ("cilium.io/ciliumendpoints/", PODS),
    "ciliumnodes.cilium.io": ("cilium.io/ciliumnodes/", 4_000),
}
CLIENTS = ("kubelet", "kube-scheduler", "cilium-agent", "kube-proxy", "kubectl", "argocd", "prometheus")
WATCHERS = 60
_FIRST_REVISION = 1_000_000


def opening(at: float) -> list[AnyEvent]:
    """Return the state with which every stream begins."""
    about = ServerInfo(
        at=at,
        ktui_version="0",
        kube_version="1.36.2",
        etcd_version="3.5.1",
        etcd_kind="embedded",
        endpoints=["http://127.0.0.1:2379"],
        writable=True,
        progress="supported",
        name="storm",
    )
    prefixes = [
        Prefix(at=at, prefix=f"/registry/{prefix}", resource=resource, count=objects, bytes=objects * 6_200)
        for resource, (prefix, objects) in RESOURCES.items()
    ]
    watchers = [_opened(number, at) for number in range(1, WATCHERS + 1)]
    usage = EtcdUsage(at=at, rpcs=120, sent_bytes=9_000, received_bytes=620_000_000)
    return [about, EtcdHealth(at=at, ok=True), usage, *prefixes, *watchers]


def events(start: float, rate: float) -> Iterator[AnyEvent]:
    """Generate events without end, `rate` a second from `start`; each `at` is when it is due."""
    chance = random.Random(6)
    due = itertools.count()
    for turn in itertools.count(1):
        for event in _turn(turn, chance):
            yield _at(event, start + next(due) / rate)


def _turn(turn: int, chance: random.Random) -> Iterator[AnyEvent]:
    """Generate the events of one request and of what changes meanwhile."""
    revision = _FIRST_REVISION + turn * 3
    yield from _request(WATCHERS + turn, chance)
    yield EtcdProgress(head=revision)
    resource, (_, objects) = chance.choice(list(RESOURCES.items()))
    yield CacheStatus(
        resource=resource,
        state="ready",
        rv=revision - chance.randrange(3),
        objects=objects,
        bytes=objects * 6_200,
        oldest_rv=revision - 900,
        capacity=1_024,
        buffered=900,
        events=turn,
        watchers=5,
    )
    yield ProgressTick(resource=resource, rv=revision)
    if turn % 4 == 0:
        yield WatcherState(id=1 + turn // 4 % WATCHERS, resource="pods", delivered=turn, live=True)
    if turn % 40 == 0:
        yield from _another_watcher(WATCHERS + turn, turn)


def _request(number: int, chance: random.Random) -> Iterator[AnyEvent]:
    resource = chance.choice(list(RESOURCES))
    from_etcd = chance.random() < 0.3
    route, reason = ("etcd", "d.limit") if from_etcd else ("cache", "c.any")
    took, returned = chance.expovariate(1 / 8), chance.randrange(1, 500)
    yield RequestStarted(
        id=number,
        verb="LIST",
        path=f"/api/v1/{resource.partition('.')[0]}",
        query="resourceVersion=0" if not from_etcd else f"limit=500&labelSelector=tier%3Dtier-{number % 20}",
        resource=resource,
        namespace="",
        name="",
        client=chance.choice(CLIENTS),
        user_agent="benchmark/1",
    )
    steps = [RouteStep(rule=f"rule {place} of the walk", saw="no", taken=place == 4) for place in range(5)]
    yield RequestRouted(id=number, route=route, reason_id=reason, reason="any version will do", steps=steps)
    if from_etcd:
        yield EtcdCall(
            op="range",
            request=f'key:"/registry/{RESOURCES[resource][0]}" limit:500 ',
            request_id=number,
            purpose="list",
            count=returned,
            received_bytes=returned * 6_200,
            ms=took / 2,
        )
    yield RequestFinished(
        id=number,
        status=200,
        route=route,
        reason_id=reason,
        ms=took,
        phases={"etcd" if from_etcd else "wait": took / 2, "encode": took / 4},
        fetched=returned,
        evaluated=returned,
        matched=returned,
        returned=returned,
        etcd_rpcs=int(from_etcd),
        etcd_bytes=returned * 6_200 if from_etcd else 0,
        cached_bytes=0 if from_etcd else returned * 6_200,
        encoded_bytes=returned * 8_800,
        sent_bytes=returned * 8_800,
        seats=1,
    )


def _another_watcher(number: int, turn: int) -> Iterator[AnyEvent]:
    yield _opened(number, 0.0)
    yield WatcherClosed(id=number, resource="pods", delivered=turn, cause="timeout")


def _opened(number: int, at: float) -> WatcherOpened:
    client = CLIENTS[number % len(CLIENTS)]
    return WatcherOpened(at=at, id=number, resource="pods", since="0", client=client, route="cache")


def _at(event: AnyEvent, at: float) -> AnyEvent:
    return msgspec.structs.replace(event, at=at)
