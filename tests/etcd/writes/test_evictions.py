"""Evictions: preconditions, disruption budgets, and the condition that says why a pod goes."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from ktui.etcd.client import EtcdClient
from tests.etcd.apiserver.conftest import JSON, Api

pytestmark = pytest.mark.anyio

PODS = "/api/v1/namespaces/a/pods"
BUDGETS = "/apis/policy/v1/namespaces/a/poddisruptionbudgets"
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."


async def a_pod(api: Api, status: dict[str, Any] | None = None) -> dict[str, Any]:
    """The pod `p`, scheduled, in that state (ready by default)."""
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}
    pod = {"metadata": {"name": "p", "labels": {"app": "web"}}, "spec": spec}
    assert (await api.create(PODS, pod)).status_code == 201
    running = await api.merge(f"{PODS}/p/status", {"status": status or READY})
    assert running.status_code == 200
    created: dict[str, Any] = running.json()
    return created


async def a_budget(api: Api, name: str = "b", /, **status: Any) -> None:
    """A budget for the pod, as the disruption controller keeps it."""
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    spec |= status.pop("spec", {})
    assert (await api.create(BUDGETS, {"metadata": {"name": name}, "spec": spec})).status_code == 201
    kept = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    answer = await api.merge(
        f"{BUDGETS}/{name}/status", {"status": {"observedGeneration": 1} | kept | status}
    )
    assert answer.status_code == 200, answer.text


async def evict(api: Api, name: str = "p", query: str = "", **options: Any) -> httpx.Response:
    body = {"metadata": {"name": name}, "deleteOptions": options}
    return await api.http.post(f"{PODS}/p/eviction{query}", content=json.dumps(body), headers=JSON)


async def test_a_pod_without_a_budget_goes_with_a_condition(api: Api) -> None:
    await a_pod(api)
    assert (await evict(api)).json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }
    pod = (await api.get(f"{PODS}/p")).json()
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 30
    assert pod["status"]["conditions"][1]["reason"] == "EvictionByEvictionAPI"


@pytest.mark.parametrize("phase", ["Running", "Pending", "Failed"])
@pytest.mark.parametrize("what", ["uid", "resourceVersion"])
async def test_preconditions(api: Api, phase: str, what: str) -> None:
    pod = await a_pod(api, {**READY, "phase": phase})
    answer = await evict(api, preconditions={what: "7"})
    found, word = pod["metadata"][what], {"uid": "UID"}.get(what, "ResourceVersion")
    assert (answer.status_code, answer.json()["details"]) == (409, {"name": "p", "kind": "Pod"})
    assert f"the {word} in the precondition (7) does not match the {word} in record ({found})" in answer.text
    assert (await api.get(f"{PODS}/p")).json() == pod
    assert (await evict(api, preconditions={what: found})).status_code == 201


async def test_an_exhausted_budget_refuses(api: Api) -> None:
    pod = await a_pod(api)
    await a_budget(api)
    answer = await evict(api)
    cause = {
        "reason": "DisruptionBudget",
        "message": "The disruption budget b needs 1 healthy pods and has 1 currently",
    }
    assert answer.status_code == 429 and "retry-after" not in answer.headers
    assert answer.json()["message"] == VIOLATES and answer.json()["details"] == {"causes": [cause]}
    assert (await api.get(f"{PODS}/p")).json() == pod


async def test_a_budget_that_is_not_observed_yet_asks_to_retry(api: Api) -> None:
    await a_pod(api)
    await a_budget(api, observedGeneration=0)
    answer = await evict(api)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "10")
    cause = answer.json()["details"]["causes"][0]["message"]
    assert cause == "The disruption budget b is still being processed by the server."


async def test_a_disruption_is_charged(api: Api) -> None:
    await a_pod(api)
    await a_budget(api, disruptionsAllowed=1)
    assert (await evict(api, query="?dryRun=All")).status_code == 201
    assert (await api.get(f"{BUDGETS}/b")).json()["status"]["disruptionsAllowed"] == 1
    assert "deletionTimestamp" not in (await api.get(f"{PODS}/p")).json()["metadata"]
    assert (await evict(api)).status_code == 201
    budget = (await api.get(f"{BUDGETS}/b")).json()
    status, condition = budget["status"], budget["status"]["conditions"][0]
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (0, ["p"])
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "DisruptionAllowed",
        "False",
        "InsufficientPods",
    )
    managers = {(m["manager"], m.get("subresource", "")) for m in budget["metadata"]["managedFields"]}
    assert ("kube-apiserver", "status") in managers


async def test_two_budgets_are_too_many(api: Api) -> None:
    await a_pod(api)
    await a_budget(api, disruptionsAllowed=1)
    await a_budget(api, "c", disruptionsAllowed=1)
    answer = await evict(api)
    assert answer.status_code == 500 and "more than one PodDisruptionBudget" in answer.json()["message"]


@pytest.mark.parametrize(
    ("status", "budget", "code"),
    [
        ({"phase": "Pending"}, {}, 201),
        ({"phase": "Succeeded"}, {}, 201),
        ({"phase": "Running"}, {}, 201),  # as healthy as desired without it
        ({"phase": "Running"}, {"currentHealthy": 0}, 429),
        (
            {"phase": "Running"},
            {"currentHealthy": 0, "spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}},
            201,
        ),
        (READY, {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}, 429),
        (READY, {"spec": {"selector": {}}}, 429),
        (READY, {"spec": {"selector": None}}, 201),
        (
            READY,
            {
                "spec": {
                    "selector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}
                }
            },
            201,
        ),
    ],
)
async def test_what_a_budget_lets_go(
    api: Api, status: dict[str, Any], budget: dict[str, Any], code: int
) -> None:
    await a_pod(api, status)
    await a_budget(api, **budget)
    answer = await evict(api)
    assert answer.status_code == code, answer.text


async def test_a_budget_below_zero_that_was_stored_allows_nothing(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ktui.writes.before_update.status_errors", lambda *_: [])
    await a_pod(api)
    await a_budget(api, disruptionsAllowed=-1)
    assert (await evict(api)).status_code == 403


async def test_a_pod_that_becomes_ready_meanwhile_is_kept(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await a_pod(api, {"phase": "Running"})
    await a_budget(api)
    commit = EtcdClient.update

    async def overtaken(self: EtcdClient, *args: Any) -> Any:
        monkeypatch.setattr(EtcdClient, "update", commit)
        assert (await api.merge(f"{PODS}/p/status", {"status": READY})).status_code == 200
        return await commit(self, *args)

    monkeypatch.setattr(EtcdClient, "update", overtaken)
    answer = await evict(api)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "10")
    assert (await api.get(f"{PODS}/p")).json()["status"]["conditions"][0]["type"] == "Ready"


@pytest.mark.parametrize(
    ("name", "options", "code", "text"),
    [
        ("other", {}, 400, "name in URL does not match name in Eviction object"),
        ("p", {"propagationPolicy": "Sometimes"}, 422, "propagationPolicy"),
    ],
)
async def test_refused(api: Api, name: str, options: dict[str, Any], code: int, text: str) -> None:
    await a_pod(api)
    answer = await evict(api, name, **options)
    assert answer.status_code == code and text in answer.text
