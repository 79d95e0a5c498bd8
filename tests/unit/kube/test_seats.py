"""Flow-control seats, by version."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.listoptions import ListOptions
from ktui.kube.seats import (
    ListWork,
    SeatRange,
    list_from_cache,
    list_seats,
    priority_level_max,
    seat_range,
    watch_seats,
)
from ktui.kube.versions import KNOWN_VERSIONS, behaviour_of

works = st.builds(
    ListWork,
    st.one_of(st.none(), st.integers(0, 200_000)),
    st.integers(0, 2_000_000),
    st.integers(0, 5000),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@pytest.mark.parametrize(
    ("version", "work", "seats"),
    [
        ("1.19", ListWork(5000), 0),
        ("1.22", ListWork(5000), 1),
        ("1.30", ListWork(379, limit=120), 3),
        ("1.30", ListWork(379, limit=500), 8),
        ("1.33", ListWork(379, limit=120, from_cache=True), 4),
        ("1.33", ListWork(379, limit=10, selectors=True), 4),
        ("1.33", ListWork(100_000), 10),
        ("1.33", ListWork(100_000, single=True), 1),
        ("1.33", ListWork(None), 1),
        ("1.36", ListWork(379, 2900, limit=120), 4),
        ("1.36", ListWork(379, 2900, limit=10, selectors=True), 6),
        ("1.36", ListWork(379, 2900, limit=5, selectors=True, from_cache=True), 1),
        ("1.36", ListWork(100_000, 6000), 100),
        ("1.36", ListWork(100_000, 6000, from_cache=True), 10),
        ("1.36", ListWork(10, 0, single=True), 15),
        ("1.36", ListWork(0), 1),
    ],
)
def test_list_seats(version: str, work: ListWork, seats: int) -> None:
    assert list_seats(behaviour_of(version), work) == seats


def test_the_count_formula_is_still_there_behind_its_gate() -> None:
    behaviour = behaviour_of("1.36", {"SizeBasedListCostEstimate": False})
    assert list_seats(behaviour, ListWork(379, 2900, limit=120)) == 3


@given(works, st.sampled_from(KNOWN_VERSIONS), st.integers(1, 40))
def test_a_priority_level_caps(work: ListWork, version: str, cap: int) -> None:
    behaviour = behaviour_of(version)
    seats = list_seats(behaviour, work, cap)
    assert seats <= list_seats(behaviour, work)
    assert seats >= (0 if version == "1.19" else 1)
    if behaviour.minor >= 25:
        assert seats <= cap


@given(works, st.sampled_from(KNOWN_VERSIONS))
def test_the_range_holds(work: ListWork, version: str) -> None:
    behaviour = behaviour_of(version)
    bounds = seat_range(partial(list_seats, behaviour), work)
    sized = ListWork(
        work.objects, work.average_bytes % 1_500_001, work.limit, work.from_cache, work.selectors, work.single
    )
    assert bounds.min <= list_seats(behaviour, sized) <= bounds.max


def test_ranges() -> None:
    assert seat_range(partial(list_seats, behaviour_of("1.33")), ListWork(None, limit=50)) == SeatRange(1, 1)
    assert seat_range(partial(list_seats, behaviour_of("1.36")), ListWork(None, limit=2)) == SeatRange(1, 30)
    assert seat_range(
        partial(list_seats, behaviour_of("1.36")), ListWork(None, from_cache=True)
    ) == SeatRange(1, 10)


def test_priority_levels() -> None:
    levels = {"system": (74, 6, 12), "leader-election": (25, 4, 4), "global-default": (49, 6, 8)}
    for nominal, hand, most in levels.values():
        assert priority_level_max(nominal, hand) == most


@pytest.mark.parametrize(
    ("version", "rv", "match", "limit", "continued", "cache"),
    [
        ("1.30", "", "", 0, False, False),
        ("1.30", "0", "", 500, False, True),
        ("1.30", "5", "", 500, False, False),
        ("1.30", "5", "NotOlderThan", 500, False, False),
        ("1.31", "", "", 500, False, True),
        ("1.31", "5", "NotOlderThan", 500, False, True),
        ("1.32", "0", "NotOlderThan", 500, True, False),
        ("1.33", "0", "NotOlderThan", 500, True, True),
        ("1.36", "", "", 500, True, False),
        ("1.36", "5", "Exact", 0, False, False),
        ("1.36", "5", "", 500, False, False),
    ],
)
def test_what_counts_as_from_cache(
    version: str, rv: str, match: str, limit: int, continued: bool, cache: bool
) -> None:
    behaviour = behaviour_of(version)
    options = ListOptions(
        resource_version=rv,
        resource_version_match=match,
        limit=limit,
        continue_="token" if continued else "",
    )
    assert list_from_cache(behaviour, options, progress=True) is cache


def test_consistent_reads_need_progress() -> None:
    behaviour = behaviour_of("1.36")
    assert not list_from_cache(behaviour, ListOptions(), progress=False)


@pytest.mark.parametrize(
    ("version", "rv", "initial", "seats"),
    [
        ("1.27", "", None, 1),
        ("1.32", "", True, 10),
        ("1.33", "", True, 1),
        ("1.34", "", None, 1),
        ("1.35", "", None, 10),
        ("1.35", "0", None, 10),
        ("1.35", "5", None, 1),
        ("1.35", "0", False, 1),
    ],
)
def test_watches_that_start_with_a_list_cost_one(
    version: str, rv: str, initial: bool | None, seats: int
) -> None:
    assert watch_seats(behaviour_of(version), ListWork(100_000, 6000), rv, initial) == seats
