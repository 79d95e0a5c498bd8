"""Writes demo.ndjson: half a minute of a small cluster, with the real event types and rules.

Run it from the checkout (`python -m tests.tui.data.make_demo`) after a change of the
events; the pictures are drawn from its output. Everything is fixed: times, ids, costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ktui.kube.routing import decide_get, decide_list
from ktui.kube.routing.model import CacheState as RoutingState
from ktui.kube.routing.model import Decision, ListQuestion, Readiness, TokenState
from ktui.kube.routing.reasons import REASONS
from ktui.kube.versions import behaviour_of
from ktui.telemetry.events import (
    AnyEvent,
    CacheState,
    EtcdCall,
    EtcdHealth,
    Prefix,
    Progress,
    ProgressTick,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    ServerInfo,
    Toll,
    WatcherOpened,
    WatcherState,
)
from ktui.telemetry.recording import encode_lines
from tests.tui.data import demo_watches

START = 1_790_000_000.0  # 2026-09-21 14:13:20 UTC
HEAD = 48_102
KUBE = "1.36"

# resource, objects, stored bytes, leased
CACHES = (
    ("pods", 3_000, 17_904_100, False),
    ("nodes", 100, 912_400, False),
    ("endpointslices.discovery.k8s.io", 210, 402_310, False),
    ("services", 210, 130_200, False),
    ("configmaps", 340, 1_204_000, False),
    ("secrets", 420, 1_380_500, False),
    ("leases.coordination.k8s.io", 104, 41_600, True),
    ("deployments.apps", 180, 498_600, False),
    ("replicasets.apps", 360, 1_002_900, False),
    ("namespaces", 14, 9_800, False),
    ("ciliumendpoints.cilium.io", 2_900, 6_090_000, False),
    ("ciliumidentities.cilium.io", 160, 96_000, False),
    ("ciliumnodes.cilium.io", 100, 310_000, False),
)
PREFIXES = {
    "pods": "pods",
    "nodes": "minions",
    "endpointslices.discovery.k8s.io": "endpointslices",
    "services": "services/specs",
    "configmaps": "configmaps",
    "secrets": "secrets",
    "leases.coordination.k8s.io": "leases",
    "deployments.apps": "deployments",
    "replicasets.apps": "replicasets",
    "namespaces": "namespaces",
    "ciliumendpoints.cilium.io": "cilium.io/ciliumendpoints",
    "ciliumidentities.cilium.io": "cilium.io/ciliumidentities",
    "ciliumnodes.cilium.io": "cilium.io/ciliumnodes",
}


@dataclass
class Ask:
    """One request of the story and what it costs."""

    after: float  # seconds since START
    client: str
    verb: str
    path: str
    resource: str
    query: str = ""
    question: ListQuestion = field(default_factory=ListQuestion)
    disabled: bool = False
    namespace: str = ""
    name: str = ""
    fetched: int = 0
    matched: int = 0
    returned: int = 0
    sent: int = 0
    ms: float = 0.4
    wait_ms: float = 0.0
    seats: int = 1
    status: int = 200
    error: str = ""
    open: bool = False  # a WATCH that goes on, or a request still waiting


CEP = "/apis/cilium.io/v2/ciliumendpoints"
STORY = (
    Ask(
        0.1,
        "kubelet",
        "GET",
        "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n-004",
        "leases.coordination.k8s.io",
        namespace="kube-node-lease",
        name="n-004",
        fetched=1,
        returned=1,
        sent=421,
        ms=0.9,
    ),
    Ask(
        0.4,
        "kube-scheduler",
        "WATCH",
        "/api/v1/pods",
        "pods",
        "watch=true&resourceVersion=48102&allowWatchBookmarks=true",
        open=True,
    ),
    Ask(
        0.9,
        "kubelet",
        "LIST",
        "/api/v1/pods",
        "pods",
        "fieldSelector=spec.nodeName%3Dn-001&resourceVersion=0",
        ListQuestion("0", selectors=True),
        fetched=30,
        matched=30,
        returned=30,
        sent=176_400,
        ms=0.4,
    ),
    Ask(
        1.3,
        "cilium-agent",
        "LIST",
        "/api/v1/services",
        "services",
        "labelSelector=%21service.kubernetes.io%2Fheadless",
        ListQuestion("", selectors=True),
        fetched=210,
        matched=198,
        returned=198,
        sent=122_800,
        ms=6.1,
        wait_ms=4.2,
        seats=1,
    ),
    Ask(
        2.0,
        "kubectl",
        "LIST",
        "/api/v1/pods",
        "pods",
        "limit=500",
        ListQuestion("", limit=500),
        fetched=501,
        matched=500,
        returned=500,
        sent=2_940_100,
        ms=14.8,
        wait_ms=3.1,
        seats=5,
    ),
    Ask(
        2.2,
        "kubectl",
        "LIST",
        "/api/v1/pods",
        "pods",
        "limit=500&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NDgxMDIsInN0YXJ0IjoiZGVmYXVsdC9hcGktMDUwIn0",
        ListQuestion("", limit=500, token=TokenState.VALID, token_rv=48_102),
        fetched=501,
        matched=500,
        returned=500,
        sent=2_941_900,
        ms=3.0,
        seats=5,
    ),
    Ask(
        3.1,
        "argocd",
        "LIST",
        "/api/v1/secrets",
        "secrets",
        "resourceVersion=40000&resourceVersionMatch=Exact",
        ListQuestion("40000", match="Exact"),
        fetched=412,
        matched=412,
        returned=412,
        sent=1_342_000,
        ms=21.7,
        seats=4,
    ),
    Ask(
        4.0,
        "kube-state-metrics",
        "LIST",
        "/api/v1/events",
        "events",
        "",
        disabled=True,
        fetched=812,
        matched=812,
        returned=812,
        sent=640_900,
        ms=18.2,
        seats=9,
    ),
    Ask(
        4.4,
        "cilium-operator",
        "LIST",
        CEP,
        "ciliumendpoints.cilium.io",
        "",
        fetched=2_900,
        matched=2_900,
        returned=2_900,
        sent=6_240_000,
        ms=42.6,
        wait_ms=2.4,
        seats=10,
    ),
    Ask(
        5.2,
        "kubelet",
        "LIST",
        "/api/v1/pods",
        "pods",
        "fieldSelector=spec.nodeName%3Dn-017&resourceVersion=0",
        ListQuestion("0", selectors=True),
        fetched=31,
        matched=31,
        returned=31,
        sent=181_200,
        ms=0.4,
    ),
    Ask(
        5.9,
        "my-controller",
        "LIST",
        "/apis/apps/v1/deployments",
        "deployments.apps",
        "resourceVersionMatch=Exact",
        ListQuestion("", match="Exact"),
        status=422,
        error=(
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
            "resourceVersionMatch is forbidden unless resourceVersion is provided"
        ),
        ms=0.2,
    ),
    Ask(
        6.6,
        "kubelet",
        "GET",
        "/api/v1/nodes/n-031",
        "nodes",
        "resourceVersion=0",
        name="n-031",
        fetched=1,
        returned=1,
        sent=9_120,
        ms=0.1,
    ),
    Ask(
        7.3,
        "cilium-agent",
        "WATCH",
        CEP,
        "ciliumendpoints.cilium.io",
        "watch=true&resourceVersion=48110",
        open=True,
    ),
    Ask(
        8.0,
        "cilium-agent",
        "LIST",
        "/api/v1/pods",
        "pods",
        "labelSelector=app%3Dapi",
        ListQuestion("", selectors=True),
        fetched=3_000,
        matched=250,
        returned=250,
        sent=1_471_000,
        ms=38.4,
        wait_ms=3.6,
        seats=10,
    ),
    Ask(
        8.8,
        "kubectl",
        "LIST",
        "/api/v1/namespaces/team-00/configmaps",
        "configmaps",
        "resourceVersion=48100",
        ListQuestion("48100"),
        namespace="team-00",
        fetched=28,
        matched=28,
        returned=28,
        sent=99_000,
        ms=0.5,
    ),
    Ask(
        9.7,
        "kube-controller",
        "LIST",
        "/apis/apps/v1/replicasets",
        "replicasets.apps",
        "resourceVersion=48190",
        ListQuestion("48190"),
        open=True,
    ),
)


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
    yield Progress(at=START, head=HEAD, compact=30_000, db_bytes=41_200_000)
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
    yield Toll(at=START + 10.2, rpcs=212, sent_bytes=48_200, received_bytes=4_051_800)


def _second(second: int) -> Iterator[AnyEvent]:
    """What moves in one second: the head, the caches behind it, a progress tick."""
    at, head = START + second, HEAD + 37 * second // 3
    yield Progress(at=at, head=head)
    for row in CACHES:
        yield _cache(row, at, head - _behind(row[0], second), second)
    yield ProgressTick(at=at, resource="nodes", rv=head - 4)
    yield ProgressTick(at=at, resource="secrets", rv=head - 12)


def _behind(resource: str, second: int) -> int:
    return {"nodes": 23, "secrets": 12, "replicasets.apps": 41, "configmaps": 4}.get(resource, second % 2)


def _cache(row: tuple[str, int, int, bool], at: float, rv: int, second: int) -> CacheState:
    resource, objects, size, _ = row
    common = {"pods": 12, "leases.coordination.k8s.io": 17, "ciliumendpoints.cilium.io": 6}.get(resource, 1)
    if resource == "ciliumidentities.cilium.io":
        return CacheState(at=at, resource=resource, state="initializing", loaded=96, expected=160)
    if resource == "ciliumnodes.cilium.io":
        return CacheState(at=at, resource=resource, state="cold")
    return CacheState(
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


def _decision(ask: Ask) -> Decision:
    state = RoutingState(
        readiness=Readiness.DISABLED if ask.disabled else Readiness.READY,
        cache_rv=48_110,
        oldest_snapshot_rv=47_000,
    )
    behaviour = behaviour_of(KUBE)
    if ask.verb == "GET":
        return decide_get("0" if "resourceVersion=0" in ask.query else "", state, behaviour)
    return decide_list(ask.question, state, behaviour)


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
    decision = _decision(ask)
    yield RequestRouted(
        at=at,
        id=number,
        route=decision.route.value,
        reason_id=decision.reason_id,
        reason=REASONS[decision.reason_id],
        steps=[RouteStep(*step) for step in decision.steps],
        limit_honoured=decision.limit_honoured,
        consistency=decision.consistency,
        wait=decision.wait,
    )
    if not ask.open:
        yield from _answered(number, ask, decision, at)


def _answered(number: int, ask: Ask, decision: Decision, at: float) -> Iterator[AnyEvent]:
    route = decision.route.value
    read = ask.fetched if route == "etcd" else 0
    calls = _calls(number, ask, decision, at)
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
        reason_id=decision.reason_id,
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
        decoded_bytes=ask.sent if read else 0,
        encoded_bytes=ask.sent,
        sent_bytes=ask.sent,
        seats=ask.seats,
        error=ask.error,
        rv="48110",
    )


def _calls(number: int, ask: Ask, decision: Decision, at: float) -> list[EtcdCall]:
    prefix = f"/registry/{PREFIXES.get(ask.resource, ask.resource)}"
    if decision.route.value == "etcd":
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
    if decision.reason_id == "c.consistent":
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
