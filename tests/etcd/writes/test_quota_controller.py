"""The status of quotas, kept by the server's own controller."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from ktui.writes.quota_controller import QuotaController
from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

IN_A = "/api/v1/namespaces/a"
QUOTA = f"{IN_A}/resourcequotas/q"


@pytest.fixture
async def counted(api: Api) -> AsyncIterator[Api]:
    controller = QuotaController(api.services.registry, api.catalog.table.preferred)
    controller.start()
    yield api
    await controller.stop()


async def status_of(api: Api, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Once it holds; each try is an answer of the server."""
    async with asyncio.timeout(60):
        while True:
            status: dict[str, Any] = (await api.get(QUOTA)).json().get("status") or {}
            if holds(status):
                return status


async def limit(api: Api, hard: dict[str, str]) -> dict[str, Any]:
    """A quota with a status."""
    made = await api.create(f"{IN_A}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    assert made.status_code == 201, made.text
    status = await status_of(api, lambda found: bool(found.get("hard")))
    await api.seen((await api.get(QUOTA)).json(), "resourcequotas")
    return status


def pod(name: str) -> dict[str, Any]:
    resources = {"requests": {"cpu": "100m"}}
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]},
    }


async def test_a_quota_has_its_limits_and_what_is_used_already(counted: Api) -> None:
    await counted.config_map("there")
    await counted.create(f"{IN_A}/pods", pod("p"))
    status = await limit(counted, {"pods": "2", "requests.cpu": "1", "count/configmaps": "1", "x.io/y": "3"})
    assert status["hard"] == {"pods": "2", "requests.cpu": "1", "count/configmaps": "1", "x.io/y": "3"}
    assert status["used"] == {"pods": "1", "requests.cpu": "100m", "count/configmaps": "1"}
    refused = await counted.create(f"{IN_A}/configmaps", {"metadata": {"name": "more"}})
    assert refused.status_code == 403
    assert "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1" in refused.text
    fields = (await counted.get(QUOTA)).json()["metadata"]["managedFields"]
    assert ("kube-controller-manager", "status") in [(f["manager"], f.get("subresource")) for f in fields]


async def test_what_is_deleted_can_be_used_again(counted: Api) -> None:
    await limit(counted, {"configmaps": "1"})
    await counted.config_map("one")
    await status_of(counted, lambda status: status["used"] == {"configmaps": "1"})
    await counted.delete(f"{IN_A}/configmaps/one")
    await status_of(counted, lambda status: status["used"] == {"configmaps": "0"})
    await counted.seen((await counted.get(QUOTA)).json(), "resourcequotas")
    await counted.config_map("two")


async def test_a_pod_that_has_ended_uses_nothing(counted: Api) -> None:
    await limit(counted, {"pods": "1", "count/pods": "2"})
    made = await counted.create(f"{IN_A}/pods", pod("p"))
    assert made.status_code == 201, made.text
    await status_of(counted, lambda status: status["used"] == {"pods": "1", "count/pods": "1"})
    await counted.merge(f"{IN_A}/pods/p/status", {"status": {"phase": "Succeeded"}})
    await status_of(counted, lambda status: status["used"] == {"pods": "0", "count/pods": "1"})


async def test_changed_limits_are_counted_again(counted: Api) -> None:
    await limit(counted, {"configmaps": "1"})
    await counted.config_map("one")
    await counted.merge(QUOTA, {"spec": {"hard": {"configmaps": None, "secrets": "3"}}})
    status = await status_of(counted, lambda status: "secrets" in status["hard"])
    assert status == {"hard": {"secrets": "3"}, "used": {"secrets": "0"}}


async def test_other_tasks_run_between_the_objects_that_are_counted(
    counted: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A namespace may hold 100,000 objects."""
    for n in range(5):
        await counted.config_map(f"c{n}")
    monkeypatch.setattr("ktui.telemetry.off_loop.SLICE_SECONDS", -1.0)
    yields = 0

    async def yield_to_loop() -> None:
        nonlocal yields
        callers = {frame.name for frame in traceback.extract_stack()}
        yields += "_used" in callers
        await asyncio.sleep(0)

    monkeypatch.setattr("ktui.telemetry.off_loop.yield_to_loop", yield_to_loop)
    await limit(counted, {"configmaps": "9"})
    assert (await status_of(counted, lambda status: bool(status["used"])))["used"] == {"configmaps": "5"}
    assert yields >= 5
