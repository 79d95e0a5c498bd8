"""A LIST's route and cost out of an apiserver's counters, in the dialects of its versions."""

import pytest

from ktui.client.list_counters import (
    ListCounters,
    Subject,
    account,
    account_of_get,
    account_of_watch,
    increase,
    read_counters,
    same_process,
)

PODS = Subject("", "pods")
DEPLOYMENTS = Subject("apps", "deployments")


def grown(*lines: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return increase({}, read_counters("\n".join(lines).encode()))


def test_a_full_read_of_etcd_up_to_1_33() -> None:
    found = account(
        grown(
            'apiserver_storage_list_total{resource="pods"} 1',
            'apiserver_storage_list_fetched_objects_total{resource="pods"} 20000',
            'apiserver_storage_list_evaluated_objects_total{resource="pods"} 20000',
            'apiserver_storage_list_returned_objects_total{resource="pods"} 12',
            'etcd_requests_total{operation="list",type="*core.Pod"} 13',
            'etcd_requests_total{operation="update",type="*coordination.Lease"} 99',
        ),
        PODS,
        pages=1,
        items=12,
    )
    assert found.route == "etcd"
    assert found.counters["fetched"] == found.counters["evaluated"] == 20_000
    assert found.counters["returned"] == 12
    assert found.counters["etcd_rpcs"] == 13


def test_from_the_cache_with_its_probe_of_etcd_in_1_34() -> None:
    found = account(
        grown(
            'apiserver_cache_list_total{group="",index="",resource="pods"} 1',
            'apiserver_cache_list_fetched_objects_total{group="",index="",resource="pods"} 500',
            'apiserver_cache_list_returned_objects_total{group="",resource="pods"} 500',
            'apiserver_storage_list_total{group="",resource="pods"} 1',
            'apiserver_storage_list_fetched_objects_total{group="",resource="pods"} 0',
        ),
        PODS,
        pages=1,
        items=500,
    )
    assert found.route == "cache"
    assert found.counters["fetched"] == 500


def test_pages_from_the_cache_and_then_from_etcd_are_summed() -> None:
    """Seen of 1.36: a compaction drops the snapshot that the next pages would have come from."""
    found = account(
        grown(
            'apiserver_cache_list_total{group="",index="",resource="pods"} 1',
            'apiserver_cache_list_fetched_objects_total{group="",index="",resource="pods"} 5005',
            'apiserver_cache_list_returned_objects_total{group="",resource="pods"} 500',
            'apiserver_storage_list_total{group="",resource="pods"} 11',
            'apiserver_storage_list_fetched_objects_total{group="",resource="pods"} 4505',
            'apiserver_storage_list_returned_objects_total{group="",resource="pods"} 4505',
            'etcd_requests_total{group="",operation="get",resource="pods"} 1',
            'etcd_requests_total{group="",operation="list",resource="pods"} 10',
        ),
        PODS,
        pages=11,
        items=5005,
    )
    assert found.route == "cache,etcd"
    assert found.counters == {"fetched": 9510, "returned": 5005, "etcd_rpcs": 11, "etcd_keys": 4505}


def test_a_watchs_probe_of_etcd_is_no_route() -> None:
    """Seen of 1.36: the revision probe of a WatchList counts as a LIST of storage."""
    moved_by_watch = grown(
        'apiserver_storage_list_total{group="",resource="pods"} 1',
        'etcd_requests_total{group="",operation="get",resource="pods"} 1',
    )
    found = account_of_watch(moved_by_watch, PODS)
    assert (found.route, found.counters) == ("", {"etcd_rpcs": 1})
    assert account_of_watch({}, PODS).counters == {}


def test_1_37_tells_cache_and_etcd_apart_by_a_label() -> None:
    text = 'apiserver_storage_list_total{group="",index="",resource="pods",storage="watchcache"} 1'
    assert account(grown(text), PODS, 1, 0).route == "cache"
    assert account(grown(text.replace("watchcache", "etcd")), PODS, 1, 0).route == "etcd"


@pytest.mark.parametrize(
    "line",
    [
        'apiserver_cache_list_total{resource_prefix="/deployments",index=""} 1',
        'apiserver_cache_list_total{resource_prefix="/apps/deployments",index=""} 1',
        'apiserver_storage_list_total{resource="deployments.apps"} 1',
        'apiserver_storage_list_total{group="apps",resource="deployments"} 1',
    ],
)
def test_a_resource_has_many_names(line: str) -> None:
    assert account(grown(line), DEPLOYMENTS, 1, 0).route != ""
    assert account(grown(line), PODS, 1, 0).route == ""


def test_nothing_moved() -> None:
    counters = read_counters(b'apiserver_storage_list_total{resource="pods"} 7')
    found = account(increase(counters, counters), PODS, 1, 0)
    assert (found.route, found.counters) == ("", {})


def test_other_lines_are_not_looked_at() -> None:
    text = "# HELP apiserver_storage_list_total x\nfoo 1\n\napiserver_storage_list_total{broken 1\n"
    assert read_counters(text.encode()) == {}


INDEXED = (
    'apiserver_cache_list_total{group="",index="spec.nodeName",resource="pods"} 1',
    'apiserver_cache_list_fetched_objects_total{group="",index="spec.nodeName",resource="pods"} 40',
    'apiserver_cache_list_returned_objects_total{group="",resource="pods"} 40',
)
_CACHED = "apiserver_cache_list"
_STORED = "apiserver_storage_list"


def of_pods(family: str, lists: int, fetched: int, returned: int) -> tuple[str, ...]:
    return (
        f'{family}_total{{group="",resource="pods"}} {lists}',
        f'{family}_fetched_objects_total{{group="",resource="pods"}} {fetched}',
        f'{family}_returned_objects_total{{group="",resource="pods"}} {returned}',
    )


@pytest.mark.parametrize(
    ("lines", "pages", "items"),
    [
        (of_pods(_CACHED, 3, 4070, 4070), 1, 40),  # an indexed LIST among others' traffic
        (of_pods(_CACHED, 1, 4030, 4030), 1, 40),  # ours was counted by another replica
        (of_pods(_CACHED, 1, 40, 40) + of_pods(_STORED, 1, 3000, 12), 1, 40),
        (of_pods(_STORED, 3, 40, 40), 1, 40),
        (of_pods(_STORED, 1, 3000, 41), 1, 40),
        (of_pods(_CACHED, 2, 40, 40), 1, None),
    ],
)
def test_more_than_the_request_explains_is_no_route(lines: tuple[str, ...], pages: int, items: int) -> None:
    assert account(grown(*lines), PODS, pages, items) == ListCounters("", {}, others=True)


def test_what_the_request_explains_is_its_route() -> None:
    indexed = account(grown(*INDEXED), PODS, pages=1, items=40)
    assert (indexed.route, indexed.counters["fetched"], indexed.others) == ("cache", 40, False)
    fallback = account(grown(*of_pods(_STORED, 2, 40, 40)), PODS, pages=1, items=40)  # with its probe
    assert (fallback.route, fallback.others) == ("etcd", False)


def test_a_get_is_not_judged_by_the_counters_of_lists() -> None:
    one = 'etcd_requests_total{group="",operation="get",resource="pods"} 1'
    update = 'etcd_requests_total{group="",operation="update",resource="pods"} 5'
    assert account_of_get(grown(one, update), PODS) == ListCounters("etcd", {"etcd_rpcs": 1})
    assert account_of_get(grown(update), PODS) == ListCounters("", {})  # another replica, or the cache
    assert account_of_get(grown(one.replace(" 1", " 2")), PODS).others
    assert account_of_get(grown(one, *of_pods(_CACHED, 1, 40, 40)), PODS).others


def test_two_replicas_are_two_processes() -> None:
    one, two = (read_counters(f"process_start_time_seconds {at}".encode()) for at in ("1.7e+09", "1.8e+09"))
    assert same_process(one, one) and not same_process(one, two)
    assert same_process({}, {})
