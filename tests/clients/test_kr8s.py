"""kr8s: objects that patch, label and wait for themselves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.conftest import Cluster
from tests.lazily import Lazily

kr8s, objects = Lazily("kr8s"), Lazily("kr8s.objects")

pytestmark = pytest.mark.etcd


@pytest.fixture
def api(cluster: Cluster, namespace: str) -> Any:
    api = kr8s.api(kubeconfig=cluster.admin, namespace=namespace)
    objects.Namespace({"metadata": {"name": namespace}}, api=api).create()
    return api


def test_an_objects_life(api: Any, namespace: str) -> None:
    assert api.whoami() == "admin"
    created = objects.ConfigMap(
        {"metadata": {"name": "a", "namespace": namespace}, "data": {"k": "v"}}, api=api
    )
    created.create()
    created.patch({"data": {"more": "x"}})
    created.label({"app": "web"})
    (listed,) = api.get("configmaps", namespace=namespace, label_selector={"app": "web"})
    assert listed.data == {"k": "v", "more": "x"}
    for kind, seen in api.watch("configmaps", namespace=namespace):
        assert (kind, seen.name) == ("ADDED", "a")
        break
    created.delete()
    with pytest.raises(kr8s.NotFoundError):
        objects.ConfigMap.get("a", namespace=namespace, api=api)


def test_a_pod_is_waited_for(api: Any, namespace: str) -> None:
    spec = {"containers": [{"name": "c", "image": "x"}]}
    pod = objects.Pod({"metadata": {"name": "p", "namespace": namespace}, "spec": spec}, api=api)
    pod.create()
    kinds = "Ready", "ContainersReady"
    ready = {"conditions": [{"type": kind, "status": "True"} for kind in kinds]}
    pod.patch({"status": ready}, subresource="status")
    pod.wait("condition=Ready", timeout=30)
    assert pod.ready()


def test_a_definition_and_its_objects(api: Any, namespace: str, definition: dict[str, Any]) -> None:
    objects.CustomResourceDefinition(definition, api=api).create()
    resource = definition["metadata"]["name"]
    for _, seen in api.watch("customresourcedefinitions", field_selector=f"metadata.name={resource}"):
        conditions = seen.raw.get("status", {}).get("conditions") or ()  # kr8s' own wait needs some
        if any((found["type"], found["status"]) == ("Established", "True") for found in conditions):
            break
    thing = {"metadata": {"name": "t", "namespace": namespace}, "spec": {"size": 1}}
    objects.new_class("Thing", version=f"{definition['spec']['group']}/v1")(thing, api=api).create()
    assert [found.spec.size for found in api.get(resource, namespace=namespace)] == [1]
