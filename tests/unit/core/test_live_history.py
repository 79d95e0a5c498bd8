"""The past hour of LISTs: what counters grew by, spread over the time between two scrapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.contract.events.live import ReplicaScrape, ResourceScrape
from ktui.core.live.client_reads import ReadCounters, etcd_lists
from ktui.core.live.live_state import MOST_REPLICAS, LiveState, fold, fold_all, routes_of
from ktui.core.live.window import MOST_RESOURCES, PART, PARTS, WHOLE, ListHistory, quantile, summed_buckets
from tests.unit.live.folded import recorded_events
from tests.unit.live.recorded import lists_sent

START = 1_795_335_510.0  # a part begins here


def scraped(after: float, resource: str = "pods", replica: str = "1", **counters: int) -> ResourceScrape:
    return ResourceScrape(
        at=START + after, replica=replica, resource=resource, counters=ReadCounters(**counters)
    )


def total(history: ListHistory, resource: str = WHOLE) -> float:
    return sum(rates.cache + rates.etcd for rates in history.parts[resource].values())


@given(st.lists(st.tuples(st.floats(0.5, 400), st.integers(0, 10_000)), min_size=1, max_size=8))
def test_nothing_is_lost_or_added_by_spreading(steps: list[tuple[float, int]]) -> None:
    history, at, count = ListHistory(), 0.0, 0
    for seconds, more in steps:
        before = scraped(at, client_cache_lists=count)
        history.add(before, scraped(at + seconds, client_cache_lists=count + more))
        at, count = at + seconds, count + more
    assert total(history) == pytest.approx(count)
    assert total(history, "pods") == pytest.approx(count) if count else "pods" not in history.parts


def test_two_minutes_between_scrapes_are_four_equal_parts() -> None:
    history = ListHistory()
    history.add(scraped(0, client_etcd_lists=0, client_etcd_fetched=0),
                scraped(120, client_etcd_lists=60, client_etcd_fetched=600))  # fmt: skip
    assert [rates.etcd for rates in history.per_second("pods")][-4:] == [0.5] * 4
    assert [rates.read_etcd for rates in history.per_second()][-4:] == [5.0] * 4


def test_only_an_hour_is_kept() -> None:
    history = ListHistory()
    for number in range(3 * PARTS):
        at = number * PART
        history.add(scraped(at, client_cache_lists=number), scraped(at + PART, client_cache_lists=number + 1))
    assert len(history.parts[WHOLE]) <= PARTS + 2
    assert len(list(history.per_second())) == PARTS


def test_a_chart_spans_what_is_known() -> None:
    history = ListHistory()
    assert (history.span, list(history.per_second())) == (0, [])
    history.add(scraped(0), scraped(15))
    assert history.span == 0  # no part is over
    history.add(scraped(15), scraped(31))
    assert history.span == 10
    history.add(scraped(31), scraped(11 * PART))
    assert history.span == 30


def test_a_limited_number_of_resources_has_a_history_of_their_own() -> None:
    history = ListHistory()
    for number in range(MOST_RESOURCES + 20):
        name = f"kind{number}"
        history.add(scraped(0, name, client_cache_lists=0), scraped(60, name, client_cache_lists=1))
    assert len(history.parts) == MOST_RESOURCES + 1
    assert total(history) == pytest.approx(MOST_RESOURCES + 20)


def test_counters_of_two_replicas_and_of_a_restarted_one_add_up() -> None:
    live = LiveState()
    for replica in ("1", "2"):
        for at, count in ((0, 5), (30, 15), (60, 3)):  # 10 more, then 3 since a restart
            fold(live, scraped(at, replica=replica, cache_lists=count))
            fold(live, ReplicaScrape(at=START + at, replica=replica, version="1.30"))
    assert total(live.history) == pytest.approx(26)


def test_the_recorded_load_is_in_it_without_revision_probes() -> None:
    live = LiveState()
    fold_all(live, recorded_events())
    sent = lists_sent("pods")
    assert total(live.history, "pods") == pytest.approx(sent["cache"] + sent.get("etcd", 0))


def test_restarts_without_end_keep_a_limited_number_of_replicas_and_sums() -> None:
    live = LiveState()
    for number in range(3 * MOST_REPLICAS):
        name = str(number)
        fold(live, scraped(number, replica=name, client_cache_lists=1))
        fold(live, ReplicaScrape(at=START + number, replica=name))
        routes_of(live, "pods")
    assert list(live.replicas) == [str(number) for number in range(2 * MOST_REPLICAS, 3 * MOST_REPLICAS)]
    assert len(live.sums.kept) == 1


# Waits by bucket: quantiles, and replicas whose versions have different buckets.

OLD = {"0.1": 50.0, "1": 90.0, "10": 100.0, "+Inf": 100.0}
NEW = {"0.1": 50.0, "1": 90.0, "5": 95.0, "10": 100.0, "15": 100.0, "30": 100.0, "+Inf": 100.0}


@pytest.mark.parametrize(
    ("counts", "share", "seconds"),
    [
        (OLD, 0.5, 0.1),
        (OLD, 0.7, 0.55),  # half-way between 0.1 and 1
        (NEW, 0.99, 9.0),
        ({"0.1": 0.0, "+Inf": 4.0}, 0.5, 0.1),  # beyond the last bound: at least that
        ({}, 0.5, None),
        ({"0.1": 0.0, "+Inf": 0.0}, 0.5, None),
        ({"x": 3.0, "-1": 3.0}, 0.5, None),
    ],
)
def test_a_quantile_is_interpolated_within_its_bucket(
    counts: dict[str, float], share: float, seconds: float | None
) -> None:
    assert quantile(counts, share) == (None if seconds is None else pytest.approx(seconds))


def test_replicas_of_two_versions_have_no_fewer_waits_at_a_greater_bound() -> None:
    whole = summed_buckets([OLD, NEW])
    assert list(whole) == ["0.1", "1", "5", "10", "15", "30", "+Inf"]
    counts = list(whole.values())
    assert counts == sorted(counts)
    assert (whole["10"], whole["15"], whole["+Inf"]) == (200.0, 200.0, 200.0)
    assert quantile(whole, 0.999) == pytest.approx(10.0, abs=0.1)


def test_equal_buckets_are_added() -> None:
    assert summed_buckets([OLD, OLD]) == {le: 2 * count for le, count in OLD.items()}
    assert summed_buckets([]) == {}


@pytest.mark.parametrize(
    ("grown", "lists"),
    [
        ({"storage_lists": 3.0, "lists": 3.0}, 3),  # events of which there are none
        ({"storage_lists": 3.0, "lists": 3.0, "list_errors": 1.0}, 2),
        ({"storage_lists": 3.0, "lists": 3.0, "cache_lists": 3.0, "consistent_success": 3.0}, 0),  # probes
        ({"storage_lists": 1.0}, 0),  # the server's own
    ],
)
def test_lists_that_find_nothing_are_served_from_etcd(grown: dict[str, float], lists: int) -> None:
    assert etcd_lists({"etcd_fetched": 0.0, **grown}, 36) == lists
