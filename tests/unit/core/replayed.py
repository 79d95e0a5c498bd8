"""Recordings of any length, with all that moves in a control plane."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    EtcdCall,
    EtcdProgress,
    EtcdUsage,
    FanOut,
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
from ktui.core.recordings.recorder import write_recording

BEGAN = 1_790_000_000.0


def server(at: float, pid: int, kube: str = "1.36") -> ServerInfo:
    return ServerInfo(
        at=at,
        ktui_version="1",
        kube_version=kube,
        etcd_version="3.6.0",
        etcd_kind="embedded",
        endpoints=["http://127.0.0.1:1"],
        writable=True,
        progress="supported",
        pid=pid,
    )


def traffic(requests: int, seed: int = 1, *, restart_at: int = 0, step: float = 0.01) -> Iterator[AnyEvent]:
    """A busy server; `restart_at` names the request before which another one takes over."""
    chance = random.Random(seed)
    at, pid, first, watching = BEGAN, 7, 0, list[int]()
    yield server(0.0, pid)
    for number in range(requests):
        at += step
        if restart_at and number == restart_at:
            pid, first, watching = 8, number, []
            yield server(at, pid)
        id_ = number - first + 1
        for event in _request(chance, at, id_):
            if isinstance(event, WatcherOpened):
                watching.append(id_)
            yield event
        yield from _rest(chance, at, number + 1)
        while len(watching) > 40:  # they do not last long
            yield WatcherClosed(at=at, id=watching[0], resource="pods", delivered=3)
            yield RequestFinished(at=at, id=watching.pop(0), status=200, route="cache", ms=9.0)


def _request(chance: random.Random, at: float, id_: int) -> Iterator[AnyEvent]:
    verb = chance.choice(("GET", "LIST", "WATCH"))
    route = chance.choice(("cache", "etcd"))
    yield RequestStarted(
        at=at, id=id_, verb=verb, path="/api/v1/pods", query=f"limit={id_ % 7}", resource="pods",
        namespace="", name="", client="kubectl", user_agent="kubectl/v1.36",
    )  # fmt: skip
    yield RequestRouted(
        at=at, id=id_, route=route, reason_id="x", reason="x", steps=[RouteStep("a?", "b", True)]
    )
    if route == "etcd":
        yield EtcdCall(at=at, op="range", request=f"key {id_}", request_id=id_, ms=chance.random())
    if verb == "WATCH":
        yield WatcherOpened(at=at, id=id_, resource="pods", since="1", client="kubectl")
        yield WatcherState(at=at, id=id_, resource="pods", delivered=id_)
    elif chance.random() < 0.95:
        yield RequestFinished(at=at, id=id_, status=200, route=route, ms=chance.random() * 50, sent_bytes=id_)


def _rest(chance: random.Random, at: float, number: int) -> Iterator[AnyEvent]:
    yield EtcdProgress(at=at, head=1_000 + number)
    if chance.random() < 0.3:
        yield CacheStatus(at=at, resource="pods", state="ready", rv=1_000 + number, events=number)
        yield ProgressTick(at=at, resource="pods", rv=1_000 + number)
    if chance.random() < 0.1:
        yield EtcdUsage(at=at, rpcs=number, sent_bytes=number, received_bytes=number)
        yield Prefix(at=at, prefix="/registry/pods/", resource="pods", count=number)
        yield FanOut(at=at, resource="pods", change=chance.choice(("MODIFIED", "DELETED")), rv=number)
        yield EtcdCall(at=at, op="range", request=f"own {number}", purpose="reflector")


def written(path: Path, *args: int, **options: float) -> list[AnyEvent]:
    """Write traffic to a file, and return it."""
    events = list(traffic(*args, **options))  # type: ignore[arg-type]
    write_recording(path, events)
    return events
