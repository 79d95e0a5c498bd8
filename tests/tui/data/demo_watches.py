"""The WATCHes of the demo recording: open since before it begins, one slow, one cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ktui.contract.events import AnyEvent, FanOut, WatcherClosed, WatcherOpened, WatcherState


@dataclass(frozen=True)
class Open:
    """`per_second` events are delivered, `shared` of a hundred encoded for another watcher before."""

    id: int
    client: str
    resource: str
    before: float  # seconds that it has been open when the recording begins
    since: str
    per_second: int
    namespace: str = ""
    name: str = ""
    selector: str = ""
    form: str = ""
    route: str = "cache"
    capacity: int = 200
    shared: int = 0
    buffered: tuple[int, ...] = (0,)
    ends: tuple[int, str] | None = None  # at which second, and why


OPEN = (
    Open(9001, "kube-scheduler", "pods", 4_210, "31022", 12, shared=92, capacity=2_000),
    Open(9002, "kubelet", "pods", 3_900, "31400", 1, selector="spec.nodeName=n-031", capacity=20, shared=100),
    Open(9003, "kube-controller", "pods", 3_720, "0", 12, shared=100, capacity=2_000),
    Open(9004, "kubectl", "pods", 95, "", 4, namespace="team-00", form="Table", shared=10, capacity=2_000),
    Open(9005, "argocd", "pods", 610, "44120", 12, selector="app.kubernetes.io/instance=shop",
         buffered=(40, 700, 1_260, 1_420, 1_500), shared=98, capacity=2_000),
    Open(9006, "cilium-agent", "ciliumendpoints.cilium.io", 2_400, "39911", 6, shared=50),
    Open(9007, "cilium-agent", "ciliumnodes.cilium.io", 2_400, "39911", 0),
    Open(9008, "kube-proxy", "services", 4_100, "30877", 1, selector="!service.kubernetes.io/headless"),
    Open(9009, "kube-proxy", "endpointslices.discovery.k8s.io", 4_100, "30877", 2, shared=50),
    Open(9010, "event-exporter", "events", 1_800, "41002", 3, route="etcd", capacity=100),
    Open(9011, "prometheus", "pods", 300, "46000", 12, selector="monitored=true", shared=99,
         buffered=(900, 1_600, 2_000), capacity=2_000, ends=(4, "too slow")),
    Open(9012, "helm", "secrets", 58, "48001", 0, namespace="team-00", name="release-v3",
         ends=(6, "timeout")),
)  # fmt: skip

FAN_OUTS = (
    FanOut(at=0.4, resource="pods", change="MODIFIED", rv=48_107, previous_rv=48_020, namespace="team-00",
           name="web-0042", watchers=6, concerned=5, delivered=4, tables=1, plain_forms=1, table_forms=1,
           encodings=2),
    FanOut(at=3.4, resource="pods", change="DELETED", rv=48_139, previous_rv=47_660, namespace="team-03",
           name="job-7x2vq", watchers=6, concerned=5, delivered=3, plain_forms=1, encodings=1),
    FanOut(at=8.2, resource="pods", change="MODIFIED", rv=48_190, previous_rv=48_051, namespace="team-00",
           name="web-0007", watchers=7, concerned=7, delivered=7, tables=3, leaving=1, plain_forms=1,
           table_forms=1, encodings=3),
    FanOut(at=5.1, resource="ciliumendpoints.cilium.io", change="ADDED", rv=48_160, namespace="team-01",
           name="web-0101", watchers=2, concerned=2, delivered=2, plain_forms=1, encodings=1),
)  # fmt: skip


def before(start: float) -> Iterator[AnyEvent]:
    """What a dashboard that comes later is told first."""
    for watch in OPEN:
        yield WatcherOpened(
            at=start - watch.before,
            id=watch.id,
            resource=watch.resource,
            since=watch.since,
            client=watch.client,
            namespace=watch.namespace,
            name=watch.name,
            selector=watch.selector,
            form=watch.form,
            route=watch.route,
            timeout=2_400.0 + watch.id % 7 * 300,
        )


def second(start: float, now: int) -> Iterator[AnyEvent]:
    """How they stand in second `now`."""
    at = start + now
    for watch in OPEN:
        if watch.ends is not None and now >= watch.ends[0]:
            if now == watch.ends[0]:
                yield _closed(watch, at, now)
        elif watch.id != 9007 or now < 1:
            yield _state(watch, at, now)
    for event in FAN_OUTS:
        if now == int(event.at):
            yield _moved(event, start)


def _moved(event: FanOut, start: float) -> FanOut:
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return FanOut(**{**fields, "at": start + event.at})


def _counts(watch: Open, now: int) -> dict[str, int]:
    bookmarks = int(watch.before // 60) + now // 60
    events = int(watch.before * watch.per_second * 0.8) + watch.per_second * now
    shared = events * watch.shared // 100
    delivered = events + bookmarks
    return {"delivered": delivered, "bookmarks": bookmarks, "made": delivered - shared, "shared": shared}


def _state(watch: Open, at: float, now: int) -> WatcherState:
    return WatcherState(
        at=at,
        id=watch.id,
        resource=watch.resource,
        buffered=watch.buffered[min(now, len(watch.buffered) - 1)],
        capacity=watch.capacity,
        live=watch.id != 9007,
        **_counts(watch, now),
    )


def _closed(watch: Open, at: float, now: int) -> WatcherClosed:
    cause = watch.ends[1] if watch.ends is not None else ""
    return WatcherClosed(at=at, id=watch.id, resource=watch.resource, cause=cause, **_counts(watch, now))
