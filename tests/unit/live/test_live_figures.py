"""Figures by version: the same load, as the metrics of each minor report it, gives the same figures."""

from __future__ import annotations

import msgspec
import pytest

from ktui.client.metrics_page import Exposition
from ktui.contract.events.live import ReplicaScrape
from ktui.core.live.live_state import LiveState, fold_all, routes_of
from ktui.core.live.resource_routes import ResourceRoutes
from ktui.kube.gates import NEWEST_MINOR
from ktui.live.families import WANTED
from ktui.live.page_figures import ScrapePage, page_of
from tests.unit.live.recorded import FIRST, LAST, lists_sent, metrics


def page(text: str | bytes, minor: int) -> ScrapePage:
    reader = Exposition(WANTED)
    reader.feed(text if isinstance(text, bytes) else text.encode())
    reader.finish()
    return page_of(reader.samples, reader.families, minor)


def routes(before: ScrapePage, after: ScrapePage, resource: str, minor: int) -> ResourceRoutes:
    live = LiveState()
    for at, scraped in ((100.0, before), (160.0, after)):
        row = ReplicaScrape(at=at, replica="1", version=f"1.{minor}")
        fold_all(live, [msgspec.structs.replace(event, at=at) for event in scraped.events(row)])
    found = routes_of(live, resource)
    assert found is not None
    return found


# The recorded pages.


@pytest.mark.parametrize("resource", ["pods", "services", "secrets", "configmaps", "events", "ciliumnodes"])
def test_lists_of_a_real_1_36_are_those_that_were_sent(resource: str) -> None:
    name = "ciliumnodes.cilium.io" if resource == "ciliumnodes" else resource
    found = [
        routes(page(metrics(replica, FIRST), 36), page(metrics(replica, LAST), 36), name, 36)
        for replica in (0, 1)
    ]
    sent = lists_sent(resource)
    assert sum(row.cache.lists or 0 for row in found) == sent.get("cache", 0)
    assert sum(row.etcd.lists or 0 for row in found) == sent.get("etcd", 0)


def test_pods_of_a_real_1_36() -> None:
    row = routes(page(metrics(0, FIRST), 36), page(metrics(0, LAST), 36), "pods", 36)
    # 96 storage LISTs, none of objects
    assert (row.cache.lists, row.indexed_lists, row.etcd.lists) == (118, 26, 0)
    assert (row.success, row.consistent_fallback, row.probes) == (95, 0, 95)
    assert (row.cache.fetched, row.cache.returned) == (496_168, 201_557)
    assert row.watches == 3
    assert row.objects == 5379


# What each minor calls it: 8 LISTs from the cache (3 of them consistent, 1 by an index), 2 from etcd.

LOAD_1_24 = """# TYPE apiserver_cache_list_fetched_objects_total counter
apiserver_cache_list_fetched_objects_total{index="",resource_prefix="/pods"} 7000
apiserver_cache_list_fetched_objects_total{index="f:spec.nodeName",resource_prefix="/pods"} 50
# TYPE apiserver_cache_list_returned_objects_total counter
apiserver_cache_list_returned_objects_total{resource_prefix="/pods"} 350
# TYPE apiserver_cache_list_total counter
apiserver_cache_list_total{index="",resource_prefix="/pods"} 7
apiserver_cache_list_total{index="f:spec.nodeName",resource_prefix="/pods"} 1
# TYPE apiserver_storage_list_fetched_objects_total counter
apiserver_storage_list_fetched_objects_total{resource="pods"} 2000
# TYPE apiserver_storage_list_returned_objects_total counter
apiserver_storage_list_returned_objects_total{resource="pods"} 1900
# TYPE apiserver_storage_list_total counter
apiserver_storage_list_total{resource="pods"} STORAGE
# TYPE etcd_request_duration_seconds histogram
etcd_request_duration_seconds_sum{operation="list",type="*core.Pod"} 0.5
etcd_request_duration_seconds_count{operation="list",type="*core.Pod"} 2
etcd_request_duration_seconds_count{operation="get",type="*core.Pod"} GETS
"""
CONSISTENT_1_31 = """# TYPE apiserver_watch_cache_consistent_read_total counter
apiserver_watch_cache_consistent_read_total{fallback="false",resource="pods",success="true"} 3
apiserver_watch_cache_consistent_read_total{fallback="true",resource="pods",success="false"} 1
"""


def _relabelled(text: str) -> str:
    """As from 1.34 on: group and resource."""
    for old in ('resource_prefix="/pods"', 'type="*core.Pod"', 'resource="pods"'):
        text = text.replace(old, 'group="",RESOURCE="pods"')
    return text.replace("RESOURCE=", "resource=")


def _unified(text: str) -> str:
    """As from 1.37 on: cache and etcd under one name, the old families deprecated beside them."""
    lines = []
    for line in _relabelled(text).splitlines():
        lines.append(line)
        if line.startswith("apiserver_cache_list"):
            lines.insert(0, line.replace("cache_list", "storage_list").replace("{", '{storage="watchcache",'))
        elif line.startswith("apiserver_storage_list"):
            lines[-1] = line.replace("{", '{index="",storage="etcd",')
    moved = [line for line in lines if 'storage="watchcache"' in line]
    kept = [line for line in lines if line not in moved]
    for family in ("total", "fetched_objects_total", "returned_objects_total"):
        head = f"# TYPE apiserver_storage_list_{family} counter"
        own = [line for line in moved if line.startswith(f"apiserver_storage_list_{family}{{")]
        kept[kept.index(head) + 1 : kept.index(head) + 1] = own
    return "\n".join(kept) + "\n"


def _load(minor: int) -> str:
    probes = 4 if 31 <= minor <= 36 else 0
    text = LOAD_1_24.replace("STORAGE", str(2 + probes)).replace("GETS", str(probes))
    if minor >= 31:
        text += CONSISTENT_1_31
    return _unified(text) if minor >= 37 else _relabelled(text) if minor >= 34 else text


def _nothing(minor: int) -> str:
    text = _load(minor)
    return (
        "\n".join(
            line if line.startswith("#") else f"{line.rpartition(' ')[0]} 0" for line in text.splitlines()
        )
        + "\n"
    )


@pytest.mark.parametrize("minor", range(24, NEWEST_MINOR + 1))
def test_the_same_load_under_every_minor(minor: int) -> None:
    row = routes(page(_nothing(minor), minor), page(_load(minor), minor), "pods", minor)
    assert (row.cache.lists, row.cache.fetched, row.cache.returned) == (8, 7050, 350)
    assert (row.etcd.lists, row.etcd.fetched, row.etcd.returned) == (2, 2000, 1900)
    assert row.indexed_lists == 1
    assert (row.success, row.consistent_fallback) == ((3, 1) if minor >= 31 else (None, None))
    assert row.etcd_lists == 2


def test_a_minor_without_a_metric_says_unknown_not_zero() -> None:
    row = routes(page(_nothing(27), 27), page(_load(27), 27), "pods", 27)
    assert row.success is None
    assert row.checks_ok is None
    assert row.wait_ms is None


def test_a_metric_that_has_not_counted_yet_is_zero_where_the_minor_has_it() -> None:
    found = page("# TYPE apiserver_storage_list_total counter\n"
                 'apiserver_storage_list_total{group="",resource="pods"} 1\n', 36)  # fmt: skip
    assert found.resources["pods"].counters.cache_lists == 0


def test_a_page_that_the_provider_cut_reports_only_what_it_has() -> None:
    family = "apiserver_cache_list_fetched_objects_total"
    found = page(f'# TYPE {family} counter\n{family}{{group="",index="",resource="pods"}} 7\n', 36)
    counters = found.resources["pods"].counters
    assert counters.cache_fetched == 7
    assert counters.cache_lists is None
    assert counters.storage_lists is None


def test_lists_of_custom_resources_before_1_34_are_not_bounded_by_calls_of_another_name() -> None:
    lists, objects = "apiserver_storage_list_total", "apiserver_storage_list_fetched_objects_total"
    calls, labels = "etcd_request_duration_seconds", 'operation="list",type="*unstructured.Unstructured"'
    text = (
        f'# TYPE {lists} counter\n{lists}{{resource="ciliumnodes.cilium.io"}} N\n'
        f'# TYPE {objects} counter\n{objects}{{resource="ciliumnodes.cilium.io"}} N\n'
        f"# TYPE {calls} histogram\n{calls}_count{{{labels}}} N\n"
    )
    row = routes(
        page(text.replace(" N", " 0"), 32), page(text.replace(" N", " 9"), 32), "ciliumnodes.cilium.io", 32
    )
    assert row.etcd.lists == 9


@pytest.mark.parametrize(
    ("labels", "resource"),
    [
        ('resource_prefix="/minions"', "nodes"),
        ('resource_prefix="/services/specs"', "services"),
        ('resource_prefix="/cilium.io/ciliumnodes"', "ciliumnodes.cilium.io"),
        ('resource="deployments.apps"', "deployments.apps"),
        ('group="apps",resource="deployments"', "deployments.apps"),
        ('resource_prefix="/events"', "events"),
        ('group="",resource="events"', "events"),
        ('group="events.k8s.io",resource="events"', "events"),
    ],
)
def test_a_resource_has_one_name_whatever_the_labels(labels: str, resource: str) -> None:
    text = f"# TYPE apiserver_cache_list_total counter\napiserver_cache_list_total{{{labels}}} 1\n"
    assert list(page(text, 30).resources) == [resource]


def test_a_page_without_requests_was_filtered() -> None:
    """A kube-apiserver sends itself some as it starts: LISTs without a request would not be clients'."""
    storage = '# TYPE apiserver_storage_list_total counter\napiserver_storage_list_total{resource="pods"} 1\n'
    assert page(storage, 30).resources["pods"].counters.lists is None
    request = "# TYPE apiserver_request_total counter\n"
    assert page(storage + request, 30).resources["pods"].counters.lists == 0


@pytest.mark.parametrize(
    ("labels", "counted"),
    [
        ('code="200",scope="namespace",verb="DELETE"', 1),
        ('code="200",scope="cluster",verb="DELETECOLLECTION"', 1),
        ('code="200",scope="resource",verb="DELETE"', 0),
        ('code="403",scope="namespace",verb="DELETE"', 0),
        ('code="200",scope="namespace",verb="LIST"', 0),
    ],
)
def test_deletions_of_collections(labels: str, counted: int) -> None:
    family = "apiserver_request_total"
    found = page(f'# TYPE {family} counter\n{family}{{group="",resource="pods",{labels}}} 1\n', 36)
    assert found.resources["pods"].counters.collection_deletes == counted


def test_levels_have_seats_by_either_name() -> None:
    for name, minor in (("request_concurrency_limit", 24), ("nominal_limit_seats", 37)):
        family = f"apiserver_flowcontrol_{name}"
        found = page(f'# TYPE {family} gauge\n{family}{{priority_level="system"}} 30\n', minor)
        assert found.levels["system"].gauges.nominal == 30


def test_huge_and_negative_values_are_left_out() -> None:
    text = ("# TYPE apiserver_storage_objects gauge\n"
            'apiserver_storage_objects{resource="pods"} -1\n'
            "# TYPE apiserver_storage_list_total counter\n"
            'apiserver_storage_list_total{resource="pods"} 1e+300\n')  # fmt: skip
    found = page(text, 30).resources["pods"]
    assert found.gauges.objects is None
    assert found.counters.storage_lists is None
