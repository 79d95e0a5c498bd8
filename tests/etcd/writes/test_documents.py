"""Documents that are not stored (Bindings, Evictions, reviews), as a kube-apiserver 1.36 reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.etcd.apiserver.conftest import JSON, Api

pytestmark = pytest.mark.anyio

PODS = "/api/v1/namespaces/a/pods"
BINDING, EVICTION = f"{PODS}/p/binding", f"{PODS}/p/eviction"
BINDINGS = "/api/v1/namespaces/a/bindings"
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
NO_NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"
OF_POD = "converting (v1.Pod) to ({}.{}): unknown conversion"

# (path, body, query, code, message)
REFUSED: list[tuple[str, str, str, int, str]] = [
    (BINDING, "", "", 400, "the object provided is unrecognized (must be of type Binding): couldn't get "
     "version/kind; json parse error: unexpected end of JSON input (<empty>)"),
    (EVICTION, "{", "", 400, "the object provided is unrecognized (must be of type Eviction): couldn't get "
     "version/kind; json parse error: unexpected end of JSON input ({)"),
    (BINDING, '{"apiVersion":"v1","kind":"Pod"}', "", 400,
     f"Pod in version \"v1\" cannot be handled as a Binding: {OF_POD.format('core', 'Binding')}"),
    (EVICTION, '{"apiVersion":"v1","kind":"Pod"}', "", 400,
     f"Pod in version \"v1\" cannot be handled as a Eviction: {OF_POD.format('policy', 'Eviction')}"),
    (BINDING, '{"foo":1,"foo":2,"bar":{}}', "fieldValidation=Strict", 400, 'Binding in version "v1" '
     'cannot be handled as a Binding: strict decoding error: unknown field "foo", unknown field "bar"'),
    (REVIEW, '{"spec":{"foo":1}}', "fieldValidation=Strict", 400, 'SelfSubjectAccessReview in version "v1" '
     'cannot be handled as a SelfSubjectAccessReview: strict decoding error: unknown field "spec.foo"'),
    (BINDING, '{"metadata":{"namespace":"b"}}', "", 400, NO_NAMESPACE),
    (EVICTION, '{"metadata":{"namespace":"b"}}', "", 400, NO_NAMESPACE),
    (BINDINGS, '{"target":{"name":"n"}}', "", 400, "Name parameter required."),
    (EVICTION, '{"metadata":{"name":"p"},"deleteOptions":{"dryRun":["x"]}}', "dryRun=All", 500,
     "Non-matching dry-run options in request and content: [All] and [x]"),
    (EVICTION, '{"metadata":{"name":"p"},"deleteOptions":{"ignoreStoreReadErrorWithClusterBreakingPotential":'
     'true}}', "", 422, 'Eviction.policy "p" is invalid: deleteOptions.ignoreStoreReadErrorWithCluster'
     "BreakingPotential: Invalid value: true: can not be set for pod eviction, try after removing the "
     "option"),
    (EVICTION.replace("/a/", "/none/"), '{"metadata":{"name":"p"}}', "", 404, 'namespaces "none" not found'),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "query", "code", "message"), REFUSED)
async def test_refused(api: Api, path: str, body: str, query: str, code: int, message: str) -> None:
    answer = await api.http.post(
        f"{path}?{query}", content=body, headers={"content-type": "application/json"}
    )
    assert (answer.status_code, answer.json()["message"]) == (code, message)


async def test_an_empty_yaml_document_is_an_empty_object(api: Api) -> None:
    answer = await api.http.post(BINDINGS, content="", headers={"content-type": "application/yaml"})
    assert (answer.status_code, answer.json()["message"]) == (500, "target.name: Required value")


async def a_pod(api: Api, **status: Any) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    pod = {"metadata": {"name": "p", "labels": {"a": "b"}}, "spec": spec}
    assert (await api.create(PODS, pod)).status_code == 201
    if status:
        assert (await api.merge(f"{PODS}/p/status", {"status": status})).status_code == 200


async def test_unknown_fields_warn(api: Api) -> None:
    await a_pod(api)
    answer = await api.create(EVICTION, {"metadata": {"name": "p"}, "foo": 1}, dryRun="All")
    assert answer.status_code == 201 and answer.headers["warning"] == '299 - "unknown field \\"foo\\""'


async def test_the_older_version_of_evictions_is_read_too(api: Api) -> None:
    await a_pod(api)
    old = {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": "p"}}
    assert (await api.create(EVICTION, old, dryRun="All")).status_code == 201


async def test_wrong_options_of_an_eviction_are_seen_at_the_deletion(api: Api) -> None:
    await a_pod(api)
    answer = await api.create(
        EVICTION, {"metadata": {"name": "p"}, "deleteOptions": {"propagationPolicy": "x"}}
    )
    assert answer.status_code == 422 and answer.json()["details"]["kind"] == "DeleteOptions"
    (condition,) = (await api.get(f"{PODS}/p")).json()["status"]["conditions"]
    assert condition["type"] == "DisruptionTarget"


@pytest.mark.parametrize(("kind", "zone"), [("Node", "z"), (None, "own")])
async def test_a_binding_gives_its_labels_and_those_of_a_node(api: Api, kind: str | None, zone: str) -> None:
    topology = "topology.kubernetes.io/zone"
    node = {"metadata": {"name": "n", "labels": {topology: "z"}}}
    created = await api.create("/api/v1/nodes", node)
    await api.seen(created.json(), "nodes")
    scheduled = {"type": "PodScheduled", "status": "False", "message": "m"}
    await a_pod(api, nominatedNodeName="n", conditions=[scheduled, {"type": "A", "status": "True"}])
    metadata = {"name": "p", "labels": {"c": "d", topology: "own"}, "annotations": {"e": "f"}}
    target = {"name": "n"} | ({"kind": kind} if kind else {})
    answer = await api.create(BINDING, {"metadata": metadata, "target": target})
    assert answer.status_code == 201, answer.text
    pod = (await api.get(f"{PODS}/p")).json()
    assert pod["metadata"]["labels"] == {"a": "b", "c": "d", topology: zone}
    assert pod["metadata"]["annotations"] == {"e": "f"}
    first, other = pod["status"]["conditions"]
    assert first["status"] == "True" and "message" not in first and other["type"] == "A"
    assert "nominatedNodeName" not in pod["status"]


async def test_a_node_of_a_resized_pod_has_room(api: Api) -> None:
    node = (await api.create("/api/v1/nodes", {"metadata": {"name": "n"}})).json()
    await api.seen(node, "nodes")
    await a_pod(api)
    bound = await api.create(BINDING, {"metadata": {"name": "p"}, "target": {"name": "n"}})
    assert bound.status_code == 201
    wanted = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]
    answer = await api.merge(f"{PODS}/p/resize", {"spec": {"containers": wanted}})
    assert answer.status_code == 422 and "Pod QOS Class may not change" in answer.text
    await api.delete(f"{PODS}/p", gracePeriodSeconds="0")
    pod = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": wanted}}
    assert (await api.create(PODS, pod)).status_code == 201
    wanted[0]["resources"] = {"requests": {"cpu": "2"}}
    answer = await api.merge(f"{PODS}/p/resize", {"spec": {"containers": wanted}})
    assert answer.status_code == 403 and answer.json()["details"]["causes"] == [{"reason": "NodeCapacity"}]
    status = {"status": {"allocatable": {"cpu": "4"}}}
    await api.seen((await api.merge("/api/v1/nodes/n/status", status)).json(), "nodes")
    answer = await api.merge(f"{PODS}/p/resize", {"spec": {"containers": wanted}})
    assert answer.status_code == 200 and answer.json()["metadata"]["generation"] == 2, answer.text


async def test_a_claims_status_grants_admin_access_with_a_label_only(api: Api) -> None:
    path = "/apis/resource.k8s.io/v1/namespaces/a/resourceclaims"
    requests = [{"name": "r", "exactly": {"deviceClassName": "x"}}]
    claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}}
    assert (await api.create(path, claim)).status_code == 201
    result = {"request": "r", "driver": "d", "pool": "p", "device": "e", "adminAccess": True}
    status = {"status": {"allocation": {"devices": {"results": [result]}}}}
    answer = await api.merge(f"{path}/c/status", status)
    (cause,) = answer.json()["details"]["causes"]
    assert answer.status_code == 422 and cause["field"] == "status.allocation.devices.results[0].adminAccess"


async def test_finalizers_of_a_namespace_have_a_domain(api: Api) -> None:
    namespace = (await api.get("/api/v1/namespaces/a")).json()
    namespace["spec"] = {"finalizers": ["kubernetes", "x"]}
    path, body = "/api/v1/namespaces/a/finalize", json.dumps(namespace)
    answer = await api.http.put(path, content=body, headers=JSON)
    (cause,) = answer.json()["details"]["causes"]
    assert cause["field"] == "spec.finalizers[1]" and "neither a standard finalizer name" in cause["message"]
