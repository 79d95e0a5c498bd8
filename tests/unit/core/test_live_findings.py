"""What a window of counters adds up to: resets, verdict, and advice with its rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ktui
from ktui.contract.events.live import (
    CallTime,
    Denied,
    LevelCounters,
    LevelGauges,
    LevelScrape,
    LiveServer,
    ReplicaDown,
    ReplicaScrape,
    RequestsDump,
    ResourceCounters,
    ResourceGauges,
    ResourceScrape,
)
from ktui.core.live.findings import Severity, findings, verdict, worst
from ktui.core.live.live_state import LiveState, all_routes, fold_all, routes_of
from ktui.core.live.observe_document import report_document
from ktui.core.live.processes import level_rows
from ktui.core.live.resource_findings import KINDS
from ktui.core.live.window import quantile
from ktui.core.reducer import apply, state_events
from ktui.core.state import State

ZERO: dict[str, Any] = dict.fromkeys(ResourceCounters.__struct_fields__, 0)


def scraped(at: float, resource: str = "pods", replica: str = "1", **figures: int) -> list[Any]:
    gauges = {name: figures.pop(name) for name in ("watches", "objects", "rv") if name in figures}
    figures.setdefault("lists", figures.get("cache_lists", 0) + figures.get("storage_lists", 0))  # by clients
    return [
        ResourceScrape(at=at, replica=replica, resource=resource,
                       counters=ResourceCounters(**{**ZERO, **figures}), gauges=ResourceGauges(**gauges)),
        ReplicaScrape(at=at, replica=replica, version="1.36"),
    ]  # fmt: skip


def live_of(*batches: list[Any]) -> LiveState:
    live = LiveState()
    for batch in batches:
        fold_all(live, batch)
    return live


def over_a_minute(resource: str = "pods", **figures: int) -> LiveState:
    gauges = {name: value for name, value in figures.items() if name in ("watches", "objects")}
    return live_of(scraped(100, resource, **gauges), scraped(160, resource, **figures))


@pytest.mark.parametrize(
    ("figures", "id_", "severity"),
    [
        ({"storage_lists": 3, "etcd_fetched": 3000, "etcd_returned": 3000, "etcd_lists": 3, "etcd_timed": 3,
          "objects": 1000}, "etcd-lists", Severity.WARNING),
        ({"consistent_failure": 2, "consistent_fallback": 2}, "consistent-read-fallback", Severity.CRITICAL),
        ({"consistent_rejected": 1}, "consistent-read-rejected", Severity.CRITICAL),
        ({"cache_lists": 3, "cache_fetched": 15_000, "cache_returned": 9}, "amplification", Severity.WARNING),
        ({"cache_lists": 3, "cache_fetched": 15_000}, "amplification", Severity.WARNING),
        ({"capacity_increases": 1}, "event-buffer-grows", Severity.NOTICE),
        ({"checks_failed": 1}, "cache-inconsistent", Severity.CRITICAL),
        ({"terminated_watchers": 4}, "slow-watchers", Severity.WARNING),
        ({"lists": 60, "watches": 0}, "polled", Severity.NOTICE),
        ({"initializations": 3}, "cache-refilled", Severity.WARNING),
        ({"checks_errored": 1}, "cache-check-error", Severity.NOTICE),
        ({"checks_errored": 2, "checks_ok": 1}, "cache-check-error", Severity.WARNING),
        ({"init_errors": 4}, "cache-cannot-fill", Severity.CRITICAL),
        ({"init_events": 90_000}, "initial-events", Severity.NOTICE),
        ({"waits": 20, "wait_ms": 5_000, "fast_waits": 20}, "slow-consistent-reads", Severity.WARNING),
        ({"waits": 50, "wait_ms": 100, "fast_waits": 49}, "slow-consistent-reads", Severity.WARNING),
        ({"terminated_requests": 1}, "requests-terminated", Severity.WARNING),
        ({"aborted": 1}, "requests-terminated", Severity.WARNING),
    ],
)  # fmt: skip
def test_what_is_found(figures: dict[str, int], id_: str, severity: Severity) -> None:
    (found,) = findings(over_a_minute(**figures))
    assert (found.id, found.severity, found.subject) == (id_, severity, "pods")
    assert found.metric
    assert found.advice


@pytest.mark.parametrize(
    "figures",
    [
        {},
        {"cache_lists": 9, "cache_fetched": 9000, "cache_returned": 9000, "lists": 3, "watches": 0},
        {"cache_lists": 9, "cache_fetched": 900, "cache_returned": 1},  # amplified, of few objects
        {"lists": 60, "watches": 1},
        {"lists": 4, "watches": 0},  # too few to be polling, however short the window
        {"initializations": 1},  # the first filling
        {"storage_lists": 50, "consistent_success": 50},  # probes
        {"waits": 19, "wait_ms": 19_000},  # too few
        {"waits": 200, "wait_ms": 2_000, "fast_waits": 199},
        {"checks_errored": 1, "checks_ok": 5},
        {"lists": 60, "list_errors": 60, "watches": 0},  # each a 403
        {"lists": 60, "list_rejected": 60, "watches": 0},
    ],
)
def test_what_is_nothing(figures: dict[str, int]) -> None:
    assert findings(over_a_minute(**figures)) == []


def test_one_scrape_is_not_judged() -> None:
    live = live_of(scraped(100, checks_failed=1, list_rejected=9))
    assert live.covered(60) == 0
    assert findings(live) == []


def test_one_cause_for_several_resources_is_one_finding() -> None:
    names = ("pods", "nodes", "leases", "secrets", "services")
    batches = [
        [*(event for name in names for event in scraped(at, name, waits=count, wait_ms=count * 900)[:1]),
         ReplicaScrape(at=at, replica="1", version="1.36")]
        for at, count in ((100, 0), (160, 40))
    ]  # fmt: skip
    (found,) = findings(live_of(*batches))
    assert found.id == "slow-consistent-reads"
    assert all(name in f"{found.subject} {found.text}" or "and 1 more" in found.text for name in names)
    late = [*scraped(160, "pods", consistent_failure=1, consistent_fallback=1)]
    live = live_of(batches[0], [*batches[1][1:-1], *late])
    assert [item.id for item in findings(live)] == ["consistent-read-fallback"]


@pytest.mark.parametrize(
    ("version", "ms", "found"),
    [("1.32", 5_000, ["list-memory"]), ("1.32", 4_900, []), ("1.33", 50_000, [])],
)
def test_lists_whose_answers_hold_a_tenth_of_the_memory(version: str, ms: int, found: list[str]) -> None:
    """60 LISTs of 20 MB in 60 s, each of `ms`: 20 MB/s × 5 s are 100 MB, of 1 GB. 1.33 streams them."""

    def scrape(at: float, count: int) -> list[Any]:
        figures = {"lists": count, "list_bytes": count * 20_000_000, "list_timed": count}
        lists, _ = scraped(at, **figures, list_ms=count * ms, watches=1)
        return [lists, ReplicaScrape(at=at, replica="1", version=version, memory_bytes=1_000_000_000)]

    items = findings(live_of(scrape(100, 0), scrape(160, 60)))
    assert [item.id for item in items] == found
    assert [item.severity for item in items] == [Severity.WARNING] * len(found)
    assert all("about 100 MB on average, 10% of" in item.text for item in items)


def test_the_table_of_the_documentation_is_that_of_the_code() -> None:
    page = (Path(ktui.__file__).parents[1] / "docs" / "live.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    documented = {id_.strip("| `"): row[1] for row in rows for id_ in row[0].split(", ")}
    listed = {id_: severity for id_, severity in documented.items() if id_ in KINDS}
    assert set(listed) == set(KINDS)
    several = [
        id_
        for id_, severity in listed.items()
        if "," not in severity and severity != KINDS[id_].severity.name.lower()
    ]
    assert several == []


def test_slow_admission_and_failing_handshakes() -> None:
    def scrape(at: float, count: int) -> list[Any]:
        calls = CallTime(count, count * 800.0)
        return [
            ReplicaScrape(at=at, replica="1", version="1.36", tls_errors=30 * count,
                          webhooks={"inject.example.com": calls, "quick": CallTime(count, count * 3.0)},
                          plugins={"MutatingAdmissionWebhook": calls, "ResourceQuota": calls}),
        ]  # fmt: skip

    found = {item.id: item for item in findings(live_of(scrape(100, 0), scrape(160, 5)))}
    assert set(found) == {"slow-webhook", "slow-admission", "tls-handshake-errors"}
    assert "800 ms on average in 5 calls" in found["slow-webhook"].text
    assert found["slow-webhook"].subject == "inject.example.com"
    assert found["slow-admission"].subject == "ResourceQuota"  # the other one only waits for the webhook
    assert findings(live_of(scrape(100, 5), scrape(160, 5))) == []


def test_a_replica_that_is_down_was_reached() -> None:
    live = over_a_minute()
    server = LiveServer(at=160, context="c", url="u", origin="metrics", expected=1)
    fold_all(live, [server, ReplicaDown(at=161, replica="1", reason="no answer within 3 s")])
    (found,) = findings(live)
    assert (found.id, found.severity) == ("replica-down", Severity.WARNING)
    fold_all(live, [RequestsDump(at=162, replica="1", requests=[])])
    assert findings(live) == []


def test_events_come_from_etcd_by_design() -> None:
    load = {"storage_lists": 9, "etcd_fetched": 90_000, "etcd_returned": 90_000, "objects": 10_000}
    assert findings(over_a_minute("events", **load)) == []


@pytest.mark.parametrize(("resource", "severity"), [("secrets", 2), ("configmaps", 1)])
def test_secrets_and_configmaps_of_all_namespaces(resource: str, severity: int) -> None:
    load = {"lists": 2, "cluster_timed": 2, "watches": 1, "cache_lists": 2, "cache_fetched": 10}
    (found,) = findings(over_a_minute(resource, **load, cache_returned=10))
    assert (found.id, found.severity) == (f"cluster-wide-{resource}", severity)
    assert findings(over_a_minute(resource, **load, cache_returned=0)) == []


def test_levels() -> None:
    def scrape(at: float, rejected: int) -> list[Any]:
        return [
            LevelScrape(at=at, replica="1", level="workload-low",
                        counters=LevelCounters(dispatched=0, rejected=rejected, queue_full=rejected),
                        gauges=LevelGauges(queued=2)),
            ReplicaScrape(at=at, replica="1", version="1.36"),
        ]  # fmt: skip

    (rejected,) = findings(live_of(scrape(100, 0), scrape(115, 3), scrape(130, 7)))  # one cause
    assert (rejected.id, rejected.severity) == ("rejected", Severity.CRITICAL)
    assert "7 requests of this level rejected with 429 (queue full 7)" in rejected.text
    assert "queued in each of 3 samples" in rejected.text
    (queued,) = findings(live_of(scrape(100, 7), scrape(115, 7), scrape(130, 7)))
    assert queued.id == "queue-never-empty"


def test_findings_are_ranked_by_severity_and_then_by_cost() -> None:
    batches: list[list[Any]] = []
    for at, share in ((100, 0), (160, 1)):
        a = scraped(at, "a", cache_lists=share, cache_fetched=5_000 * share, cache_returned=share)
        b = scraped(at, "b", cache_lists=share, cache_fetched=50_000 * share, cache_returned=share)
        batches.append([a[0], b[0], *scraped(at, "nodes", checks_failed=share)])
    live = live_of(*batches)
    assert [found.subject for found in findings(live)] == ["nodes", "b", "a"]
    assert worst(findings(live)) is Severity.CRITICAL
    assert worst([]) is None


def test_the_server_itself() -> None:
    live = over_a_minute()
    refused = Denied("/metrics", 403, "forbidden", "get on /metrics")
    fold_all(
        live,
        [LiveServer(at=160, context="c", url="u", origin="metrics", expected=3, denied=[refused],
                    not_ready=["etcd"])],
    )  # fmt: skip
    assert {found.id for found in findings(live)} == {"metrics-denied", "replicas-not-reached", "not-ready"}


def test_replicas_are_added_and_never_subtracted_from_each_other() -> None:
    live = live_of(
        scraped(100, replica="1", cache_lists=500),
        scraped(101, replica="2", cache_lists=3),
        scraped(160, replica="1", cache_lists=510),
        scraped(161, replica="2", cache_lists=8),
    )
    row = routes_of(live, "pods")
    assert row is not None
    assert (row.cache.lists, row.seconds) == (15, 60)


def test_a_counter_that_went_back_counts_from_zero() -> None:
    row = routes_of(live_of(scraped(100, cache_lists=500), scraped(160, cache_lists=7)), "pods")
    assert row is not None
    assert row.cache.lists == 7


def test_a_window_takes_the_last_scrapes_only() -> None:
    live = live_of(*(scraped(at, cache_lists=at) for at in (100, 160, 220)))
    row = routes_of(live, "pods", 60)
    assert row is not None
    assert (row.cache.lists, row.seconds) == (60, 60)


@pytest.mark.parametrize(
    ("figures", "says"),
    [
        ({}, "no LIST by clients in 1m"),
        ({"cache_lists": 10, "cache_fetched": 10, "cache_returned": 10},
         "pods: all 10 LISTs in 1m from the watch cache"),
        ({"cache_lists": 97, "cache_fetched": 1900, "cache_returned": 10_000, "storage_lists": 3,
          "etcd_fetched": 8100, "etcd_timed": 9, "etcd_lists": 9},
         "pods: 97% of 100 LISTs in 1m from the cache; the 3% from etcd fetched 81% of the objects"),
        ({"storage_lists": 3, "etcd_fetched": 30, "etcd_returned": 30, "etcd_timed": 3, "etcd_lists": 3},
         "pods: all 3 LISTs in 1m from etcd"),
        ({"cache_lists": 1, "cache_fetched": 100, "cache_returned": 5},
         "pods: the only LIST in 1m from the watch cache; 20× more objects read than returned"),
        ({"cache_lists": 10, "cache_fetched": 10, "cache_returned": 10, "lists": 7, "collection_deletes": 3},
         "pods: all 10 LISTs in 1m from the watch cache, 3 of them for DELETEs of collections"),
        ({"cache_lists": 2, "cache_fetched": 2, "cache_returned": 2, "lists": 0, "collection_deletes": 2},
         "pods: all 2 LISTs in 1m from the watch cache, all of them for DELETEs of collections"),
        ({"cache_lists": 1, "cache_fetched": 2, "cache_returned": 2, "lists": 0, "collection_deletes": 1},
         "pods: the only LIST in 1m from the watch cache, for the DELETE of a collection"),
        ({"cache_lists": 7, "cache_fetched": 2, "cache_returned": 2, "collection_deletes": 3},
         "pods: all 7 LISTs in 1m from the watch cache"),
        ({"cache_lists": 7, "cache_fetched": 2, "cache_returned": 2, "lists": 7, "collection_deletes": 3},
         "pods: all 7 LISTs in 1m from the watch cache"),
    ],
)  # fmt: skip
def test_the_verdict(figures: dict[str, int], says: str) -> None:
    assert verdict(all_routes(over_a_minute(**figures))) == says


def test_the_verdict_before_there_is_a_rate() -> None:
    assert verdict([]) == "no scrape yet"
    assert verdict(all_routes(live_of(scraped(100)))) == "one scrape so far: rates need two"


def test_the_report_says_null_for_what_is_not_reported() -> None:
    live = live_of(
        [ResourceScrape(at=1, replica="1", resource="pods"), ReplicaScrape(at=1, replica="1", version="1.24")]
    )
    pods = report_document(live)["resources"]["pods"]
    assert pods["cache"]["lists"] is None
    assert pods["consistent_reads"]["fallback"] is None


@pytest.mark.parametrize(
    ("counts", "share", "seconds"),
    [
        ({"0.1": 50, "1": 100, "+Inf": 100}, 0.5, 0.1),
        ({"0.1": 50, "1": 100, "+Inf": 100}, 0.75, 0.55),
        ({"0.1": 0, "+Inf": 4}, 0.99, 0.1),
        ({}, 0.5, None),
        ({"0.1": 0, "+Inf": 0}, 0.5, None),
    ],
)
def test_quantiles_of_buckets(counts: dict[str, float], share: float, seconds: float | None) -> None:
    assert quantile(counts, share) == (seconds if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("mean", "p50", "p99"),
    [
        (0.1, 0.2, 4.95),  # of 100 waits of 0.1 ms on average half cannot be longer than 0.2 ms
        (0.01, 0.02, 1.0),
        (3.0, 2.5, 4.95),  # as interpolated
        (None, 2.5, 4.95),
    ],
)
def test_waits_within_a_bucket_are_not_longer_than_their_mean_allows(
    mean: float | None, p50: float, p99: float
) -> None:
    def scrape(at: float, waits: int) -> list[Any]:
        total = None if mean is None else waits * mean
        counters = LevelCounters(
            waits=waits, wait_ms=total, wait_buckets={"0": 0, "0.005": waits, "+Inf": waits}
        )
        level = LevelScrape(at=at, replica="1", level="low", counters=counters, gauges=LevelGauges())
        return [level, ReplicaScrape(at=at, replica="1", version="1.36")]

    (row,) = level_rows(live_of(scrape(100, 0), scrape(115, 100)))
    assert (row.wait_p50, row.wait_p99) == (pytest.approx(p50), pytest.approx(p99))


def test_a_recording_that_begins_now_can_be_continued() -> None:
    state = State()
    apply(state, [*scraped(100, cache_lists=5), *scraped(160, cache_lists=9)])
    later = State()
    apply(later, state_events(state, 170))
    apply(later, scraped(220, cache_lists=20))
    row = routes_of(later.live, "pods")
    assert row is not None
    assert (row.cache.lists, row.seconds) == (11, 60)
