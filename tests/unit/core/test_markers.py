"""Moments that are marked by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from ktui.contract.events import (
    AnyEvent,
    CacheStatus,
    Dropped,
    EtcdHealth,
    EtcdProgress,
    Marker,
    RequestFinished,
    ServerInfo,
)
from ktui.core.recordings.markers import MOST, MarkerFinder, Timeline, TimelineMarker


def notable(events: Iterable[AnyEvent]) -> Iterator[TimelineMarker]:
    """The moments of a whole recording."""
    markers, timeline = MarkerFinder(), Timeline()
    for event in events:
        if (marker := markers.marker_for(event, timeline.advance(event))) is not None:
            yield marker


def server(at: float, **facts: Any) -> ServerInfo:
    told = {"kube_version": "1.36", "pid": 7, **facts}
    return ServerInfo(
        at=at,
        ktui_version="1",
        etcd_version="3.6.0",
        etcd_kind="external",
        endpoints=[],
        writable=False,
        progress="supported",
        **told,
    )


def answer(at: float, status: int) -> RequestFinished:
    return RequestFinished(at=at, id=1, status=status, route="cache", ms=1.0)


def cache(at: float, state: str, error: str = "") -> CacheStatus:
    return CacheStatus(at=at, resource="pods", state=state, error=error)


RESTORED = [(1.0, 900, 0), (2.0, 3, 1), (3.0, 4, 1)]  # time, head, histories


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ([server(1), server(2)], []),
        ([server(1), server(2, pid=8)], ["2 server restarted"]),
        ([server(1, pid=0), server(2, pid=8)], []),
        ([server(1), server(2, kube_version="1.30")], ["2 rules of Kubernetes 1.30"]),
        ([server(1), server(2, feature_gates={"A": True})], ["2 rules of Kubernetes 1.36 with other gates"]),
        ([cache(1, "cold"), cache(2, "initializing"), cache(3, "ready"), cache(4, "ready")], []),
        (
            [cache(1, "ready"), cache(2, "reinitializing", "compacted"), cache(3, "ready")],
            ["2 cache of pods re-initialising: compacted"],
        ),
        ([cache(1, "ready"), cache(2, "initializing")], ["2 cache of pods lists again"]),
        (
            [EtcdHealth(at=1.0, ok=True), EtcdHealth(at=2.0, ok=False), EtcdHealth(at=3.0, ok=True)],
            ["2 etcd does not answer", "3 etcd answers again"],
        ),
        (
            [EtcdHealth(at=float(t), ok=True, alarm=alarm) for t, alarm in enumerate(("", "full", ""), 1)],
            ["2 etcd rejects writes", "3 etcd accepts writes again"],
        ),
        (
            [EtcdProgress(at=at, head=head, histories=histories) for at, head, histories in RESTORED],
            ["2 etcd's revision went back to 3"],
        ),
        (
            [EtcdProgress(at=1.0, head=900), EtcdProgress(at=2.0, head=5_000, histories=1)],
            ["2 another etcd cluster answers, at revision 5,000"],
        ),
        ([answer(t, 504) for t in (1, 8, 20, 31)], []),
        ([answer(t, 504) for t in (1, 2, 3, 4, 5)], ["3 504: caches could not catch up in time"]),
        ([answer(t, 429) for t in (1, 2, 3, 12, 21)], ["3 429 Too Many Requests"]),
        ([answer(t, 410) for t in (1, 2, 3, 30, 31, 32)], ["3 410 Expired: clients must list again",
                                                           "32 410 Expired: clients must list again"]),
        ([answer(t, 404) for t in (1, 2, 3, 4)], []),
        ([Dropped(at=4.0, count=1_200)], ["4 1,200 events missing"]),
        ([Marker(at=4.0, text="deploy")], ["4 deploy"]),
        ([server(1), server(5), Marker(at=3.0, text="typed until 5")], ["3 typed until 5"]),
        ([server(5), Marker(at=3.0, text="by a clock that is late")], ["5 by a clock that is late"]),
    ],
)  # fmt: skip
def test_moments(events: list[AnyEvent], found: list[str]) -> None:
    assert [f"{one.at:g} {one.text}" for one in notable(events)] == found


def test_only_a_person_marks_without_end() -> None:
    lost: list[AnyEvent] = [Dropped(at=float(n), count=1) for n in range(1, MOST + 100)]
    assert len(list(notable(lost))) == MOST
    assert list(notable([*lost, Marker(at=9_999.0)]))[-1] == TimelineMarker(9_999.0, "", own=True)
