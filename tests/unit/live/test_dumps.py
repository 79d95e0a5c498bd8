"""The dumps of API Priority and Fairness, and the rules that grant them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.live.access import RULES, denied, role_document
from ktui.live.samples import levels_of, queues_of, requests_of

HEAD = (
    "PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime, "
    "InitialSeats, FinalSeats, AdditionalLatency, StartTime"
)
DETAILS = ", UserName, Verb, APIPath, Namespace, Name, APIVersion, Resource, SubResource"
TIMES = "2026-11-22T08:18:47.440076554Z"


def row(index: str = "-1", user: str = "alice", path: str = "/api/v1/pods") -> str:
    return (
        f"system, system-nodes, 37, {index}, {user}, {TIMES}, 3, 0, 0s, {TIMES}, "
        f"{user}, list, {path}, shop, , v1, pods, "
    )


def test_executing_and_queued() -> None:
    first, second = requests_of(f"{HEAD}{DETAILS}\n{row()}\n{row(index='2')}\n")
    assert (first.level, first.schema, first.user, first.verb) == ("system", "system-nodes", "alice", "list")
    assert (first.path, first.resource, first.namespace) == ("/api/v1/pods", "pods", "shop")
    assert (first.seats, first.queued, second.queued) == (3, False, True)
    assert round(first.arrived, 3) == 1795335527.440


def test_without_details() -> None:
    (found,) = requests_of(
        f"{HEAD}\nsystem, system-nodes, 37, 0, system:node:n1, {TIMES}, 1, 0, 0s, {TIMES}\n"
    )
    assert (found.user, found.verb, found.queued) == ("system:node:n1", "", True)


@pytest.mark.parametrize(("user", "path"), [("a,b", "/api/v1/pods"), ("alice", "/apis/x/v1/a,b/c")])
def test_commas_in_names(user: str, path: str) -> None:
    (found,) = requests_of(f"{HEAD}{DETAILS}\n{row(user=user, path=path)}\n")
    assert (found.user, found.path) == (user, path)


@given(st.text(max_size=2000))
def test_any_text_gives_rows_or_nothing(text: str) -> None:
    assert len(requests_of(text)) <= text.count("\n") + 40


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/metrics", "get on /metrics"),
        ("/debug/api_priority_and_fairness/dump_requests?x=1", "get on /debug/api_priority_and_fairness/*"),
        ("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", "list on leases.coordination.k8s.io"),
    ],
)
def test_the_rule_that_grants_a_path(path: str, rule: str) -> None:
    assert denied(path, 403, "forbidden").rule == rule
    assert denied(path, 404, "not found").rule == ""


def test_the_role_only_reads() -> None:
    assert {verb for rule, _ in RULES for verb in rule.verbs} <= {"get", "list", "watch"}
    rules = role_document()["rules"]
    assert isinstance(rules, list)
    assert rules[0] == {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}


def test_a_line_that_is_not_a_level_or_a_queue_is_left_out() -> None:
    assert levels_of("head\nx\nsystem, a, true, false, 1, 2\nsystem, 3, true, false, 1, 2\n")[0].waiting == 1
    assert len(levels_of("head\nx\nsystem, a, true, false, 1, 2\n")) == 0
    assert (
        queues_of("head\nsystem, 1, 0, 0, 0\nsystem, 2, 5, 0, 1, 0.0ss\nsystem, z, 1, 1, 1\n")[0].index == 2
    )


@given(st.text(max_size=500))
def test_any_text_gives_levels_and_queues_or_nothing(text: str) -> None:
    assert len(levels_of(text)) + len(queues_of(text)) <= 2 * (text.count("\n") + 40)
