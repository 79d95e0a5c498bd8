"""What the server does about definitions: names, conditions, APIServices, the cleanup."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.etcd.apiserver.conftest import Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


def definition(plural: str, kind: str, *versions: str, group: str = "t.io", **names: Any) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, **names},
            "versions": [
                {"name": name, "served": True, "storage": at == 0, "schema": schema}
                for at, name in enumerate(versions)
            ],
        },
    }


async def until(api: Api, path: str, holds: Callable[[int, dict[str, Any]], Any]) -> dict[str, Any]:
    """The answer once it holds; each try is an answer of the server."""
    async with asyncio.timeout(60):
        while True:
            answer = await api.get(path)
            found: dict[str, Any] = answer.json()
            if holds(answer.status_code, found):
                return found


def condition(found: dict[str, Any], name: str) -> tuple[str, str]:
    conditions = (found.get("status") or {}).get("conditions") or []
    return next(((c["status"], c["reason"]) for c in conditions if c["type"] == name), ("", ""))


async def created(api: Api, made: dict[str, Any]) -> dict[str, Any]:
    """The definition once its names have been decided."""
    answer = await api.create(DEFINITIONS, made)
    assert answer.status_code == 201, answer.text
    path = f"{DEFINITIONS}/{made['metadata']['name']}"
    return await until(api, path, lambda _, found: condition(found, "NamesAccepted")[0])


async def test_accepted_names_establish_a_definition(api: Api) -> None:
    found = await created(api, definition("gizmos", "Gizmo", "v1", shortNames=["gz"]))
    assert condition(found, "NamesAccepted") == ("True", "NoConflicts")
    assert condition(found, "Established") == ("True", "InitialNamesAccepted")
    assert found["status"]["acceptedNames"]["shortNames"] == ["gz"]


async def test_names_of_another_definition_of_the_group_conflict(api: Api) -> None:
    await created(api, definition("gizmos", "Gizmo", "v1", shortNames=["gz"]))
    found = await created(api, definition("gadgets", "Gadget", "v1", shortNames=["gz"]))
    assert condition(found, "NamesAccepted")[0] == "False"
    assert condition(found, "Established")[0] == "False"
    elsewhere = await created(api, definition("gadgets", "Gadget", "v1", group="u.io", shortNames=["gz"]))
    assert condition(elsewhere, "NamesAccepted")[0] == "True"


async def test_each_served_version_has_an_apiservice_as_long_as_it_is_served(api: Api) -> None:
    await created(api, definition("gizmos", "Gizmo", "v1", "v1beta1"))
    for version in ("v1", "v1beta1"):
        found = await until(api, f"{SERVICES}/{version}.t.io", lambda status, _: status == 200)
        assert found["metadata"]["labels"]["kube-aggregator.kubernetes.io/automanaged"] == "true"
    assert (await api.delete(f"{DEFINITIONS}/gizmos.t.io")).status_code == 200
    for version in ("v1", "v1beta1"):
        await until(api, f"{SERVICES}/{version}.t.io", lambda status, _: status == 404)


async def test_a_deleted_definition_waits_for_its_objects(api: Api) -> None:
    await created(api, definition("gizmos", "Gizmo", "v1"))
    inside = "/apis/t.io/v1/namespaces/a/gizmos"
    await until(api, inside, lambda status, _: status == 200)
    for name, finalizers in (("free", []), ("held", ["t.io/hold"])):
        obj = {"apiVersion": "t.io/v1", "kind": "Gizmo", "metadata": {"name": name, "finalizers": finalizers}}
        made = await api.create(inside, obj)
        assert made.status_code == 201, made.text
    await api.delete(f"{DEFINITIONS}/gizmos.t.io")
    await until(api, f"{inside}/free", lambda status, _: status == 404)
    waiting = (await api.get(f"{DEFINITIONS}/gizmos.t.io")).json()
    assert waiting["metadata"]["deletionTimestamp"]
    assert condition(waiting, "Terminating")[0] == "True"
    await api.merge(f"{inside}/held", {"metadata": {"finalizers": None}})
    await until(api, f"{DEFINITIONS}/gizmos.t.io", lambda status, _: status == 404)


async def test_a_definition_must_stay_whole(api: Api) -> None:
    await created(api, definition("gizmos", "Gizmo", "v1"))
    for spec, field in (
        (None, "spec.group"),
        ({"names": {"kind": "G!"}}, "spec.names.kind"),
        ({"versions": [{"served": True, "storage": True}]}, "spec.versions[0].schema.openAPIV3Schema"),
    ):
        answer = await api.merge(f"{DEFINITIONS}/gizmos.t.io", {"spec": spec})
        assert (answer.status_code, answer.json()["details"]["causes"][0]["field"]) == (422, field)


async def test_two_versions_of_a_resource_each_with_its_schema(api: Api) -> None:
    """v2 takes anything, v1 is stored: its schema decides on what comes back, and on its managers' fields."""
    made = definition("gizmos", "Gizmo", "v1", "v2")
    size = {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}
    made["spec"]["versions"][0]["schema"] = {
        "openAPIV3Schema": {"type": "object", "properties": {"spec": size}}
    }
    await created(api, made)
    first, second = (f"/apis/t.io/{version}/namespaces/a/gizmos" for version in ("v1", "v2"))
    new = {"kind": "Gizmo", "metadata": {"name": "g"}}
    dry = await api.create(second, {**new, "apiVersion": "t.io/v2", "spec": {"more": 1}}, dryRun="All")
    assert dry.json()["spec"] == {"size": 3}
    stored = await api.create(first, {**new, "apiVersion": "t.io/v1", "spec": {"size": 1}}, fieldManager="m")
    assert stored.status_code == 201, stored.text
    changed = await api.merge(f"{second}/g", {"spec": {"size": "x"}})
    assert changed.status_code == 200 and "managedFields" not in changed.json()["metadata"]
    labelled = await api.merge(f"{first}/g", {"metadata": {"labels": {"a": "b"}}})
    assert labelled.status_code == 200, "what is invalid already may stay"
    assert (await api.merge(f"{first}/g", {"spec": {"size": "y"}})).status_code == 422
