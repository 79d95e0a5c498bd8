"""Creates, updates, patches and deletions over HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest

from tests.etcd.apiserver.conftest import JSON, Api
from tests.etcd.apiserver.definitions import DEFINITIONS, define, gone

pytestmark = pytest.mark.anyio

COLLECTION = "/api/v1/namespaces/a/configmaps"
PODS = "/api/v1/namespaces/a/pods"
POD = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i:1"}]}}


async def test_names_are_generated(api: Api) -> None:
    answer = await api.create(COLLECTION, {"metadata": {"generateName": "web-"}})
    assert answer.status_code == 201
    assert answer.json()["metadata"]["name"].startswith("web-")


async def test_a_name_is_taken_once(api: Api) -> None:
    await api.config_map("one")
    answer = await api.create(COLLECTION, {"metadata": {"name": "one"}})
    assert (answer.status_code, answer.json()["reason"]) == (409, "AlreadyExists")


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/api/v1/namespaces/nowhere/configmaps", {"metadata": {"name": "x"}}, 404),
        (COLLECTION, {"metadata": {"name": "Bad_Name"}}, 422),
        (COLLECTION, {"metadata": {}}, 422),
        (COLLECTION, {"metadata": {"name": "x", "resourceVersion": "5"}}, 500),
        (COLLECTION, {"metadata": {"name": "x", "namespace": "b"}}, 400),
        (COLLECTION, {"kind": "Secret", "metadata": {"name": "x"}}, 400),
        (COLLECTION, {"metadata": {"name": "x"}, "data": {"k": 5}}, 400),
        (PODS, {"metadata": {"name": "x"}, "spec": {}}, 422),
        (COLLECTION, {"metadata": {"name": "x"}, "data": {"k": "x" * 3_200_000}}, 413),
    ],
)
async def test_what_cannot_be_created(api: Api, path: str, body: dict[str, Any], code: int) -> None:
    answer = await api.create(path, body)
    assert (answer.status_code, answer.json()["kind"]) == (code, "Status")


async def test_dry_runs_leave_nothing(api: Api) -> None:
    answer = await api.create(COLLECTION, {"metadata": {"name": "dry"}}, dryRun="All")
    assert answer.status_code == 201
    assert (await api.get(f"{COLLECTION}/dry")).status_code == 404


async def test_what_an_update_or_an_apply_creates_is_created_by_the_same_rules(api: Api) -> None:
    lease = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/new"

    async def put(namespace: str, **query: str) -> httpx.Response:
        body = json.dumps({"metadata": {"name": "new"}, "spec": {}})
        return await api.http.put(lease.format(namespace), content=body, headers=JSON, params=query)

    async def applied(namespace: str, **query: str) -> httpx.Response:
        path = f"/api/v1/namespaces/{namespace}/configmaps/new"
        body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: new\n"
        return await apply(api, path, body, fieldManager="one", **query)

    for write in (put, applied):
        assert (await write("a", dryRun="All")).status_code == 201
        nowhere = await write("nowhere")
        assert (nowhere.status_code, nowhere.json()["details"]["kind"]) == (404, "namespaces"), nowhere.text
        created = await write("a")
        assert (created.status_code, created.headers["x-ktui-route"]) == (201, "etcd")


async def test_unknown_fields_warn_or_fail(api: Api) -> None:
    body = {"metadata": {"name": "x"}, "bogus": 1}
    strict = await api.create(COLLECTION, body, fieldValidation="Strict")
    assert strict.status_code == 400
    assert 'unknown field "bogus"' in strict.json()["message"]
    warned = await api.create(COLLECTION, body)
    assert warned.status_code == 201
    assert warned.headers["warning"] == '299 - "unknown field \\"bogus\\""'


async def test_updates_are_optimistic(api: Api) -> None:
    created = await api.config_map("one")
    created["data"] = {"k": "new"}
    first = await api.http.put(f"{COLLECTION}/one", content=json.dumps(created), headers=JSON)
    assert first.status_code == 200
    assert first.json()["data"] == {"k": "new"}
    again = await api.http.put(f"{COLLECTION}/one", content=json.dumps(created), headers=JSON)
    assert (again.status_code, again.json()["reason"]) == (409, "Conflict")


async def test_writers_at_the_same_time_do_not_lose_each_other(api: Api) -> None:
    await api.config_map("one")
    await asyncio.gather(*(api.merge(f"{COLLECTION}/one", {"data": {f"k{at}": str(at)}}) for at in range(12)))
    data = (await api.get(f"{COLLECTION}/one")).json()["data"]
    assert data == {"k": "one", **{f"k{at}": str(at) for at in range(12)}}


async def test_a_patch_without_effect_keeps_the_version(api: Api) -> None:
    created = await api.config_map("one")
    answer = await api.merge(f"{COLLECTION}/one", {"data": {"k": "one"}})
    assert answer.json()["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]


async def test_a_status_is_patched_apart(api: Api) -> None:
    assert (await api.create(PODS, POD)).status_code == 201
    answer = await api.merge(f"{PODS}/p/status", {"status": {"phase": "Running"}, "spec": {"nodeName": "z"}})
    pod = answer.json()
    assert (pod["status"]["phase"], pod["spec"]["nodeName"]) == ("Running", "n")
    assert pod["metadata"]["generation"] == 1


async def test_a_bound_pod_is_given_time(api: Api) -> None:
    await api.create(PODS, POD)
    marked = (await api.delete(f"{PODS}/p")).json()
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30
    assert (await api.get(f"{PODS}/p")).status_code == 200
    gone = await api.delete(f"{PODS}/p", gracePeriodSeconds="0")
    assert gone.json()["kind"] == "Pod"
    assert (await api.get(f"{PODS}/p")).status_code == 404


async def test_a_pod_is_bound_once(api: Api) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    await api.create(PODS, pod)
    binding = {"kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}}
    assert (await api.create(f"{PODS}/p/binding", binding)).status_code == 201
    assert (await api.get(f"{PODS}/p")).json()["spec"]["nodeName"] == "n1"
    assert (await api.create(f"{PODS}/p/binding", binding)).status_code == 409


@pytest.mark.parametrize(
    ("spec", "metadata", "code", "text"),
    [
        ({"schedulingGates": [{"name": "example.com/g"}]}, {}, 409, "has non-empty .spec.schedulingGates"),
        ({}, {"uid": "99999"}, 409, "Precondition failed: UID in precondition: 99999"),
        (
            {},
            {"resourceVersion": "99999"},
            409,
            "Precondition failed: ResourceVersion in precondition: 99999",
        ),
        ({}, {"name": "q"}, 400, "name in URL does not match name in Binding object"),
        ({}, {"annotations": {"a": "b"}}, 201, ""),
    ],
)
async def test_bindings(
    api: Api, spec: dict[str, Any], metadata: dict[str, Any], code: int, text: str
) -> None:
    pod = {"metadata": {"name": "p"}, "spec": {**spec, "containers": [{"name": "c", "image": "i:1"}]}}
    assert (await api.create(PODS, pod)).status_code == 201
    binding = {"metadata": {"name": "p", **metadata}, "target": {"name": "n1"}}
    assert (await api.create(f"{PODS}/p/binding", binding, dryRun="All")).status_code == code
    assert "nodeName" not in (await api.get(f"{PODS}/p")).json()["spec"]
    answer = await api.create(f"{PODS}/p/binding", binding)
    assert answer.status_code == code and text in answer.text
    bound = (await api.get(f"{PODS}/p")).json()
    assert bound["metadata"].get("annotations") == metadata.get("annotations")
    assert ("nodeName" in bound["spec"]) == (code == 201)


async def test_a_pod_that_ends_is_not_bound(api: Api) -> None:
    pod = {
        "metadata": {"name": "p", "finalizers": ["a.b/c"]},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    assert (await api.create(PODS, pod)).status_code == 201
    assert (await api.delete(f"{PODS}/p")).status_code == 200
    binding = {"metadata": {"name": "p"}, "target": {"name": "n1"}}
    answer = await api.create(f"{PODS}/p/binding", binding)
    assert answer.status_code == 409 and "is being deleted, cannot be assigned to a host" in answer.text


async def test_a_server_that_only_reads_says_so(api: Api) -> None:
    api.facts.writable = False
    answer = await api.create(COLLECTION, {"metadata": {"name": "x"}})
    assert (answer.status_code, answer.json()["reason"]) == (403, "Forbidden")
    assert "--allow-writes" in answer.json()["message"]


async def test_custom_resources_come_and_go(api: Api, widgets: dict[str, Any]) -> None:
    path = "/apis/example.io/v1/namespaces/a/widgets"
    assert (await api.get(path)).status_code == 404
    await define(api, widgets)
    made = await api.create(path, {**WIDGET, "spec": {"color": "red", "typo": 1}, "status": {"ready": True}})
    assert made.status_code == 201, made.text
    assert made.json()["spec"] == {"color": "red", "shape": "round"}
    assert "status" not in made.json()
    assert made.headers["warning"] == '299 - "unknown field \\"spec.typo\\""'
    wrong = await api.create(path, {**WIDGET, "metadata": {"name": "w2"}, "spec": {"color": "pink"}})
    assert wrong.status_code == 422
    assert 'spec.color: Unsupported value: "pink"' in wrong.json()["message"]
    listed = (await api.get(f"{path}?limit=5")).json()
    assert listed["metadata"]["continue"] == ""
    assert listed["items"][0]["kind"] == "Widget"
    groups = (await api.get("/apis")).json()["groups"]
    assert "example.io" in [group["name"] for group in groups]
    await api.delete(f"{DEFINITIONS}/widgets.example.io")
    await gone(api, "widgets.example.io")
    assert (await api.get(f"{path}?limit=1")).status_code == 404


WIDGET = {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "w"}}


async def apply(api: Api, path: str, body: str, **query: str) -> httpx.Response:
    headers = {"Content-Type": "application/apply-patch+yaml"}
    return await api.http.patch(path, content=body, headers=headers, params=query)


async def test_server_side_apply(api: Api) -> None:
    path = "/api/v1/namespaces/a/configmaps/applied"
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n"
    created = await apply(api, path, f"{head}data:\n  a: '1'\n", fieldManager="one")
    assert created.status_code == 201, created.text
    refused = await apply(api, path, f"{head}data:\n  a: '2'\n", fieldManager="two")
    assert refused.status_code == 409
    assert refused.json()["details"]["causes"][0]["field"] == ".data.a"
    forced = await apply(api, path, f"{head}data:\n  a: '2'\n", fieldManager="two", force="true")
    assert forced.status_code == 200
    assert forced.json()["data"] == {"a": "2"}
    managers = [(e["operation"], e["manager"]) for e in forced.json()["metadata"]["managedFields"]]
    assert managers == [("Apply", "two")]
    again = await apply(api, path, f"{head}data:\n  a: '2'\n", fieldManager="two")
    assert again.json() == forced.json()
    bogus = await apply(api, path, f"{head}bogus: 1\n", fieldManager="two")
    assert bogus.status_code == 500
    assert bogus.json()["message"].endswith(": .bogus: field not declared in schema")
    assert (await apply(api, path, "a: [", fieldManager="two")).status_code == 400


NO_TYPED, NOT_CONVERTED = "create typed patch", "convert new"


@pytest.mark.parametrize(
    ("spec", "step"),
    [
        ("replicas: x", NO_TYPED),
        ("replicas: 1.5", NOT_CONVERTED),
        ("paused: 1", NO_TYPED),
        ("selector: []", NO_TYPED),
        ("template: {spec: {containers: [{name: m, resources: {limits: {cpu: 1x}}}]}}", NOT_CONVERTED),
        ("template: {spec: {containers: [{name: m, resources: {limits: {cpu: [1]}}}]}}", NO_TYPED),
    ],
)
async def test_an_apply_with_values_of_another_type_has_no_typed_object(
    api: Api, spec: str, step: str
) -> None:
    """As seen of 1.36.2: the schema has numbers, the kind has int32."""
    body = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{{spec}}}\n"
    refused = await apply(api, "/apis/apps/v1/namespaces/a/deployments/d", body, fieldManager="one")
    assert refused.status_code == 500, refused.text
    assert refused.json()["message"].startswith(f"failed to {step} object (/d; apps/v1, Kind=Deployment)")


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ({"kind": "Gadget"}, 422, 'no kind "Gadget" is registered for version "v1"'),
        ({"kind": "Secret"}, 422, "converting (v1.Secret) to (core.ConfigMap): unknown conversion"),
        ({"apiVersion": "apps/v1"}, 422, 'no kind "ConfigMap" is registered for version "apps/v1"'),
        ({"metadata": {"resourceVersion": "abc"}}, 500, 'strconv.ParseUint: parsing "abc": invalid syntax'),
    ],
)
async def test_patches_into_something_else(api: Api, patch: dict[str, Any], code: int, message: str) -> None:
    before = await api.config_map("one")
    answer = await api.merge(f"{COLLECTION}/one", patch)
    assert (answer.status_code, message in answer.json()["message"]) == (code, True), answer.text
    assert (await api.get(f"{COLLECTION}/one")).json() == before


async def test_texts_of_a_secret_are_stored_as_data(api: Api) -> None:
    path = "/api/v1/namespaces/a/secrets"
    created = await api.create(
        path, {"metadata": {"name": "s"}, "stringData": {"a": "b"}, "data": {"a": "eA==", "k": "eA=="}}
    )
    assert created.json()["data"] == {"a": "Yg==", "k": "eA=="}
    assert "stringData" not in created.json()
    assert "warning" not in created.headers
    patched = await api.merge(f"{path}/s", {"stringData": {"a": "c"}})
    assert patched.json()["data"] == {"a": "Yw==", "k": "eA=="}
    bad = await api.create(path, {"metadata": {"name": "t"}, "data": {"a": "!!"}})
    assert (bad.status_code, bad.json()["message"]) == (
        400,
        'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0',
    )


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "fieldManager=a%00",
            'fieldManager: Invalid value: "a\\x00": invalid character U+0000 (at position 1)',
        ),
        ("force=true", "force: Forbidden: may not be specified for non-apply patch"),
    ],
)
async def test_options_of_a_patch(api: Api, query: str, message: str) -> None:
    await api.config_map("one")
    answer = await api.merge(f"{COLLECTION}/one?{query}", {"data": {"k": "2"}})
    assert answer.status_code == 422
    assert answer.json()["message"] == f'PatchOptions.meta.k8s.io "" is invalid: {message}'


async def test_a_service_has_ports(api: Api) -> None:
    path = "/api/v1/namespaces/a/services"
    answer = await api.create(path, {"metadata": {"name": "s"}, "spec": {}})
    assert answer.json()["message"] == 'Service "s" is invalid: spec.ports: Required value'
    for spec in ({"clusterIP": "None"}, {"type": "ExternalName", "externalName": "x.y"}):
        name = str(spec.get("type", "headless")).lower()
        assert (await api.create(path, {"metadata": {"name": name}, "spec": spec})).status_code == 201


async def test_a_resource_version_that_is_no_number_is_nothing_to_a_create(api: Api) -> None:
    answer = await api.create(COLLECTION, {"metadata": {"name": "x", "resourceVersion": "abc"}})
    assert answer.status_code == 201


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (
            {"annotations": {"a b": "x"}},
            'metadata.annotations: Invalid value: "a b": name part must consist of',
        ),
        (
            {"annotations": {"k": "x" * 300_000}},
            "metadata.annotations: Too long: may not be more than 262144 bytes",
        ),
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]},
            'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
        ),
        (
            {"ownerReferences": [{"kind": "Pod", "name": "p", "uid": "u"}]},
            'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        ),
    ],
)
async def test_metadata_has_rules(api: Api, metadata: dict[str, Any], message: str) -> None:
    answer = await api.create(COLLECTION, {"metadata": {"name": "x", **metadata}})
    assert answer.status_code == 422
    assert answer.json()["message"].startswith(f'ConfigMap "x" is invalid: {message}')
    assert (
        await api.create(COLLECTION, {"metadata": {"name": "x", "annotations": {"A/B": ""}}})
    ).status_code == 201
