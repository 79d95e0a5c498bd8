"""What to do about the most expensive reads."""

from __future__ import annotations

import pytest

from ktui.contract.events import CacheStatus, Prefix, ServerInfo
from ktui.core import reducer
from ktui.core.ranking.rank_lines import RankLines, shape_text
from ktui.core.ranking.ranking import Group
from ktui.core.ranking.remedies import Savings, remedies_of
from ktui.core.ranking.remedy import NO_SAVING, Burden, Remedy, Saving, saves_only_the_answer, what_is_left
from ktui.core.state import State
from tests.tui.reads import AT, asked

SERVER = ServerInfo(
    at=AT, ktui_version="0", kube_version="1.30", etcd_version="3.5.1", etcd_kind="embedded", endpoints=[],
    writable=True, progress="supported",
)  # fmt: skip
PODS = CacheStatus(at=AT, resource="pods", state="ready", rv=1_000, objects=3_000, bytes=18_000_000)
NODES = Prefix(at=AT, prefix="/registry/minions/", resource="nodes", count=100, bytes=900_000)


def cluster(*requests: list) -> State:  # type: ignore[type-arg]
    state = State()
    reducer.apply(state, [SERVER, PODS, NODES])
    for events in requests:
        reducer.apply(state, events)
    return state


def most_expensive(state: State) -> Group:
    return state.ranking.ranked()[0]


def test_a_list_from_etcd_is_told_what_memory_would_spare() -> None:
    state = cluster(asked(1, route="etcd", etcd_bytes=18_000_000, fetched=3_000, returned=3_000))
    best = remedies_of(most_expensive(state), state)[0]
    assert (best.id, best.change, best.route) == ("a.rv0", "add resourceVersion=0", "cache")
    assert best.target == "/api/v1/pods?resourceVersion=0"
    assert best.saving() == "no etcd read (18.0 MB now)"
    assert best.saved == pytest.approx(0.5)


def test_what_spares_most_comes_first() -> None:
    state = cluster(asked(1, route="etcd", etcd_bytes=18_000_000))
    shares = [remedy.saved for remedy in remedies_of(most_expensive(state), state)]
    assert shares == sorted(shares, reverse=True) and len(shares) > 1


def test_a_form_that_spares_next_to_nothing_is_not_named() -> None:
    """At 1.36 the cache answers already: resourceVersion=0 would spare the probe of the revision only."""
    state = cluster(asked(1, cached_bytes=18_000_000, etcd_bytes=28, fetched=3_000, returned=3_000))
    reducer.apply(state, [_at("1.36")])
    assert [remedy.id for remedy in remedies_of(most_expensive(state), state)] == []
    assert "cached" in what_is_left(most_expensive(state)).short


def test_a_selector_without_index_is_told_so() -> None:
    query = "labelSelector=app%3Dapi"
    state = cluster(asked(1, query=query, cached_bytes=18_000_000, fetched=3_000, returned=250))
    left = what_is_left(most_expensive(state))
    assert left.short == "no index: narrow by namespace"
    assert "3,000 objects scanned, 250 returned" in left.full


@pytest.mark.parametrize("path", ["/api/v1/namespaces/shop/pods", "/api/v1/nodes"])
def test_no_namespace_is_advised_where_there_is_none_to_choose(path: str) -> None:
    events = asked(1, path=path, query="labelSelector=a%3Db", fetched=900, returned=1)
    left = what_is_left(most_expensive(cluster(events)))
    assert left.short == "no index: use a WATCH instead" and "namespace" not in left.full


def test_a_smaller_answer_is_not_the_cure_for_scanning_in_vain() -> None:
    metadata = Remedy("a.metadata", "ask for metadata only", "", "", "", Burden(0, 1), accept="json;as=…")
    polling = Remedy("a.watch", "WATCH instead of polling", "", "", "", Burden(0, 1))
    query = "labelSelector=app%3Dapi"
    wasteful = most_expensive(cluster(asked(1, query=query, cached_bytes=9, fetched=3_000, returned=250)))
    thrifty = most_expensive(cluster(asked(1, query=query, cached_bytes=9, fetched=3_000, returned=2_900)))
    assert saves_only_the_answer(wasteful, metadata) and saves_only_the_answer(wasteful, None)
    assert not saves_only_the_answer(wasteful, polling) and not saves_only_the_answer(thrifty, metadata)


def test_a_page_gets_no_advice_for_a_selector_that_it_does_not_have() -> None:
    state = cluster(asked(1, query="limit=500", cached_bytes=3_000_000, fetched=3_000, returned=500))
    assert "no index" not in what_is_left(most_expensive(state)).short


def test_who_asks_again_is_told_to_watch() -> None:
    polls = [asked(number, cached_bytes=100, at=AT + 10 * number) for number in range(1, 8)]
    state = cluster(*polls)
    assert "a.watch" in [remedy.id for remedy in remedies_of(most_expensive(state), state)]


def test_a_refused_request_has_no_remedy() -> None:
    state = cluster(asked(1, query="resourceVersionMatch=Exact", status=422, route="none"))
    assert remedies_of(most_expensive(state), state) == []
    assert what_is_left(most_expensive(state)).short.startswith("refused")


@pytest.mark.parametrize(
    ("then", "saved", "said"),
    [
        (None, 0.0, ""),
        (Burden(0, 1_000_000), 0.5, "no etcd read (1.0 MB now)"),
        (Burden(20_000, 20_000), 0.98, "~20.0 kB from etcd, not 1.0 MB, ~20.0 kB scanned, not 1.0 MB"),
        (Burden(1_000_000, 1_000_000), 0.0, ""),
        (Burden(2_000_000, 2_000_000), 0.0, ""),
    ],
)
def test_savings(then: Burden | None, saved: float, said: str) -> None:
    remedy = Remedy("a.x", "change", "why", "/p", "cache", Burden(1_000_000, 1_000_000), then)
    assert remedy.saved == pytest.approx(saved)
    assert remedy.saving() == said


@pytest.mark.parametrize(
    ("path", "query", "text"),
    [
        ("/api/v1/pods", "", "LIST pods"),
        ("/api/v1/namespaces/a/pods", "limit=500", "LIST pods -n … ?limit=500"),
        ("/api/v1/namespaces/a/pods/x", "", "GET pods …"),
        ("/api/v1/pods", "fieldSelector=spec.nodeName%3Dn&resourceVersion=0", "LIST pods ?nodeName=… rv=0"),
        ("/apis/apps/v1/deployments", "resourceVersion=7&resourceVersionMatch=Exact",
         "LIST deployments ?rv=N match=Exact"),
        ("/api/v1/pods", "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
         "WATCH pods ?match=NotOlderThan sendInitial=true"),
    ],
)  # fmt: skip
def test_shapes_read_as_the_log_does(path: str, query: str, text: str) -> None:
    verb = "WATCH" if "watch=" in query else "LIST"
    assert shape_text(most_expensive(cluster(asked(1, path, query, verb=verb))).key.shape) == text


def test_a_line_that_reads_the_same_is_kept() -> None:
    state = cluster(asked(1, cached_bytes=100), asked(2, client="other", cached_bytes=1))
    lines = RankLines()
    first, second = lines.of(state)
    assert (first.share, second.client) == (pytest.approx(100 / 101), "other")
    assert lines.of(state) == [first, second]
    reducer.apply(state, asked(3, client="other", cached_bytes=0))
    again = lines.of(state)
    assert again[0] is first and again[1] is not second


def _at(version: str) -> ServerInfo:
    return ServerInfo(
        at=AT, ktui_version="0", kube_version=version, etcd_version="3.5.1", etcd_kind="embedded",
        endpoints=[], writable=True, progress="supported",
    )  # fmt: skip


def test_the_saving_of_each_kind_is_predicted_a_few_at_a_time() -> None:
    state = cluster(
        asked(1, route="etcd", etcd_bytes=18_000_000),
        asked(2, route="etcd", etcd_bytes=18_000_000),
        asked(3, query="resourceVersion=0&limit=500", cached_bytes=900_000),
    )
    savings, (pods, pages) = Savings(), state.ranking.ranked()
    assert savings.of(pods) is None
    assert savings.update(state, most=1) and savings.of(pages) is None
    assert savings.of(pods) == Saving(36_000_000.0, 1.0)  # no etcd read in either of them
    assert not savings.update(state, most=1) and savings.of(pages) is not None
    reducer.apply(state, asked(4, route="etcd", etcd_bytes=18_000_000))
    assert not savings.update(state, most=1)
    assert savings.of(pods) == Saving(54_000_000.0, 1.0)


def test_a_refused_read_has_no_saving() -> None:
    state = cluster(asked(1, query="limit=ten", etcd_bytes=0))
    savings = Savings()
    savings.update(state, most=9)
    assert savings.of(most_expensive(state)) == NO_SAVING
