"""How seats are divided among levels, and lent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.flowcontrol.levels import Levels, SeatClaim, StoredSpec, allocate
from ktui.kube.flow_rules import level_spec
from ktui.kube.flow_schemas import default_levels
from tests.unit.flowcontrol.ticking import Ticking, request

CLAIMS = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0, 100), st.floats(0, 100)).map(
        lambda three: SeatClaim(three[0] + three[1], three[0], three[0] + three[2])
    ),
    min_size=1,
    max_size=10,
)


@given(CLAIMS, st.floats(0, 1))
def test_the_seats_add_up_within_all_bounds(claims: list[SeatClaim], part: float) -> None:
    lower, upper = sum(claim.lower for claim in claims), sum(claim.upper for claim in claims)
    total = round(lower + part * (upper - lower))
    if not lower <= total <= upper:
        return
    found = allocate(total, claims)
    assert sum(found.seats) == pytest.approx(total, abs=1e-3)
    for seats, claim in zip(found.seats, claims, strict=True):
        assert claim.lower - 1e-9 <= seats <= claim.upper + 1e-9
        if claim.lower + 1e-6 < seats < claim.upper - 1e-6:
            assert seats == pytest.approx(found.fraction * max(claim.target, 0.001), rel=1e-6)


def test_impossible_bounds_are_an_error() -> None:
    with pytest.raises(ValueError, match="outside the bounds"):
        allocate(10, [SeatClaim(1, 0, 2)])


def levels_with(clock: Ticking, total: int = 600) -> Levels:
    levels = Levels(total, clock.now, clock.later)
    levels.configure({n: StoredSpec(level_spec({"spec": doc})) for n, doc in default_levels(36).items()})
    return levels


def test_nominal_seats_are_by_shares() -> None:
    by_name = levels_with(Ticking()).by_name
    assert {name: level.nominal for name, level in by_name.items()} == {
        "exempt": 0, "system": 74, "node-high": 98, "leader-election": 25, "workload-high": 98,
        "workload-low": 245, "global-default": 49, "catch-all": 13,
    }  # fmt: skip
    low = by_name["workload-low"]
    assert (low.lower, low.upper) == (25, 845)
    assert (by_name["leader-election"].lower, by_name["leader-election"].described().max_seats) == (25, 4)


def test_a_busy_level_borrows_from_idle_ones_and_gives_back() -> None:
    clock = Ticking()
    levels = levels_with(clock)
    low = levels.by_name["workload-low"]
    before = low.current
    storm = [request(f"u{number}", seats=10) for number in range(60)]
    for item in storm:
        low.queues.start(item)
    clock.pass_time(10)
    levels.adjust()
    assert low.demand.highest == 600
    assert low.current > max(before, low.nominal)
    least = {name: level.lower for name, level in levels.by_name.items() if name != "workload-low"}
    assert all(levels.by_name[name].current >= lower for name, lower in least.items())
    total = sum(level.nominal for level in levels.by_name.values())
    assert sum(level.current for level in levels.by_name.values()) == pytest.approx(total, abs=4)
    while running := [item for item in storm if item.started]:
        storm.remove(running[0])
        low.queues.finish(running[0])
    for _ in range(200):  # the demand is forgotten slowly
        clock.pass_time(10)
        levels.adjust()
    assert low.current < 245


def test_a_level_that_is_gone_serves_what_it_has() -> None:
    clock = Ticking()
    levels = levels_with(clock)
    held = request()
    levels.by_name["system"].queues.start(held)
    rest = {n: StoredSpec(lv.spec) for n, lv in levels.by_name.items() if n not in ("system", "node-high")}
    levels.configure(rest)
    assert levels.by_name["system"].quiescing
    assert "node-high" not in levels.by_name
    levels.drop_idle()
    assert "system" in levels.by_name
    levels.by_name["system"].queues.finish(held)
    levels.drop_idle()
    assert "system" not in levels.by_name
