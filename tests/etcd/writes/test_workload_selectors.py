"""Selectors of workloads: generated, taken from the template, or required; labels read from the template."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.etcd.client import EtcdClient
from ktui.kube.resources import builtin
from ktui.kube.versions import behaviour_of
from ktui.wire.codec import encode_object
from ktui.writes.before_create import prepare
from tests.etcd.apiserver.conftest import JSON, Api

pytestmark = pytest.mark.anyio

JOBS = "/apis/batch/v1/namespaces/a/jobs"
CONTROLLERS = "/api/v1/namespaces/a/replicationcontrollers"
POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}


def workload(name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    always = {**POD, "restartPolicy": "Always"}
    template = {"metadata": {"labels": labels or {}}, "spec": always}
    return {"metadata": {"name": name}, "spec": {"template": template, **spec}}


async def test_a_job_selects_by_its_uid(api: Api) -> None:
    answer = await api.create(JOBS, {"metadata": {"name": "j"}, "spec": {"template": {"spec": POD}}})
    assert answer.status_code == 201, answer.text
    job = answer.json()
    uid = job["metadata"]["uid"]
    labels = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": uid,
        "job-name": "j",
    }
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert job["spec"]["template"]["metadata"]["labels"] == job["metadata"]["labels"] == labels
    assert "f:selector" not in json.dumps(job["metadata"]["managedFields"])


def test_a_job_of_an_older_version_selects_by_the_label_without_a_prefix() -> None:
    job: dict[str, Any] = {"kind": "Job", "metadata": {"name": "j", "uid": "u"}, "spec": {"template": {}}}
    prepare(job, behaviour_of("1.26").minor)
    assert job["spec"]["selector"] == {"matchLabels": {"controller-uid": "u"}}
    assert job["spec"]["template"]["metadata"]["labels"] == {"controller-uid": "u", "job-name": "j"}


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ({"manualSelector": True}, "spec.selector: Required value"),
        ({"selector": {"matchLabels": {"a": "b"}}}, "`selector` not auto-generated"),
        (
            {"template": {"metadata": {"labels": {"job-name": "other"}}, "spec": POD}},
            "spec.template.metadata.labels[job-name]: Invalid value",
        ),
    ],
)
async def test_a_job_with_another_selector_is_refused(api: Api, spec: dict[str, Any], text: str) -> None:
    answer = await api.create(JOBS, {"metadata": {"name": "j"}, "spec": {"template": {"spec": POD}, **spec}})
    assert answer.status_code == 422 and text in answer.json()["message"]


async def test_a_job_may_select_by_hand(api: Api) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
    spec = {"manualSelector": True, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    job = (await api.create(JOBS, {"metadata": {"name": "j"}, "spec": spec})).json()
    assert job["spec"]["template"]["metadata"]["labels"] == {"a": "b"}


async def test_a_controller_selects_the_pods_of_its_template(api: Api) -> None:
    controller = (await api.create(CONTROLLERS, workload("r", {"app": "web"}))).json()
    assert controller["spec"]["selector"] == controller["metadata"]["labels"] == {"app": "web"}
    assert controller["spec"]["replicas"] == 1 and controller["status"] == {"replicas": 0}
    refused = await api.create(CONTROLLERS, workload("s"))
    assert refused.status_code == 422 and "spec.selector: Required value" in refused.json()["message"]


@pytest.mark.parametrize("plural", ["replicasets", "deployments", "statefulsets", "daemonsets"])
async def test_workloads_need_a_selector(api: Api, plural: str) -> None:
    path = f"/apis/apps/v1/namespaces/a/{plural}"
    missing = await api.create(path, workload("w", {"app": "web"}))
    causes = {cause["field"] for cause in missing.json()["details"]["causes"]}
    demanded = set() if plural == "daemonsets" else {"spec.selector"}
    assert missing.status_code == 422 and causes == {"spec.template.metadata.labels", *demanded}
    empty = await api.create(path, workload("w", {"app": "web"}, selector={}))
    assert empty.status_code == 422 and "empty selector is invalid for" in empty.json()["message"]
    bad = {"matchExpressions": [{"key": "app", "operator": "In"}]}
    without = await api.create(path, workload("w", {"app": "web"}, selector=bad))
    assert "matchExpressions[0].values: Required value: must be specified when" in without.json()["message"]
    other = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}
    assert (await api.create(path, workload("w", {"app": "web"}, selector=other))).status_code == 422
    right = {"matchLabels": {"app": "web"}}
    assert (await api.create(path, workload("w", {"app": "web"}, selector=right))).status_code == 201


async def test_a_job_that_is_stored_without_labels_has_those_of_its_template(
    api: Api, client: EtcdClient
) -> None:
    jobs = builtin("batch", "jobs")
    cacher = api.services.registry.for_resource(jobs)
    for name, own in (("bare", {}), ("labelled", {"labels": {"own": "1"}}), ("plain", {})):
        labels = {} if name == "plain" else {"app": "web"}
        selector = {"manualSelector": True, "selector": {"matchLabels": labels}}
        spec = {**selector, "template": {"metadata": {"labels": labels}, "spec": POD}}
        metadata = {"name": name, "namespace": "a", "uid": f"u-{name}", **own}
        stored = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
        await client.create(f"{cacher.store.prefix}a/{name}".encode(), encode_object(stored, jobs))
    assert await cacher.ready()
    for query in ("labelSelector=app=web", "labelSelector=app=web&resourceVersion=0"):
        listed = (await api.get(f"{JOBS}?{query}")).json()["items"]
        assert [item["metadata"]["labels"] for item in listed] == [{"app": "web"}]
    read = (await api.get(f"{JOBS}/bare")).json()
    assert read["metadata"]["labels"] == {"app": "web"}
    assert (await api.get(f"{JOBS}/labelled")).json()["metadata"]["labels"] == {"own": "1"}
    assert "labels" not in (await api.get(f"{JOBS}/plain")).json()["metadata"]
    written = await api.merge(f"{JOBS}/bare", {})  # as upstream: what decoding set is stored now
    revisions = [int(obj["metadata"]["resourceVersion"]) for obj in (read, written.json())]
    assert revisions[1] > revisions[0]
    again = await api.merge(f"{JOBS}/bare", {})
    assert again.json() == written.json()


@pytest.mark.parametrize("custom", [False, True])
async def test_a_null_label_is_empty(api: Api, widgets: dict[str, Any], custom: bool) -> None:
    path = "/api/v1/namespaces/a/configmaps"
    if custom:
        path = "/apis/example.io/v1/namespaces/a/widgets"
        definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert (await api.create(definitions, widgets)).status_code == 201
        await api.catalog.until(lambda catalog: catalog.table.find("example.io", "v1", "widgets") is not None)
    body: dict[str, Any] = {"metadata": {"name": "n", "labels": {"a": None}, "annotations": {"b": None}}}
    if custom:
        body |= {"apiVersion": "example.io/v1", "kind": "Widget"}
    answer = await api.create(path, body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["metadata"]["labels"] == {"a": ""}
    assert answer.json()["metadata"]["annotations"] == {"b": ""}


async def test_an_apply_without_a_name(api: Api) -> None:
    path = "/api/v1/namespaces/a/configmaps"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "2"}}

    async def apply(name: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/apply-patch+yaml"}
        query = {"fieldManager": "m", "force": "true"}
        return await api.http.patch(f"{path}/{name}", content=json.dumps(body), headers=headers, params=query)

    await api.config_map("c")
    answer = await apply("c", body)
    assert (answer.status_code, answer.json()["data"]) == (200, {"k": "2"})
    other = await apply("c", {**body, "metadata": {"name": "d"}})
    assert other.status_code == 400 and "does not match the name on the URL" in other.text
    missing = await apply("d", body)
    assert missing.status_code == 400
    assert missing.json()["message"] == (
        "the name of the object (d based on URL) was undeterminable: name must be provided"
    )


async def test_finalize_without_finalizers_lets_a_namespace_go(api: Api) -> None:
    created = (await api.create("/api/v1/namespaces", {"metadata": {"name": "gone"}})).json()
    assert created["spec"] == {"finalizers": ["kubernetes"]}
    assert (await api.delete("/api/v1/namespaces/gone")).json()["status"] == {"phase": "Terminating"}
    namespace = (await api.get("/api/v1/namespaces/gone")).json()
    namespace["spec"] = {}
    answer = await api.http.put(
        "/api/v1/namespaces/gone/finalize", content=json.dumps(namespace), headers=JSON
    )
    assert answer.status_code == 200 and "finalizers" not in answer.json()["spec"]
    assert (await api.get("/api/v1/namespaces/gone")).status_code == 404
