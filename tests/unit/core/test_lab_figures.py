"""Figures predicted, by the version and the size of the resource, and beside what was measured."""

from __future__ import annotations

import pytest

from ktui.core.lab.form_prediction import CountRange, Figures, compare, figures_of
from ktui.core.lab.measured import Measured
from ktui.kube.explain import explain
from ktui.kube.routing.cache_state import CacheState
from ktui.kube.routing.request import parse_request
from ktui.kube.versions import behaviour_of

STATE = CacheState(cache_rv=100, oldest_snapshot_rv=40, etcd_rv=100)
WATCH = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"


def predicted(path: str, version: str) -> Figures:
    return figures_of(explain(parse_request(path), STATE, behaviour_of(version)), 3_000, None)


@pytest.mark.parametrize(
    ("path", "version", "route", "fetched", "reads"),
    [
        ("/api/v1/pods", "1.24", "etcd", "3,000", "1"),
        ("/api/v1/pods", "1.36", "cache", "3,000", "1"),
        ("/api/v1/pods?resourceVersion=0", "1.24", "cache", "3,000", "0"),
        ("/api/v1/pods?limit=500", "1.24", "etcd", "500", "1"),
        ("/api/v1/pods?limit=500&labelSelector=a%3Db", "1.24", "etcd", "500–3,000", "≥ 1"),
        ("/api/v1/pods?limit=5000", "1.24", "etcd", "3,000", "1"),
        ("/api/v1/pods?resourceVersion=0&fieldSelector=spec.nodeName%3Dn1", "1.24", "cache", "0–3,000", "0"),
        ("/api/v1/namespaces/a/pods?resourceVersion=0", "1.29", "cache", "3,000", "0"),
        ("/api/v1/namespaces/a/pods?resourceVersion=0", "1.30", "cache", "0–3,000", "0"),
        ("/api/v1/namespaces/a/configmaps?resourceVersion=0", "1.24", "cache", "3,000", "0"),
        ("/api/v1/namespaces/a/configmaps?resourceVersion=0", "1.33", "cache", "0–3,000", "0"),
        ("/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dx", "1.24", "etcd", "0–1", "1"),
        ("/api/v1/namespaces/a/pods/x", "1.36", "etcd", "0–1", "1"),
        (f"/api/v1/pods?{WATCH}&resourceVersion=0", "1.36", "cache", "3,000", "0"),
        (f"/api/v1/namespaces/a/pods?{WATCH}", "1.36", "cache", "0–3,000", "1"),
    ],
)
def test_what_is_fetched_and_read(path: str, version: str, route: str, fetched: str, reads: str) -> None:
    figures = predicted(path, version)
    assert figures.route == route
    assert figures.fetched is not None and figures.fetched.text == fetched
    assert figures.reads is not None and figures.reads.text == reads


def test_of_a_refusal_only_the_route_is_predicted() -> None:
    figures = predicted("/api/v1/pods?resourceVersionMatch=Exact", "1.36")
    assert (figures.route, figures.fetched, figures.reads) == ("none", None, None)


def verdicts(figures: Figures, **changes: object) -> dict[str, str]:
    one = Measured("/x", status=200, route="cache", pages=1, seats=10)
    one.counters = {"fetched": 3_000, "returned": 3_000, "etcd_gets": 1, "etcd_lists": 0}
    for name, value in changes.items():
        setattr(one, name, value)
    return {each.name: each.verdict for each in compare(figures, one)}


FIGURES = Figures("cache", seats=CountRange(10, 10), fetched=CountRange(3_000, 3_000), reads=CountRange(1, 1))


def test_figures_that_agree() -> None:
    assert verdicts(FIGURES) == {"route": "=", "seats": "=", "scanned": "=", "etcd reads": "="}


@pytest.mark.parametrize(("fetched", "verdict"), [(3_010, "≈"), (2_990, "≈"), (3_500, "≠"), (30, "≠")])
def test_objects_may_have_come_or_gone_meanwhile(fetched: int, verdict: str) -> None:
    counters = {"fetched": fetched, "etcd_gets": 1}
    assert verdicts(FIGURES, counters=counters)["scanned"] == verdict


def test_from_elsewhere_only_route_and_seats_are_compared() -> None:
    assert verdicts(FIGURES, route="etcd", seats=3) == {"route": "≠", "seats": "≠"}


def test_what_a_real_apiserver_does_not_tell_is_no_surprise() -> None:
    assert set(verdicts(FIGURES, route="", seats=None, counters={}).values()) == {"?"}


@pytest.mark.parametrize(("rpcs", "verdict"), [(1, "="), (7, "?"), (0, "≠")])
def test_counters_of_a_whole_server_prove_only_what_they_have_not_reached(rpcs: int, verdict: str) -> None:
    assert verdicts(FIGURES, counters={"fetched": 3_000, "etcd_rpcs": rpcs})["etcd reads"] == verdict


@pytest.mark.parametrize(
    ("honoured", "token", "returned", "verdict"),
    [(True, "t", 500, "="), (True, "", 3_000, "≠"), (False, "", 3_000, "="), (True, "", 300, "?")],
)
def test_whether_a_limit_held(honoured: bool, token: str, returned: int, verdict: str) -> None:
    figures = Figures("cache", limit=500, limit_honoured=honoured)
    counters = {"returned": returned}
    assert verdicts(figures, continue_token=token, counters=counters)["limit"] == verdict
