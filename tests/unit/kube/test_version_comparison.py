"""One request under every minor, and which gate changes it."""

from __future__ import annotations

import pytest

from ktui.kube.routing.cache_state import assumed_state
from ktui.kube.routing.request import parse_request
from ktui.kube.seats import SeatRange
from ktui.kube.version_comparison import VersionResult, compare_versions
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of, steering_gates, with_gate


def rows(url: str) -> tuple[VersionResult, ...]:
    request = parse_request(url)
    return compare_versions(request, assumed_state(request), behaviours=map(behaviour_of, KNOWN_VERSIONS))


def causes(url: str, aspect: str) -> dict[str, str]:
    """By version: what changed the aspect there."""
    return {
        row.version: f"{cause.gate or 'itself'} {'on' if cause.on else 'off'}"
        for row in rows(url)
        for cause in row.causes
        if aspect in cause.aspects
    }


def test_every_minor_has_its_row_and_the_first_has_nothing_to_compare_with() -> None:
    seen = rows("/api/v1/pods")
    assert tuple(row.version for row in seen) == KNOWN_VERSIONS
    assert not seen[0].changed and not seen[0].causes


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/api/v1/pods", {"1.31": "ConsistentListFromCache on"}),
        ("/api/v1/pods?resourceVersion=0", {}),
        (
            "/api/v1/pods?resourceVersion=100&resourceVersionMatch=Exact",
            {"1.34": "ListFromCacheSnapshot on"},
        ),
        (
            "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
            "&allowWatchBookmarks=true",
            {"1.32": "WatchList on", "1.33": "WatchList off", "1.34": "WatchList on"},
        ),
    ],
)
def test_the_route_changes_by_a_gate(url: str, expected: dict[str, str]) -> None:
    assert causes(url, "route") == expected


def test_what_no_gate_explains_is_the_minor_itself() -> None:
    assert causes("/api/v1/pods", "seats") == {"1.20": "APIPriorityAndFairness on", "1.23": "itself on"}


def test_only_what_differs_counts_as_changed_and_every_change_has_a_cause() -> None:
    for before, after in zip(seen := rows("/api/v1/pods?limit=500"), seen[1:], strict=False):
        assert after.changed == after.outcome.differs(before.outcome)
        assert after.changed == frozenset().union(*(cause.aspects for cause in after.causes))


def test_gates_of_a_server_count() -> None:
    request = parse_request("/api/v1/pods")
    behaviours = [behaviour_of("1.36"), behaviour_of("1.33", {"ConsistentListFromCache": False})]
    _, off = compare_versions(request, assumed_state(request), behaviours=behaviours)
    assert off.outcome.route == "etcd"
    assert "ConsistentListFromCache" in {cause.gate for cause in off.causes}


def test_a_better_estimate_of_seats_takes_the_place_of_the_bare_rules() -> None:
    request = parse_request("/api/v1/pods")
    seven = SeatRange(7, 7)
    under = compare_versions(
        request, assumed_state(request), behaviours=[behaviour_of("1.36")], seats=lambda behaviour: seven
    )
    assert {row.outcome.seats for row in under} == {seven}


def test_a_gate_can_be_set_back_even_where_it_is_locked() -> None:
    behaviour = with_gate(behaviour_of("1.34"), "ConsistentListFromCache", False)
    assert not behaviour.enabled("ConsistentListFromCache")
    assert not behaviour.enabled("ConsistentListFromCache")
    assert behaviour_of("1.34").enabled("ConsistentListFromCache")


def test_steering_gates_are_those_with_a_flag_in_that_minor() -> None:
    assert dict(steering_gates(31))["ConsistentListFromCache"].default
    assert "ConsistentListFromCache" not in dict(steering_gates(37)), "removed"
    assert "WatchList" not in dict(steering_gates(26)), "not there yet"
    assert "CBORServingAndStorage" not in dict(steering_gates(36)), "steers no read"
