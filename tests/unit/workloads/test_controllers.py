"""Rules of the small controllers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.workloads.catalog.deployment_chain import deployment
from ktui.workloads.controllers.deployments import RollingUpdate, rolling_update, template_hash


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "limits"),
    [
        (4, "25%", "25%", (1, 1)),
        (3, "25%", "25%", (1, 0)),  # up for maxSurge, down for maxUnavailable
        (10, "3", "0", (3, 0)),
        (1, "0", "25%", (0, 1)),  # never both 0
    ],
)
def test_limits_of_a_rolling_update(
    replicas: int, surge: str, unavailable: str, limits: tuple[int, int]
) -> None:
    assert rolling_update(deployment("a", replicas, surge, unavailable)) == RollingUpdate(replicas, *limits)


@given(st.integers(1, 60), st.integers(0, 20), st.integers(0, 20))
def test_an_update_ends_within_its_limits(wanted: int, surge: int, unavailable: int) -> None:
    """Every pod of the new template becomes available at once: it takes a number of steps, within limits."""
    limits = RollingUpdate(wanted, surge, min(unavailable, wanted) if surge or unavailable else 1)
    old, new = wanted, 0
    for _ in range(2 * wanted + 2):
        before = old, new
        new = limits.new_size(new, old + new)
        assert old + new <= wanted + limits.surge
        old -= min(old, limits.to_remove(old + new, new, new))
        assert old + new >= wanted - limits.unavailable
        if before == (old, new):
            break
    assert (old, new) == (0, wanted)


@given(st.integers(1, 60), st.integers(0, 20), st.integers(0, 60), st.integers(0, 60), st.data())
def test_pods_that_are_not_available_hold_the_old_ones(
    wanted: int, unavailable: int, old: int, new: int, data: Any
) -> None:
    available = data.draw(st.integers(0, new))
    removed = RollingUpdate(wanted, 1, unavailable).to_remove(old + new, new, available)
    assert removed == 0 or old - removed + available >= wanted - unavailable


def test_a_template_has_one_name_in_any_order() -> None:
    first = deployment("a", 1, "1", "0")
    second = deployment("a", 5, "25%", "0")
    assert template_hash(first) == template_hash(second)
    second["spec"]["template"]["spec"]["containers"][0]["image"] = "another"
    assert template_hash(first) != template_hash(second)
