"""The rows of the Cache screen, and of the Overview's table of caches."""

from typing import Any

from ktui.contract.events import CacheStatus, EtcdProgress, Prefix
from ktui.core.reducer import apply
from ktui.core.state import State
from ktui.tui.cache.cache_columns import cache_lines
from ktui.tui.overview.holdings import cache_summaries
from tests.unit.growth import growth


def state(*events: Any) -> State:
    now = State()
    apply(now, events)
    return now


def cache(resource: str, state: str = "ready", **fields: Any) -> CacheStatus:
    return CacheStatus(resource=resource, state=state, **fields)


def prefix(resource: str, count: int = 5) -> Prefix:
    return Prefix(prefix=f"/registry/{resource}/", resource=resource, count=count)


def test_what_holds_something_comes_first_then_what_etcd_holds() -> None:
    now = state(
        cache("apiservices", rv=1),
        cache("events", "disabled"),
        cache("pods", rv=9, objects=3),
        cache("zebras", "initializing"),
        prefix("events"),
        prefix("leases"),
        prefix("pods"),
    )
    assert [(line.resource, line.cache.state) for line in cache_lines(now)] == [
        ("pods", "ready"),
        ("zebras", "initializing"),
        ("events", "disabled"),
        ("leases", "cold"),
        ("apiservices", "ready"),
    ]


def test_a_line_that_has_not_changed_is_equal() -> None:
    now = state(EtcdProgress(head=10), cache("nodes", rv=8, objects=1), cache("pods", rv=10, objects=1))
    before = cache_lines(now)
    assert [line.lag for line in before] == [2, 0]
    apply(now, [cache("nodes", rv=10, objects=1)])
    after = cache_lines(now)
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_a_bar_tells_the_share_of_the_greatest_and_moves_in_steps() -> None:
    now = state(
        cache("nodes", rv=1, objects=1, bytes=1),
        cache("pods", rv=1, objects=9, bytes=2_800),
        cache("secrets", rv=1, objects=3, bytes=700),
        cache("services", rv=1),
    )
    shares = {line.resource: line.share for line in cache_lines(now)}
    assert shares == {"nodes": 1 / 28, "pods": 1.0, "secrets": 0.25, "services": 0.0}
    before = {line.resource: line for line in cache_lines(now)}
    apply(now, [cache("pods", rv=1, objects=9, bytes=2_801)])
    after = {line.resource: line for line in cache_lines(now)}
    assert {name: line.share for name, line in after.items()} == shares
    assert after["nodes"] == before["nodes"]  # a byte more elsewhere does not make it another line


def test_twice_as_many_caches_take_twice_as_long() -> None:
    def caches(number: int) -> tuple[State]:
        return (state(*(cache(f"kind{at}", rv=at) for at in range(number))),)

    assert growth(cache_summaries, caches, 100) < 2.5
    assert growth(cache_lines, caches, 100) < 2.5
