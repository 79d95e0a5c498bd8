"""Go's texts, percentiles, clients, key ranges, and the bounded table of groups."""

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.audit.formats.log_record import Malformed, SlowRequest, duration, klog_day, unquote, zap_time
from ktui.audit.group import Client, RangeKey, client_of, range_key
from ktui.core.ranking.sketches import LatencyHistogram, TopGroups
from ktui.kube.golang.formatting import quote

from .logs import go_duration


@pytest.mark.parametrize(
    ("text", "micros"),
    [("0s", 0), ("929.214µs", 929), ("929us", 929), ("1.926865ms", 1927), ("5357.87304ms", 5_357_873),
     ("1.5s", 1_500_000), ("1m2.5s", 62_500_000), ("1h0m3s", 3_603_000_000), ("17ns", 0)],
)  # fmt: skip
def test_durations(text: str, micros: int) -> None:
    assert duration(text) == micros


@pytest.mark.parametrize("text", ["", "5", "ms", "1.2.3s", "-1s", "1s ", "1 s", "9" * 400 + "h"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(Malformed):
        duration(text)


@given(st.integers(0, 10**14))
def test_durations_come_back(micros: int) -> None:
    assert duration(go_duration(micros)) == micros


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_quoted_strings_come_back(text: str) -> None:
    assert unquote(quote(text)[1:-1]) == text


def test_a_klog_day_is_the_newest_that_has_been() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    days = {text: datetime.fromtimestamp(klog_day(text, now) / 1e6, UTC).date().isoformat()
            for text in ("0102", "0103", "1231", "0229")}  # fmt: skip
    # A day ahead is another zone's today.
    assert days == {"0102": "2026-01-02", "0103": "2026-01-03", "1231": "2025-12-31", "0229": "2024-02-29"}


@pytest.mark.parametrize("ts", ["2026-08-23T08:55:54.330Z", "2026-08-23T10:55:54.330+0200", 1787475354.33])
def test_etcds_times(ts: str | float) -> None:
    assert zap_time(ts) == 1_787_475_354_330_000


@pytest.mark.parametrize("ts", ["soon", "0001-01-01T00:00:00Z", 0, float("inf"), float("nan"), 1e300])
def test_what_is_no_time(ts: str | float) -> None:
    with pytest.raises(Malformed):
        zap_time(ts)


@given(st.lists(st.integers(0, 10**11), min_size=1, max_size=300), st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_percentiles_are_near_the_true_ones(values: list[int], share: float) -> None:
    histogram = LatencyHistogram()
    for value in values:
        histogram.add(value)
    exact = sorted(values)[max(0, -(-int(share * 100) * len(values) // 100) - 1)]
    assert histogram.percentile(share) == pytest.approx(exact, rel=0.023, abs=0.6)
    assert (histogram.max, histogram.total, histogram.count) == (max(values), sum(values), len(values))


@pytest.mark.parametrize(
    ("agent", "user", "client"),
    [
        ("kubelet/v1.28.0 (linux/amd64) kubernetes/855e7c4", "system:node:n-1",
         Client("kubelet/v1.28.0", "system:node:*")),
        ("curl/8", "system:serviceaccount:shop:web", Client("curl/8", "shop/web")),
        ("kubectl/v1.30.0 x", "alice", Client("kubectl/v1.30.0", "alice")),
        ("", "", Client("", "")),
        ("a" * 500, "u" * 500, Client("a" * 80, "u" * 80)),
        ("kube-controller-manager/v1.30.2 (linux/amd64) "
         "kubernetes/1/system:serviceaccount:kube-system:node-controller", "",
         Client("kube-controller-manager/v1.30.2", "kube-system/node-controller")),
    ],
)  # fmt: skip
def test_clients(agent: str, user: str, client: Client) -> None:
    assert client_of(agent, user) == client


def slow(key: str, end: str = "", what: str = "range", limit: int = 0, revision: int = 0) -> SlowRequest:
    return SlowRequest("apply", what, key, end, limit, revision, 0, 1)


@pytest.mark.parametrize(
    ("request_", "resource", "scope", "later"),
    [
        (slow("/registry/pods/", "/registry/pods0"), "pods", "all", False),
        (slow("/registry/pods/shop/", "/registry/pods/shop0"), "pods", "namespace", False),
        (slow("/registry/pods/shop/web\\000", "/registry/pods0"), "pods", "all", True),
        (slow("/registry/pods/shop/web\\000", "/registry/pods/shop0"), "pods", "namespace", True),
        (slow("/registry/pods/shop/web"), "pods", "key", False),
        (slow("/registry/services/specs/shop/web"), "services", "key", False),
        (slow("/registry/services/endpoints/", "/registry/services/endpoints0"), "endpoints", "all", False),
        (slow("/registry/cilium.io/ciliumnodes/", "/registry/cilium.io/ciliumnodes0"),
         "ciliumnodes.cilium.io", "all", False),
        (slow("/registry/leases/kube-node-lease/n-1", what="write"), "leases.coordination.k8s.io", "", False),
        (slow("/registry/health"), "/registry/health", "key", False),
        (slow("compact_rev_key"), "compact_rev_key", "key", False),
        (slow("/registry/", "/registry0"), "/registry/", "all", False),
        (slow("", "\\000"), "", "all", False),
    ],
)  # fmt: skip
def test_ranges(request_: SlowRequest, resource: str, scope: str, later: bool) -> None:
    key = range_key(request_, "/registry")
    assert (key.resource, key.scope, key.later) == (resource, scope, later)


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["/registry", "", "/"]))
def test_any_range_has_a_key(start: str, end: str, prefix: str) -> None:
    assert isinstance(range_key(slow(start, end), prefix), RangeKey)


class Bucket:
    def __init__(self, cost: int = 0) -> None:
        self.count, self.cost = 0, cost


def test_the_frequent_and_the_slow_survive_a_flood() -> None:
    folded: list[Bucket] = []
    table: TopGroups[int, Bucket] = TopGroups(40, folded.append)
    chance = random.Random(1)
    for n in range(20_000):
        key = -1 if n % 3 == 0 else -2 if n == 11 else chance.randrange(1 << 30)
        bucket = table.get(key) or table.add(key, Bucket(cost=10**9 if key == -2 else 1))
        bucket.count += 1
        assert len(table) <= 40
    frequent, heavy = table.get(-1), table.get(-2)
    assert frequent and frequent.count == 6667
    assert heavy and heavy.count == 1
    assert sum(b.count for b in table) + sum(b.count for b in folded) == 20_000
    assert table.folded == len(folded)
