"""Writes demo.ndjson: half a minute of a small cluster, with the real event types and rules.

Run it from the checkout (`python -m tests.tui.data.make_demo`) after a change of the
events; the pictures are drawn from its output. Everything is fixed: times, ids, costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    ChainStage,
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
    WatcherOpened,
    WatcherState,
)
from ktui.contract.recording import encode_lines
from ktui.kube.routing import decide_get, decide_list, sentences
from ktui.kube.routing.cache_state import CacheState, Readiness
from ktui.kube.routing.plan import Plan
from ktui.kube.routing.reasons import REASONS
from ktui.kube.versions import behaviour_of
from tests.tui.data import demo_watches
from tests.tui.data.story import CACHES, PREFIXES, STORY, Ask

START = 1_790_000_000.0  # 2026-09-21 14:13:20 UTC
HEAD = 48_102
KUBE = "1.36"


def events() -> list[AnyEvent]:
    """The recording, in the order and with the sequence numbers of a stream."""
    return list(_stream())


def _stream() -> Iterator[AnyEvent]:
    yield ServerInfo(
        at=START,
        ktui_version="0.1.0",
        kube_version=KUBE,
        etcd_version="3.5.1",
        etcd_kind="embedded",
        endpoints=["http://127.0.0.1:2379"],
        writable=True,
        progress="supported",
        name="demo",
        pid=4242,
    )
    yield EtcdHealth(at=START, ok=True)
    yield EtcdProgress(at=START, head=HEAD, compact=30_000, db_bytes=41_200_000)
    yield from _prefixes()
    yield from (_cache(row, START, HEAD - _behind(row[0], 0), 0) for row in CACHES)
    yield from demo_watches.before(START)
    second = 0
    for number, ask in enumerate(STORY, 1):
        while second < ask.after:
            yield from _second(second)
            yield from demo_watches.second(START, second)
            second += 1
        yield from _asked(number, ask)
    yield EtcdUsage(at=START + 10.2, rpcs=212, sent_bytes=48_200, received_bytes=4_051_800)


def _second(second: int) -> Iterator[AnyEvent]:
    """What moves in one second: the head, the caches behind it, a progress tick."""
    at, head = START + second, HEAD + 37 * second // 3
    yield EtcdProgress(at=at, head=head)
    for row in CACHES:
        yield _cache(row, at, head - _behind(row[0], second), second)
    yield ProgressTick(at=at, resource="nodes", rv=head - 4)
    yield ProgressTick(at=at, resource="secrets", rv=head - 12)


def _behind(resource: str, second: int) -> int:
    return {"nodes": 23, "secrets": 12, "replicasets.apps": 41, "configmaps": 4}.get(resource, second % 2)


def _cache(row: tuple[str, int, int, bool], at: float, rv: int, second: int) -> CacheStatus:
    resource, objects, size, _ = row
    common = {"pods": 12, "leases.coordination.k8s.io": 17, "ciliumendpoints.cilium.io": 6}.get(resource, 1)
    if resource == "ciliumidentities.cilium.io":
        return CacheStatus(at=at, resource=resource, state="initializing", loaded=96, expected=160)
    if resource == "ciliumnodes.cilium.io":
        return CacheStatus(at=at, resource=resource, state="cold")
    return CacheStatus(
        at=at,
        resource=resource,
        state="ready",
        rv=rv,
        objects=objects,
        bytes=size,
        oldest_rv=44_000,
        capacity=1_024,
        buffered=640,
        events=common * second,
        watchers=3 if resource == "pods" else 1,
        waiting=1 if resource == "replicasets.apps" and second >= 9 else 0,
        snapshots=12,
    )


def _prefixes() -> Iterator[AnyEvent]:
    for resource, count, size, leased in CACHES:
        prefix = f"/registry/{PREFIXES[resource]}/"
        yield Prefix(at=START, prefix=prefix, resource=resource, count=count, bytes=size, leased=leased)
    yield Prefix(
        at=START, prefix="/registry/events/", resource="events", count=812, bytes=598_000, leased=True
    )
    yield Prefix(at=START, prefix="/registry/masterleases/", count=1, bytes=120, leased=True)


def _plan(ask: Ask) -> Plan:
    state = CacheState(
        readiness=Readiness.DISABLED if ask.disabled else Readiness.READY,
        cache_rv=48_110,
        oldest_snapshot_rv=47_000,
    )
    behaviour = behaviour_of(KUBE)
    if ask.verb == "GET":
        return decide_get("0" if "resourceVersion=0" in ask.query else "", state, behaviour)
    return decide_list(*ask.question, state, behaviour)


def _chain(ask: Ask) -> list[ChainStage]:
    account = f"system:serviceaccount:platform:{ask.client}"
    binding = (
        f'ClusterRoleBinding "{ask.client}" of ClusterRole "view" to ServiceAccount "{ask.client}/platform"'
    )
    return [
        ChainStage("authentication", f"{account} (system:serviceaccounts, system:authenticated)", 0.21),
        ChainStage("flow control", "service-accounts, level workload-low", 0.04),
        ChainStage("authorization", f"RBAC: allowed by {binding}", 0.06),
    ]


def _asked(number: int, ask: Ask) -> Iterator[AnyEvent]:
    at = START + ask.after
    yield RequestStarted(
        at=at,
        id=number,
        verb=ask.verb,
        path=ask.path,
        query=ask.query,
        resource=ask.resource,
        namespace=ask.namespace,
        name=ask.name,
        client=ask.client,
        user_agent=f"{ask.client}/v1.36.0 (linux/amd64)",
        chain=_chain(ask),
    )
    if ask.verb == "WATCH":
        yield RequestRouted(
            at=at,
            id=number,
            route="cache",
            reason_id="w.since",
            reason=REASONS["w.since"],
            steps=[
                RouteStep("resource without watch cache?", "ready", False, "Cacher.Watch"),
                RouteStep("resourceVersion unset?", "48102", False, "Cacher.Watch"),
            ],
        )
        yield WatcherOpened(
            at=at, id=number, resource=ask.resource, since="48102", client=ask.client, route="cache"
        )
        yield WatcherState(at=at, id=number, resource=ask.resource, capacity=200, live=True)
        return
    plan = _plan(ask)
    yield RequestRouted(
        at=at,
        id=number,
        route=plan.source.value,
        reason_id=plan.reason_id,
        reason=sentences.reason(plan),
        steps=sentences.trace(plan, RouteStep),
        limit_honoured=plan.limit_honoured,
        consistency=plan.consistency,
        wait=sentences.wait_value(plan),
    )
    if not ask.open:
        yield from _answered(number, ask, plan, at)


def _answered(number: int, ask: Ask, plan: Plan, at: float) -> Iterator[AnyEvent]:
    route = plan.source.value
    read = ask.fetched if route == "etcd" else 0
    calls = _calls(number, ask, plan, at)
    yield from calls
    rest = ask.ms - ask.wait_ms
    shares = {"etcd": 0.55, "decode": 0.1, "filter": 0.05, "encode": 0.12, "send": 0.18}
    if route != "etcd":
        shares = {"read": 0.15, "filter": 0.2, "encode": 0.15, "send": 0.5}
    phases = {"wait": ask.wait_ms} if ask.wait_ms else {}
    phases |= {name: round(rest * share, 3) for name, share in shares.items()}
    yield RequestFinished(
        at=at + ask.ms / 1000,
        id=number,
        status=ask.status,
        route=route,
        reason_id=plan.reason_id,
        ms=ask.ms,
        phases=phases if ask.status < 400 else {},
        fetched=ask.fetched,
        evaluated=ask.fetched,
        matched=ask.matched,
        returned=ask.returned,
        etcd_gets=sum(call.purpose in ("probe", "get") for call in calls),
        etcd_lists=sum(call.purpose == "list" for call in calls),
        etcd_rpcs=len(calls),
        etcd_keys=read,
        etcd_bytes=sum(call.received_bytes for call in calls),
        cached_bytes=0 if read else ask.fetched * _average(ask.resource),
        decoded_bytes=ask.sent if read else 0,
        encoded_bytes=ask.sent,
        sent_bytes=ask.sent,
        seats=ask.seats,
        error=ask.error,
        rv="48110",
    )


def _average(resource: str) -> int:
    """Stored bytes of one object."""
    return next((size // objects for name, objects, size, _ in CACHES if name == resource), 0)


def _calls(number: int, ask: Ask, plan: Plan, at: float) -> list[EtcdCall]:
    prefix = f"/registry/{PREFIXES.get(ask.resource, ask.resource)}"
    if plan.source.value == "etcd":
        purpose = "get" if ask.verb == "GET" else "list"
        key = (
            f'key:"{prefix}/{ask.namespace}/{ask.name}"'
            if ask.verb == "GET"
            else f'key:"{prefix}/" range_end:"{prefix}0" limit:10000'
        )
        return [
            EtcdCall(
                at=at,
                op="range",
                request=key,
                request_id=number,
                purpose=purpose,
                count=ask.fetched,
                received_bytes=ask.sent,
                sent_bytes=64,
                ms=ask.ms * 0.55,
                revision=48_140,
            )
        ]
    if plan.reason_id == "c.consistent":
        return [
            EtcdCall(
                at=at,
                op="range",
                request=f'key:"{prefix}/" limit:1 count_only:true',
                request_id=number,
                purpose="probe",
                received_bytes=28,
                sent_bytes=40,
                ms=0.6,
                revision=48_140,
            )
        ]
    return []


def main() -> None:
    path = Path(__file__).with_name("demo.ndjson")
    numbered = events()
    path.write_bytes(encode_lines(numbered))
    print(f"{len(numbered)} events written to {path.name}")


if __name__ == "__main__":
    main()
