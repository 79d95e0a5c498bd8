"""Predictions from the live state, and the server's own words for what it would refuse."""

import pytest

from ktui.contract.events import CacheStatus, EtcdProgress, Prefix, ServerInfo
from ktui.core.lab.form import ListForm
from ktui.core.lab.form_prediction import predict_form
from ktui.core.prediction.assumptions import present
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.kube.resources import BUILTIN
from tests.unit.live.folded import recorded_events


def server(version: str = "1.36", progress: str = "assumed") -> ServerInfo:
    return ServerInfo(
        ktui_version="0",
        kube_version=version,
        etcd_version="3.5.1",
        etcd_kind="embedded",
        endpoints=[],
        writable=True,
        progress=progress,
    )


def state(version: str = "1.36", progress: str = "assumed") -> State:
    now = State()
    pods = CacheStatus(resource="pods", state="ready", rv=100, objects=3000, bytes=18_000_000, oldest_rv=40)
    cold = Prefix(prefix="/registry/leases/", resource="leases.coordination.k8s.io", count=100, bytes=40_000)
    apply(now, [server(version, progress), EtcdProgress(head=120, compact=10), pods, cold])
    return now


@pytest.mark.parametrize(
    ("form", "version", "route"),
    [
        (ListForm(), "1.36", "cache"),
        (ListForm(), "1.24", "etcd"),
        (ListForm(resource_version="0"), "1.24", "cache"),
        (ListForm(resource="events"), "1.36", "etcd"),
        (ListForm(limit="500"), "1.36", "cache"),
    ],
)
def test_the_route_follows_the_version(form: ListForm, version: str, route: str) -> None:
    prediction = predict_form(form, BUILTIN, state(version))
    assert prediction.route == route
    assert prediction.problem is None
    assert predict_form(form, BUILTIN, state("1.30"), version).route == route


def test_an_etcd_without_progress_requests_is_read_itself() -> None:
    assert predict_form(ListForm(), BUILTIN, state(progress="unsupported")).route == "etcd"


@pytest.mark.parametrize(
    ("form", "code", "field", "words"),
    [
        (ListForm(label_selector="a in (b"), 400, "label_selector", "unable to parse requirement"),
        (ListForm(field_selector="spec.colour=red"), 400, "field_selector", "field label not supported"),
        (ListForm(limit="abc"), 400, "limit", "invalid syntax"),
        (ListForm(match="Exact"), 422, "match", "forbidden unless resourceVersion is provided"),
        (ListForm(match="Exact", resource_version="0"), 422, "match", "forbidden for resourceVersion"),
        (ListForm(field_selector="spec.x=1"), 400, "field_selector", "field label not supported"),
        (ListForm(field_selector="spec.x=1", match="Exact"), 422, "match", "forbidden unless"),
        (ListForm(continue_token="???"), 400, "continue_token", "continue"),
        (ListForm(resource_version="abc"), 400, "resource_version", "invalid resource version"),
        (ListForm(shard="1/2"), 0, "shard", "the gate ShardedListAndWatch (alpha) is off"),
        (ListForm(shard="1/2", kube_version="1.35"), 0, "shard", "1.35 has no shardSelector"),
        (ListForm(resource="podz"), 0, "resource", "podz"),
        (ListForm(resource=""), 0, "resource", "name a resource"),
        (ListForm(kube_version="1.3"), 0, "", "unknown Kubernetes version"),
    ],
)
def test_a_refusal_is_told_in_the_servers_words(form: ListForm, code: int, field: str, words: str) -> None:
    problem = predict_form(form, BUILTIN, state()).problem
    assert problem is not None
    assert (problem.code, problem.field) == (code, field)
    assert words in problem.message


def test_a_refusal_has_no_route() -> None:
    assert predict_form(ListForm(match="Exact"), BUILTIN, state()).route == "none"
    assert predict_form(ListForm(label_selector="!"), BUILTIN, state()).route == "none"
    assert predict_form(ListForm(resource="podz"), BUILTIN, state()).route == ""


def test_seats_are_those_of_the_objects_there_are() -> None:
    assert predict_form(ListForm(), BUILTIN, state()).seats == 8  # capped by the priority level
    assert predict_form(ListForm(), BUILTIN, state("1.24")).seats == 10
    assert predict_form(ListForm(limit="50"), BUILTIN, state()).seats == 3
    assert predict_form(ListForm(resource="leases"), BUILTIN, state()).seats == 1
    assert predict_form(ListForm(resource="configmaps"), BUILTIN, state()).seats is None


def test_a_cache_that_was_not_requested_is_not_ready() -> None:
    assert present(state(), "leases.coordination.k8s.io").cache.readiness == "initializing"
    assert present(state(), "pods").cache.readiness == "ready"
    assert present(state(), "pods").cache.etcd_rv == 120


def test_the_caches_of_a_kube_apiserver_that_is_only_scraped_are_taken_as_ready() -> None:
    now = State()
    apply(now, recorded_events())
    assert predict_form(ListForm(), BUILTIN, now).route == "cache"
    assert predict_form(ListForm(), BUILTIN, now, "1.30").route == "etcd"
    assert present(now, "pods").assumed
