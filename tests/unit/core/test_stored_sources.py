"""A resource by log, metrics and etcd, each figure from its own source."""

from __future__ import annotations

from msgspec import structs

from ktui.contract.events import Prefix
from ktui.contract.events.live import ClientShare, ResourceAsked
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.core.stored.survey import joined, with_own_estimate
from tests.unit.live.folded import recorded_events


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
