"""Back and forward over places."""

from __future__ import annotations

from ktui.core.references import Place, ResourceRef
from ktui.tui.navigation.navigator import LONGEST, Trail

HOME, CACHE, PODS, ETCD = (
    Place("overview"),
    Place("cache"),
    Place("cache", ResourceRef("pods")),
    Place("etcd"),
)


def test_back_walks_through_what_was_open_inside_a_screen() -> None:
    trail = Trail()
    trail.visit(CACHE, HOME)
    trail.visit(PODS, CACHE)
    trail.visit(ETCD, PODS)
    assert [trail.step(-1), trail.step(-1), trail.step(-1), trail.step(-1)] == [PODS, CACHE, HOME, None]
    assert trail.step(1) == CACHE and trail.here == CACHE


def test_going_somewhere_new_forgets_what_was_ahead() -> None:
    trail = Trail()
    trail.visit(CACHE, HOME)
    trail.step(-1)
    trail.visit(ETCD, HOME)
    assert trail.step(1) is None and trail.step(-1) == HOME


def test_back_leads_to_where_the_cursor_was_moved_meanwhile() -> None:
    trail = Trail()
    trail.visit(CACHE, HOME)
    trail.visit(ETCD, PODS)
    assert [trail.step(-1), trail.step(-1)] == [PODS, CACHE]


def test_a_place_is_not_visited_twice_in_a_row_and_the_trail_is_bounded() -> None:
    trail = Trail()
    trail.visit(CACHE, HOME)
    trail.visit(CACHE, CACHE)
    assert trail.step(-1) == HOME
    for _ in range(LONGEST):
        trail.visit(ETCD, trail.here or HOME)
        trail.visit(CACHE, ETCD)
    steps = 0
    while trail.step(-1) is not None:
        steps += 1
    assert steps == LONGEST - 1
