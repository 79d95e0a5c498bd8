"""Plans of LISTs: those that come with ktui can be asked anywhere, and a bad file says what is wrong."""

from pathlib import Path

import pytest

from ktui.kube.routing.request import parse_request
from ktui.workloads.plans import (
    NAMESPACE,
    NODE,
    ClientPlan,
    PlanError,
    PlannedList,
    builtin_plans,
    find_plan,
    read_plan,
    without_selectors,
)

PLANS = builtin_plans()


def test_what_is_built_in() -> None:
    assert set(PLANS) >= {
        "cilium-agent",
        "kubelet",
        "kube-proxy",
        "controller-manager",
        "kubectl-user",
        "helm",
        "informer-restart",
    }
    assert len(PLANS["cilium-agent"].lists) == 9


@pytest.mark.parametrize("plan", PLANS.values(), ids=lambda plan: plan.name)
def test_every_built_in_list_is_one(plan: ClientPlan) -> None:
    for planned in plan.lists:
        filled = planned.filled("node-01", "shop")
        for path in filter(None, (filled.path, filled.without)):
            request = parse_request(path)
            assert request.verb == "list"
            assert request.refusal is None, path
            assert not request.options.unknown, path
        assert "{" not in filled.path + filled.without + filled.note


@pytest.mark.parametrize(
    ("path", "without"),
    [
        (
            "/api/v1/pods?fieldSelector=spec.nodeName={node}&resourceVersion=0",
            "/api/v1/pods?resourceVersion=0",
        ),
        ("/api/v1/secrets?labelSelector=owner=helm", "/api/v1/secrets"),
        ("/api/v1/pods?limit=5", ""),
        ("/api/v1/pods", ""),
    ],
)
def test_without_its_selector(path: str, without: str) -> None:
    assert without_selectors(path) == without


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'about = "mine"\nclient = "me"\n[[list]]\npath = "/api/v1/namespaces/{namespace}/pods"\n'
        '[[list]]\npath = "/api/v1/pods?labelSelector=a"\nwithout = false\nclient = "you"\npages = true\n'
    )
    plan = find_plan(str(path))
    assert plan.lists == (
        PlannedList("/api/v1/namespaces/{namespace}/pods", client="me"),
        PlannedList("/api/v1/pods?labelSelector=a", pages=True, client="you"),
    )
    assert (plan.needs(NAMESPACE), plan.needs(NODE)) == (True, False)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"]", "cannot be read"),
        (b"list = []", r"has no \[\[list\]\]"),
        (b'[[list]]\npath = "pods"', "not an API path"),
        (b'[[list]]\npath = "/api/v1/pods"\nselector = "a"', "selector"),
        (b'[[list]]\npath = "/api/v1/pods"\nwithout = true', "cannot be read"),
        (b'about = "x"', "list"),
    ],
)
def test_what_is_wrong_with_a_file(content: bytes, says: str) -> None:
    with pytest.raises(PlanError, match=says):
        read_plan("mine", content)


def test_an_unknown_plan_names_those_there_are() -> None:
    with pytest.raises(PlanError, match="built in are cilium-agent"):
        find_plan("cilum")
    with pytest.raises(PlanError, match="cannot read the plan"):
        find_plan("missing.toml")
