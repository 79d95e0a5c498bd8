"""A cluster in which everything is as long and as large as it can be."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    EtcdHealth,
    EtcdProgress,
    EtcdUsage,
    FanOut,
    Prefix,
    RequestFinished,
    RequestRouted,
    RequestStarted,
    RouteStep,
    ServerInfo,
    WatcherOpened,
    WatcherState,
)

AT = 1_790_000_000.0
HEAD = 9_876_543_210  # ten digits
NAME = ("a-name-as-long-as-kubernetes-lets-it-be-" * 7)[:253]
NAMESPACE = ("a-namespace-of-63-characters-" * 3)[:63]
GROUP = f"{('group-' * 10)[:60]}.example.com"
LONG = f"{('widgets' * 9)[:63]}.{GROUP}"
RESOURCES = 5_000
WATCHERS = 300
SELECTOR = "labelSelector=app%3D" + "x" * 60 + "%2Cteam%3D" + "y" * 60


def huge_events() -> list[AnyEvent]:
    return list(_events())


def _events() -> Iterator[AnyEvent]:
    yield ServerInfo(
        at=AT, ktui_version="0.1.0", kube_version="1.36", etcd_version="3.5.21", etcd_kind="external",
        endpoints=["https://etcd-0.example.com:2379"], writable=False, progress="supported",
        name=("etcd-of-a-cluster-with-a-long-name-" * 3)[:80], feature_gates={"WatchList": False},
    )  # fmt: skip
    yield EtcdHealth(at=AT, ok=True)
    yield EtcdProgress(at=AT, head=HEAD - 90_000, compact=HEAD - 5_000_000, db_bytes=8_000_000_000)
    yield EtcdProgress(at=AT + 10, head=HEAD, compact=HEAD - 5_000_000, db_bytes=8_000_000_000)
    yield from _holdings()
    yield from _requests()
    yield from _watchers()
    yield EtcdUsage(at=AT + 11, rpcs=1_234_567, sent_bytes=9_000_000_000, received_bytes=987_000_000_000)


def _holdings() -> Iterator[AnyEvent]:
    yield Prefix(at=AT, prefix="/registry/pods/", resource="pods", count=100_000, bytes=1_400_000_000)
    yield Prefix(at=AT, prefix=f"/registry/{GROUP}/{LONG}/", resource=LONG, count=12_345_678,
                 bytes=123_456_789_012, exact=False, leased=True)  # fmt: skip
    for number in range(RESOURCES):
        resource = f"kind{number:04}.{GROUP}"
        yield Prefix(at=AT, prefix=f"/registry/{GROUP}/kind{number:04}/", resource=resource, count=number)
    yield CacheStatus(at=AT, resource="pods", state="ready", rv=HEAD - 3, objects=100_000,
                     bytes=1_400_000_000, oldest_rv=HEAD - 100_000, capacity=102_400, buffered=102_400,
                     events=123_456_789, watchers=5_000, waiting=1_234, snapshots=10,
                     progress_requests=1_000_000)  # fmt: skip
    yield CacheStatus(at=AT, resource=LONG, state="ready", rv=HEAD - 7_654_321, objects=12_345_678,
                     bytes=123_456_789_012, oldest_rv=HEAD - 8_000_000, capacity=102_400, buffered=99_999,
                     events=2, watchers=1)  # fmt: skip
    for number in range(RESOURCES):
        yield CacheStatus(at=AT, resource=f"kind{number:04}.{GROUP}", state="cold")


def _requests() -> Iterator[AnyEvent]:
    for number in range(1, 400):
        yield from _request(1_234_567_000 + number, f"a-client-with-a-very-long-name-{number % 7}", number)


def _request(id_: int, client: str, number: int) -> Iterator[AnyEvent]:
    at = AT + number / 40
    path = (
        f"/apis/{GROUP}/v1/namespaces/{NAMESPACE}/{LONG.partition('.')[0]}" if number % 2 else "/api/v1/pods"
    )
    yield RequestStarted(
        at=at, id=id_, verb="LIST", path=path, query=SELECTOR if number % 3 else "", client=client,
        resource=LONG if number % 2 else "pods", namespace=NAMESPACE if number % 2 else "", name="",
        user_agent=f"{client}/v1.2.3-alpha.4+0123456789abcdef (linux/amd64) kubernetes/$Format",
    )  # fmt: skip
    yield RequestRouted(
        at=at, id=id_, route="etcd", reason_id="d.unset", reason="unset: " + "a long reason " * 12,
        steps=[RouteStep("resourceVersion unset? " * 3, "unset " * 12, True, "Cacher.GetList")],
    )  # fmt: skip
    yield RequestFinished(
        at=at, id=id_, status=200, route="etcd", reason_id="d.unset", ms=123_456.7,
        phases={"etcd": 100_000.0, "decode": 20_000.0, "a-phase-with-a-long-name": 3_456.7},
        fetched=12_345_678, evaluated=12_345_678, matched=1, returned=1, etcd_lists=1, etcd_rpcs=1_235,
        etcd_keys=12_345_678, etcd_bytes=123_456_789_012, decoded_bytes=123_456_789_012, encoded_bytes=1_234,
        sent_bytes=1_234, seats=100, cpu_ms=98_765.4,
    )  # fmt: skip


def _watchers() -> Iterator[AnyEvent]:
    for number in range(WATCHERS):
        id_ = 2_000_000_000 + number
        yield WatcherOpened(
            at=AT - 40 * 86_400, id=id_, resource=LONG if number else "pods", since=str(HEAD - 9_999_999),
            client="a-client-with-a-very-long-name", namespace=NAMESPACE, name=NAME if number % 2 else "",
            selector=SELECTOR, form="PartialObjectMetadata", route="etcd",
        )  # fmt: skip
        yield WatcherState(
            at=AT + 10, id=id_, resource="pods", buffered=99_999, capacity=100_000, delivered=123_456_789,
            bookmarks=1_234_567, made=99_999_999, shared=23_456_790, live=True, bytes=987_654_321_000,
        )  # fmt: skip
    yield FanOut(
        at=AT + 10, resource="pods", change="DELETED", rv=HEAD, previous_rv=HEAD - 9_000_000,
        namespace=NAMESPACE, name=NAME, watchers=100_000, concerned=100_000, delivered=100_000,
        leaving=12_345, tables=45_678, plain_forms=1_234, table_forms=567, encodings=12_345,
    )  # fmt: skip
