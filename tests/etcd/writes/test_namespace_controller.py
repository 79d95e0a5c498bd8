"""A namespace that is deleted: its content goes first, then the namespace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from ktui.kube.resources import builtin
from ktui.kube.versions import behaviour_of
from ktui.telemetry.meter import yield_to_loop
from ktui.writes.deletion_controllers import NamespaceController
from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

NAMESPACES = "/api/v1/namespaces"
OLD = "/api/v1/namespaces/old"
FINALIZED = {"name": "kept", "finalizers": ["example.io/hold"]}
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture
async def served(api: Api) -> AsyncIterator[Api]:
    """A server whose controller follows namespaces, with a namespace `old`."""
    controller = NamespaceController(api.app.server)
    controller.start()
    assert (await api.create(NAMESPACES, {"metadata": {"name": "old"}})).status_code == 201
    yield api
    await controller.stop()


async def old_namespace(api: Api, holds: Callable[[int, dict[str, Any]], bool]) -> dict[str, Any]:
    """The answer of GET, once `holds` of its status code and body; each try is an answer of the server."""
    async with asyncio.timeout(60):
        while True:
            answer = await api.get(OLD)
            if holds(answer.status_code, answer.json()):
                return dict(answer.json())


def gone(code: int, _: dict[str, Any]) -> bool:
    return code == 404


async def test_the_content_goes_and_then_the_namespace(served: Api) -> None:
    for collection, obj in (
        (f"{OLD}/configmaps", {"metadata": {"name": "c"}}),
        (f"{OLD}/pods", POD),
        (f"{OLD}/events", {"metadata": {"name": "e"}, "involvedObject": {"namespace": "old"}}),
        ("/apis/coordination.k8s.io/v1/namespaces/old/leases", {"metadata": {"name": "l"}}),
    ):
        made = await served.create(collection, obj)
        assert made.status_code == 201, made.text
    other = await served.config_map("other")
    assert (await served.delete(OLD)).json()["status"]["phase"] == "Terminating"
    await old_namespace(served, gone)
    for path in (f"{OLD}/configmaps/c", f"{OLD}/pods/p", f"{OLD}/events/e"):
        assert (await served.get(path)).status_code == 404
    assert (await served.get(f"{NAMESPACES}/a/configmaps/other")).json()["metadata"] == other["metadata"]


async def test_a_finalizer_keeps_it_and_the_conditions_say_so(served: Api) -> None:
    await served.create(f"{OLD}/configmaps", {"metadata": FINALIZED})
    await served.delete(OLD)

    def waits(_: int, found: dict[str, Any]) -> bool:
        return len((found.get("status") or {}).get("conditions") or []) == 5

    conditions = {c["type"]: c for c in (await old_namespace(served, waits))["status"]["conditions"]}
    remaining = conditions["NamespaceContentRemaining"]
    assert (remaining["status"], remaining["reason"]) == ("True", "SomeResourcesRemain")
    assert remaining["message"] == "Some resources are remaining: configmaps. has 1 resource instances"
    held = conditions["NamespaceFinalizersRemaining"]["message"]
    assert held.endswith("has finalizers remaining: example.io/hold in 1 resource instances")
    assert conditions["NamespaceDeletionContentFailure"]["status"] == "False"
    await served.merge(f"{OLD}/configmaps/kept", {"metadata": {"finalizers": None}})
    await old_namespace(served, gone)


@pytest.mark.parametrize(("version", "stays"), [("1.32", False), ("1.36", True)])
async def test_the_rest_waits_until_the_pods_are_gone(api: Api, version: str, stays: bool) -> None:
    api.services.settings.behaviour = behaviour_of(version)
    controller = NamespaceController(api.app.server)
    await api.create(NAMESPACES, {"metadata": {"name": "old"}})
    await api.create(f"{OLD}/configmaps", {"metadata": {"name": "c"}})
    await api.create(f"{OLD}/pods", {**POD, "metadata": {"name": "p", "finalizers": ["example.io/hold"]}})
    await api.delete(OLD)
    controller.start()
    try:
        await old_namespace(api, lambda _, found: bool(found["status"].get("conditions")))
        assert (await api.get(f"{OLD}/pods/p")).json()["metadata"]["deletionTimestamp"]
        assert ((await api.get(f"{OLD}/configmaps/c")).status_code == 200) is stays
        await api.merge(f"{OLD}/pods/p", {"metadata": {"finalizers": None}})
        await old_namespace(api, gone)
    finally:
        await controller.stop()


async def test_one_that_was_marked_before_the_controller_began_is_deleted(api: Api) -> None:
    await api.create(NAMESPACES, {"metadata": {"name": "old"}})
    await api.delete(OLD)
    controller = NamespaceController(api.app.server)
    controller.start()
    try:
        await old_namespace(api, gone)
    finally:
        await controller.stop()


async def test_a_pod_is_removed_once_its_grace_period_has_passed(served: Api) -> None:
    running = {**POD, "spec": {**POD["spec"], "nodeName": "n", "terminationGracePeriodSeconds": 1}}
    await served.create(f"{OLD}/pods", running)
    await served.delete(OLD)
    await old_namespace(served, gone)
    assert (await served.get(f"{OLD}/pods/p")).status_code == 404


async def test_a_namespace_that_is_created_again_keeps_its_content(api: Api) -> None:
    """A client finalizes a namespace that does not end, and creates it again."""
    controller = NamespaceController(api.app.server)
    await api.create(NAMESPACES, {"metadata": {"name": "old"}})
    await api.create(f"{OLD}/configmaps", {"metadata": FINALIZED})
    await api.delete(OLD)
    controller.start()
    try:
        await old_namespace(api, lambda _, found: bool(found["status"].get("conditions")))
        await api.services.registry.for_resource(builtin("", "namespaces")).store.update(
            None, "old", lambda _: None
        )
        assert (await api.create(NAMESPACES, {"metadata": {"name": "old"}})).status_code == 201
        await api.merge(f"{OLD}/configmaps/kept", {"metadata": {"finalizers": None}})
        await api.create(f"{OLD}/configmaps", {"metadata": {"name": "new"}})
        async with asyncio.timeout(60):
            while not controller.idle:
                await yield_to_loop()
        assert (await api.get(OLD)).json()["status"] == {"phase": "Active"}
        assert (await api.get(f"{OLD}/configmaps/new")).status_code == 200
    finally:
        await controller.stop()
