"""The race of revisions and the tree of prefixes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.contract.events import CacheStatus, EtcdProgress, Prefix
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.tui.cache.rv_progress import Lane, RevisionProgress, nice_span, progress_of
from ktui.tui.overview.holdings import PrefixOutline


@given(st.integers(min_value=0, max_value=10**9))
def test_a_track_holds_the_longest_lag(lag: int) -> None:
    assert nice_span(lag) >= lag


@pytest.mark.parametrize(("lag", "span"), [(0, 50), (40, 50), (41, 100), (90, 200), (300, 500), (700, 1000)])
def test_a_track_has_a_round_length(lag: int, span: int) -> None:
    assert nice_span(lag) == span


def test_the_head_runs_first_and_the_fullest_next() -> None:
    state = State()
    caches = [("nodes", 100, 95), ("pods", 3000, 118), ("secrets", 0, 0)]
    apply(state, [EtcdProgress(at=1.0, head=120)])
    for name, objects, rv in caches:
        condition = "ready" if objects else "cold"
        apply(state, [CacheStatus(at=1.0, resource=name, state=condition, rv=rv, objects=objects)])
    progress = progress_of(state)
    assert [(lane.name, lane.lag) for lane in progress.lanes] == [("etcd", 0), ("pods", 2), ("nodes", 25)]


def test_without_room_for_all_those_waited_for_are_kept_in_their_order() -> None:
    lanes = (
        Lane("etcd", 100, 0, head=True),
        Lane("a", 100, 0),
        Lane("b", 100, 0),
        Lane("c", 60, 40, waiting=1),
    )
    assert [lane.name for lane in RevisionProgress(lanes, 100, 50).shown(3)] == ["etcd", "a", "c"]


@given(st.integers(min_value=0, max_value=500), st.integers(min_value=1, max_value=80))
def test_places_stay_on_the_track(rv: int, width: int) -> None:
    assert 0 <= RevisionProgress((), 300, 100).place(rv, width) <= width


def test_the_tree_opens_where_it_was_told() -> None:
    top = {p.prefix: p for p in (Prefix(prefix="/r/pods/", bytes=9), Prefix(prefix="/r/a.io/crs/", bytes=90))}
    tree = PrefixOutline(root="/r/")
    tree.children["/r/pods/"] = [Prefix(prefix="/r/pods/team-00/", count=2, bytes=4)]
    assert [row.label for row in tree.rows(top)] == ["crs", "pods"]
    tree.opened.add("/r/pods/")
    rows = tree.rows(top)
    assert [(row.label, row.depth, row.open) for row in rows] == [
        ("crs", 0, False), ("pods", 0, True), ("team-00", 1, False),
    ]  # fmt: skip
