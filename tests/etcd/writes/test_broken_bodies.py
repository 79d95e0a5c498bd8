"""Bodies whose members have wrong types: refused in Go's words, whatever they are sent to, never a 500."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.etcd.apiserver.conftest import MERGE, Api

pytestmark = pytest.mark.anyio

NODES, PODS = "/api/v1/nodes", "/api/v1/namespaces/a/pods"
SETS = "/apis/apps/v1/namespaces/a/replicasets"
STRING = "json: cannot unmarshal string into Go struct field"
STRATEGIC = "application/strategic-merge-patch+json"
POD: dict[str, Any] = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
SET: dict[str, Any] = {
    "metadata": {"name": "s"},
    "spec": {
        "selector": {"matchLabels": {"app": "s"}},
        "template": {"metadata": {"labels": {"app": "s"}}, "spec": POD["spec"]},
    },
}


@pytest.fixture(scope="module")
def api(shared_api: Api) -> Api:
    return shared_api


@pytest.fixture(scope="module", autouse=True)
async def a_pod_and_a_set(api: Api) -> None:
    assert (await api.create(PODS, POD)).status_code == 201
    assert (await api.create(SETS, SET)).status_code == 201


async def patch(api: Api, path: str, body: Any, content_type: str) -> httpx.Response:
    return await api.http.patch(path, content=json.dumps(body), headers={"Content-Type": content_type})


@pytest.mark.parametrize(
    ("spec", "misfit"),
    [
        (
            {"containers": "c"},
            f"{STRING} PodSpec.spec.containers of type []v1.Container",
        ),
        (
            {"containers": [{"env": ["x"]}]},
            f"{STRING} Container.spec.containers.env of type v1.EnvVar",
        ),
        (
            {"containers": [{"resources": {"limits": {"cpu": "lots"}}}]},
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
async def test_a_new_pod(api: Api, spec: dict[str, Any], misfit: str) -> None:
    answer = await api.create(PODS, {"metadata": {"name": "q"}, "spec": spec})
    assert answer.status_code == 400
    assert answer.json()["message"] == f'Pod in version "v1" cannot be handled as a Pod: {misfit}'


@pytest.mark.parametrize("wrong", [5, "x", True, [1], {"name": 5}])
@pytest.mark.parametrize(
    ("path", "member", "kind"),
    [
        (f"{PODS}/p/binding", "target", "Binding"),
        (f"{PODS}/p/eviction", "deleteOptions", "Eviction"),
    ],
)
async def test_what_is_done_to_a_pod(api: Api, path: str, member: str, kind: str, wrong: Any) -> None:
    if member == "deleteOptions" and wrong == {"name": 5}:
        wrong = {"gracePeriodSeconds": "soon"}
    answer = await api.create(path, {member: wrong})
    assert answer.status_code == 400
    assert f"cannot be handled as a {kind}: json: cannot unmarshal " in answer.json()["message"]


@pytest.mark.parametrize("body", [{"spec": 5}, {"spec": {"replicas": "x"}}, {"metadata": [1]}])
async def test_a_scale(api: Api, body: dict[str, Any]) -> None:
    put = await api.http.put(f"{SETS}/s/scale", content=json.dumps({"kind": "Scale", **body}))
    assert put.status_code == 400
    assert 'Scale in version "v1" cannot be handled as a Scale: json: ' in put.json()["message"]
    patched = await patch(api, f"{SETS}/s/scale", body, MERGE["Content-Type"])
    assert patched.status_code == 422
    assert "json: cannot unmarshal " in patched.json()["message"]


@pytest.mark.parametrize(
    ("metadata", "strategic"),
    [
        (5, "cannot restore struct from: int64"),
        ("x", "cannot restore struct from: string"),
        ([1], "cannot restore struct from: slice"),
        ({"labels": 5}, "cannot restore map from int64"),
        ({"resourceVersion": 5}, "cannot convert int64 to string"),
    ],
)
async def test_metadata_of_a_patch(api: Api, metadata: Any, strategic: str) -> None:
    for content_type, says in ((MERGE["Content-Type"], "json: cannot unmarshal "), (STRATEGIC, strategic)):
        answer = await patch(api, f"{PODS}/p", {"metadata": metadata}, content_type)
        assert answer.status_code == 422, answer.text
        assert says in answer.json()["message"]


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ({"spec": {"nodeName": ["n"]}}, 422, "unrecognized type: string"),
        ({"metadata": {"$retainKeys": 5}}, 400, "invalid patch format of retainKeys"),
        (
            {"spec": {"$setElementOrder/containers": 5}},
            500,
            "expected a []interface {}, but received a int64",
        ),
        ({"spec": {"$setElementOrder": []}}, 400, "invalid patch format of setElementOrder list"),
        ({"metadata": {"$deleteFromPrimitiveList": []}}, 400, "invalid patch format of primitive list"),
        # No list of the pod, so nothing is done.
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": 5}}, 200, ""),
    ],
)
async def test_a_strategic_patch(api: Api, body: Any, code: int, says: str) -> None:
    answer = await patch(api, f"{PODS}/p", body, STRATEGIC)
    assert (answer.status_code, says in answer.json().get("message", "")) == (code, True), answer.text


async def test_null_is_nothing_said(api: Api) -> None:
    spec = {"containers": [{"name": "c", "image": "i", "env": None}], "restartPolicy": None, "volumes": None}
    created = await api.create(PODS, {"metadata": {"name": "q", "labels": None}, "spec": spec})
    assert created.status_code == 201
    assert created.json()["spec"]["restartPolicy"] == "Always"


async def test_a_dry_run_of_what_lets_an_object_go(api: Api) -> None:
    path = "/api/v1/namespaces/a/configmaps"
    await api.create(path, {"metadata": {"name": "held", "finalizers": ["example.io/hold"]}})
    await api.delete(f"{path}/held")
    answer = await api.merge(f"{path}/held?dryRun=All", {"metadata": {"finalizers": None}})
    assert answer.status_code == 200
    assert (await api.get(f"{path}/held")).json()["metadata"]["finalizers"] == ["example.io/hold"]
