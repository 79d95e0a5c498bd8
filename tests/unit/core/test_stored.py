"""The contents of an etcd: what LISTs of them are predicted to cost, and where each figure comes from."""

from __future__ import annotations

from msgspec import structs

from ktui.contract.events import Prefix
from ktui.contract.events.live import ClientShare, ResourceAsked
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.core.stored import (
    FORMS,
    PossibleList,
    joined,
    most_expensive,
    possible_lists,
    with_own_estimate,
)
from ktui.kube.versions import behaviour_of
from tests.unit.live.folded import recorded_events

STORED = [
    Prefix(prefix="/registry/pods/", resource="pods", count=5_000, bytes=40_000_000, exact=False),
    Prefix(prefix="/registry/minions/", resource="nodes", count=100, bytes=900_000),
    Prefix(prefix="/registry/events/", resource="events", count=9_000, bytes=9_000_000),
    Prefix(prefix="/registry/secrets/", resource="secrets", count=300, bytes=0, exact=False),
    Prefix(
        prefix="/registry/cilium.io/ciliumnodes/", resource="ciliumnodes.cilium.io", count=20, bytes=9_000
    ),
    Prefix(prefix="/registry/unknown/", count=7, bytes=700),
]


def lists(version: str, **groups: str) -> dict[str, PossibleList]:
    found = possible_lists(STORED, behaviour_of(version), 48_213, group_versions=groups)
    return {item.target: item for item in found}


def costs(item: PossibleList) -> list[tuple[str, str, int, int, int | None]]:
    return [(cost.version, cost.route, cost.objects, cost.bytes, cost.seats) for cost in item.costs]


def test_a_whole_list_leaves_etcd_with_1_31() -> None:
    assert costs(lists("1.36")["/api/v1/pods"]) == [
        ("1.24", "etcd", 5_000, 40_000_000, 10),
        ("1.30", "etcd", 5_000, 40_000_000, 10),
        ("1.31", "cache", 5_000, 40_000_000, 10),
        ("1.34", "cache", 5_000, 40_000_000, 10),
        ("1.36", "cache", 5_000, 40_000_000, 10),
    ]


def test_a_page_reads_its_objects_and_an_old_revision_reads_etcd() -> None:
    found = lists("1.36")
    assert found["/api/v1/pods?limit=500"].own.objects == 500
    exact = found["/api/v1/pods?resourceVersion=48213&resourceVersionMatch=Exact"].own
    assert (exact.route, exact.etcd_bytes, exact.cache_bytes, exact.seats) == ("etcd", 40_000_000, 0, 100)


def test_the_server_s_version_is_one_of_them() -> None:
    assert lists("1.33")["/api/v1/pods"].own.version == "1.33"
    assert {cost.version for cost in lists("1.33")["/api/v1/pods"].costs} >= {"1.24", "1.33", "1.36"}


def test_events_have_no_cache_and_the_values_of_secrets_are_not_read() -> None:
    found = lists("1.36")
    assert found["/api/v1/events?resourceVersion=0"].own.route == "etcd"
    secrets = found["/api/v1/secrets"].own
    assert (secrets.objects, secrets.bytes) == (300, 0)


def test_a_custom_resource_needs_its_version() -> None:
    assert not any("cilium" in target for target in lists("1.36"))
    assert "/apis/cilium.io/v2/ciliumnodes" in lists("1.36", **{"cilium.io": "v2"})


def test_the_most_expensive_come_first() -> None:
    ranked = most_expensive(list(lists("1.36").values()))
    assert [item.own.bytes for item in ranked] == sorted((item.own.bytes for item in ranked), reverse=True)
    assert (ranked[0].resource, ranked[0].own.route) == ("pods", "etcd")
    assert len(ranked) == 4 * len(FORMS)


# A resource by log, metrics and etcd, each figure from its own source.


def test_sources_are_joined_by_resource() -> None:
    state = State()
    asked = ResourceAsked(
        resource="pods", requests=9, lists=8, span=4.0, clients=[ClientShare("inventory/2.0", 6)]
    )
    only_logged = ResourceAsked(resource="leases.coordination.k8s.io", requests=3)
    unserved = ResourceAsked(resource="widgets.example.com", requests=1)
    stored = Prefix(prefix="/registry/pods/", resource="pods", count=5_000, bytes=40_000_000)
    apply(state, [*recorded_events(), asked, only_logged, unserved, stored])
    found = {row.resource: row for row in joined(state)}
    pods = found["pods"]
    assert pods.asked == asked
    assert pods.lists_per_second == 2.0
    assert pods.stored == stored
    assert pods.routes is not None
    fetched = pods.routes.per_second(pods.routes.fetched)
    assert fetched is not None
    assert pods.cost == fetched * 8_000  # objects by metrics, mean size by etcd
    assert joined(state)[0] == pods
    assert found["widgets.example.com"].cost is None  # neither in metrics nor in etcd: unknown, no zero
    logged = found["leases.coordination.k8s.io"]
    assert (logged.stored, logged.cost, logged.asked) == (None, 0.0, only_logged)


def test_the_apiservers_own_estimate_is_better_than_a_sample() -> None:
    state = State()
    apply(state, recorded_events())
    routes = next(row.routes for row in joined(state) if row.resource == "pods")
    assert routes is not None
    own = structs.replace(routes, size_bytes=7_000_000)
    sampled = Prefix(prefix="/registry/pods/", count=5_000, bytes=9, exact=False, low=5, high=90)
    better = with_own_estimate(sampled, own)
    assert better == structs.replace(sampled, bytes=7_000_000, low=7_000_000, high=7_000_000)
    read = structs.replace(sampled, exact=True)
    assert with_own_estimate(read, own) is read and with_own_estimate(sampled, routes) is sampled


def test_without_metrics_and_log_there_is_nothing_to_join() -> None:
    state = State()
    apply(state, [Prefix(prefix="/registry/pods/", resource="pods", count=5, bytes=400)])
    assert joined(state) == []
