"""What LISTs of an etcd's contents are predicted to cost, by resource, form and version."""

from __future__ import annotations

from ktui.contract.events import Prefix
from ktui.core.stored.possible_lists import FORMS, PossibleList, most_expensive, possible_lists
from ktui.kube.versions import behaviour_of

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
