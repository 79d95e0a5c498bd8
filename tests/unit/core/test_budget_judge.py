"""Judging: what counts for which entry and limit, and which request is named as the worst."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.contract.events import Dropped, Marker, RequestFinished, RequestRouted, RequestStarted
from ktui.core.budgets.budget_file import RequestBudget
from ktui.core.budgets.judge import REST, BudgetJudge, BudgetVerdict, draft
from ktui.core.budgets.judged_requests import JudgedRequest, RecordedRequests, client_name

PODS = "/api/v1/pods"


def request(
    target: str = PODS,
    *,
    at: float = 0.0,
    client: str = "controller",
    verb: str = "list",
    resource: str = "pods",
    route: str = "cache",
    objects: int | None = 10,
    size: int | None = 1_000,
) -> JudgedRequest:
    return JudgedRequest(at, client, verb, resource, target, route, objects, objects, size)


def judged(budgets: list[RequestBudget], *requests: JudgedRequest) -> BudgetVerdict:
    judge = BudgetJudge(budgets, drafting=True)
    for item in requests:
        judge.add(item)
    return judge.verdict()


def breaches(verdict: BudgetVerdict) -> dict[str, tuple[int, int]]:
    return {
        breach.limit: (breach.actual, breach.allowed)
        for entry in verdict.exceeded
        for breach in entry.breaches
    }


def test_a_limit_is_kept_up_to_its_number_and_exceeded_from_the_next_on() -> None:
    budget = RequestBudget(
        "controller", "list", "pods", "", {"max": 2, "max_objects": 10, "max_bytes": 1_000}
    )
    assert breaches(judged([budget], request(), request())) == {}
    assert breaches(judged([budget], request(), request(), request())) == {"max": (3, 2)}
    assert breaches(judged([budget], request(objects=11))) == {"max_objects": (11, 10)}
    assert breaches(judged([budget], request(size=1_001))) == {"max_bytes": (1_001, 1_000)}


def test_every_entry_that_matches_counts_a_request_and_the_rest_is_told() -> None:
    budgets = [
        RequestBudget(client="re:contr.*", limits={"max": 0}),
        RequestBudget(verb="list", limits={"max": 1}),
        RequestBudget(resource="nodes", limits={"max": 9}),
        RequestBudget(route="etcd", limits={"max": 0}),
    ]
    verdict = judged(budgets, request(), request(client="kubectl", verb="get"), request(route="etcd"))
    by_title = {entry.budget.title: entry for entry in verdict.budgets}
    assert {title: entry.usage.count for title, entry in by_title.items()} == {
        "re:contr.* all verbs": 2,
        "any client LIST": 2,
        "any client all verbs nodes": 0,
        "any client all verbs from etcd": 1,
    }
    assert verdict.unmatched == (("kubectl GET pods", 1),)
    assert len(verdict.exceeded) == 3


def test_exceeded_entries_come_first_by_their_factor() -> None:
    budgets = [
        RequestBudget("kept", limits={"max": 9}),
        RequestBudget("twice", limits={"max": 1}),
        RequestBudget("thrice", limits={"max": 1}),
        RequestBudget("never", limits={"max": 0}),
    ]
    sent = [
        request(client=name) for name in ("kept", "twice", "twice", "thrice", "thrice", "thrice", "never")
    ]
    verdict = judged(budgets, *sent)
    assert [entry.budget.client for entry in verdict.budgets] == ["never", "thrice", "twice", "kept"]


def test_the_worst_request_is_that_of_the_limit() -> None:
    many, large = request("/many", objects=50), request("/large", objects=1, size=9_000)
    budget = RequestBudget(limits={"max": 1, "max_objects": 10, "max_bytes": 2_000})
    (entry,) = judged([budget], many, large).exceeded
    worst = {breach.limit: breach.worst for breach in entry.breaches}
    assert worst == {"max": large, "max_objects": many, "max_bytes": large}


def test_a_figure_that_no_request_has_is_not_judged() -> None:
    budget = RequestBudget(limits={"max_objects": 1, "max_bytes": 1})
    (entry,) = judged([budget], request(objects=None, size=None)).budgets
    assert (entry.breaches, entry.unjudged) == ((), True)
    assert entry.unknown == {"max_objects": 1, "max_bytes": 1}
    (entry,) = judged([budget], request(objects=None, size=None), request(objects=1, size=1)).budgets
    assert (entry.unjudged, entry.unknown) == (False, {"max_objects": 1, "max_bytes": 1})


@given(st.lists(st.integers(0, 400), max_size=60))
def test_the_busiest_minute_is_found_wherever_it_begins(seconds: list[int]) -> None:
    budget = RequestBudget(limits={"max_per_minute": 0})
    (entry,) = judged([budget], *(request(at=float(second)) for second in seconds)).budgets
    slow = max((sum(start <= at < start + 60 for at in seconds) for start in range(-60, 401)), default=0)
    assert entry.usage.per_minute == slow


def watch(query: str = "resourceVersion=5", **words: str) -> JudgedRequest:
    return request(f"{PODS}?watch=true&{query}", verb="watch", objects=0, **words)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sent", "relists"),
    [
        ([request(), watch(), watch(), watch()], []),  # a WATCH that goes on is none
        ([request(), request(), request()], []),  # polling without a WATCH is none
        ([request(), watch(), request(), watch()], [2]),
        ([request(), watch(), request(f"{PODS}?continue=x"), watch()], []),  # a further page
        ([watch("sendInitialEvents=true"), watch("sendInitialEvents=true&resourceVersion=")], [1]),
        ([watch("resourceVersion=0"), watch("")], [1]),
        ([watch("sendInitialEvents=false"), watch("sendInitialEvents=false")], []),
        ([request(), watch(), request(f"{PODS}?labelSelector=a%3Db")], []),  # another scope
        ([watch(client="a"), request(client="b")], []),
        ([watch(), request(verb="get")], []),
    ],
)
def test_relists(sent: list[JudgedRequest], relists: list[int]) -> None:
    """`relists`: which of the requests are."""
    budget = RequestBudget(verb="watch", resource="pods", limits={"max_relists": 0})
    (entry,) = judged([budget], *sent).budgets
    assert entry.usage.relists == len(relists)
    assert bool(entry.breaches) is bool(relists)
    assert all(breach.worst is sent[at] for breach, at in zip(entry.breaches, relists, strict=True))


def test_seconds_are_bounded_and_then_a_rate_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ktui.core.budgets.judge.MOST_SECONDS", 10)
    budget = RequestBudget(limits={"max_per_minute": 3})
    judge = BudgetJudge([budget])
    for at in (*range(0, 1_000, 100), 0):
        judge.add(request(at=float(at)))
    (entry,) = judge.verdict().budgets
    assert (entry.usage.per_minute, entry.unknown) == (2, {})
    judge.add(request(at=1_000.0))
    (entry,) = judge.verdict().budgets
    assert (entry.unjudged, entry.unknown) == (True, {"max_per_minute": 12})
    assert "max_per_minute" not in draft(judge.verdict(), 0.2)[0].limits


def test_groups_and_clients_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ktui.core.budgets.judge.MOST_GROUPS", 5)
    monkeypatch.setattr("ktui.core.budgets.judge.MOST_CLIENTS", 5)
    verdict = judged([RequestBudget(limits={"max": 1})], *(request(client=f"c{n}") for n in range(50)))
    assert len(verdict.groups) == 6
    assert verdict.groups[REST, "list", ""].count == 45
    assert verdict.budgets[0].usage.clients[REST] == 45


def test_a_written_budget_has_the_headroom_and_forbids_lists_from_etcd() -> None:
    sent = [*(request(at=float(n * 10), objects=n) for n in range(10)), watch(), request(verb="patch")]
    first, etcd, patches, watches = draft(judged([], *sent), 0.2)
    assert first.limits == {
        "max": 12, "max_per_minute": 8, "max_objects": 11, "max_scanned": 11, "max_bytes": 1_200,
    }  # fmt: skip
    assert (etcd.route, etcd.limits) == ("etcd", {"max": 0})
    assert patches.limits == {"max": 2, "max_per_minute": 2}
    assert watches.limits["max_relists"] == 0
    assert judged([first, etcd, patches, watches], *sent).exceeded == []


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("controller/v1.2 (linux/amd64) kubernetes/abc", "controller"),
        ("kubectl", "kubectl"),
        ("", "unknown"),
        (" ", "unknown"),
    ],
)
def test_a_client_is_named_as_the_server_names_it(agent: str, name: str) -> None:
    assert client_name(agent) == name


def started(number: int, path: str, verb: str = "LIST") -> RequestStarted:
    return RequestStarted(
        id=number, verb=verb, path=path, query="limit=5", resource="", namespace="", name="", client="c",
        user_agent="c/1", at=float(number),
    )  # fmt: skip


def test_requests_are_read_between_the_markers_with_what_the_server_observed() -> None:
    requests = RecordedRequests("begin", "end")
    for event in (
        started(1, PODS),
        Marker(text="begin"),
        started(2, "/apis/apps/v1/namespaces/a/deployments/b/status", "PUT"),
        started(3, "/version"),
        started(4, PODS),
        RequestRouted(id=4, route="cache", reason_id="", reason="", steps=[]),
        RequestFinished(
            id=4, status=200, route="cache,etcd", ms=3.0, returned=5, fetched=70, encoded_bytes=900
        ),
        started(5, PODS, "WATCH"),
        RequestRouted(id=5, route="cache_snapshot", reason_id="", reason="", steps=[]),
        msgspec.structs.replace(started(6, PODS, "WATCH"), query="watch=true&resourceVersion=7"),
        Marker(text="end"),
        RequestFinished(id=6, status=200, route="cache", ms=9.0, initial=3, initial_bytes=30),
        RequestFinished(
            id=5, status=200, route="cache", ms=9.0, initial=7, initial_bytes=70, encoded_bytes=700
        ),
        None,
    ):
        requests.add(event)
    assert requests.complete
    assert [(r.verb, r.resource, r.route, r.objects, r.scanned, r.bytes) for r in requests.all()] == [
        ("update", "deployments.apps/status", "", None, None, None),
        ("list", "pods", "etcd", 5, 70, 900),
        ("watch", "pods", "cache", 7, 0, 70),
        ("watch", "pods", "", None, None, None),
    ]
    assert next(iter(requests.all())).target.endswith("/status?limit=5")


def test_a_recording_without_its_end_or_with_lost_events_is_noticed() -> None:
    requests = RecordedRequests("begin", "end")
    requests.add(Dropped(count=9))  # while the demo cluster was created
    requests.add(Marker(text="begin"))
    requests.add(Dropped(count=3))
    assert (requests.complete, requests.dropped) == (False, 3)
