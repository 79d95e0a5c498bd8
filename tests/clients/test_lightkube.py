"""lightkube: typed models, server-side apply, chunks and generic resources."""

from __future__ import annotations

from typing import Any

import pytest
from lightkube import ApiError, Client, KubeConfig, codecs
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Namespace
from lightkube.types import PatchType

from tests.clients.conftest import Cluster

pytestmark = pytest.mark.etcd


@pytest.fixture
def lightkube(cluster: Cluster, namespace: str) -> Client:
    found = Client(KubeConfig.from_file(cluster.admin), namespace=namespace, field_manager="mine")
    found.create(Namespace(metadata=ObjectMeta(name=namespace)))
    return found


def test_apply_conflicts_and_chunks(lightkube: Client) -> None:
    def applied(name: str, text: str, **options: Any) -> ConfigMap:
        metadata = ObjectMeta(name=name, labels={"app": "web"})
        return lightkube.apply(ConfigMap(metadata=metadata, data={"x": text}), **options)

    for number in range(5):
        applied(f"c{number}", "1")
    listed = lightkube.list(ConfigMap, chunk_size=2, labels={"app": ["web", "db"]})
    assert [item.metadata.name for item in listed] == ["c0", "c1", "c2", "c3", "c4"]
    with pytest.raises(ApiError) as conflict:
        applied("c0", "2", field_manager="other")
    assert conflict.value.status.message == 'Apply failed with 1 conflict: conflict with "mine": .data.x'
    assert applied("c0", "2", field_manager="other", force=True).data == {"x": "2"}
    lightkube.deletecollection(ConfigMap)
    # A controller restores kube-root-ca.crt.
    assert [*lightkube.list(ConfigMap, labels={"app": ["web", "db"]})] == []


def test_a_deployment_is_scaled_and_waited_for(lightkube: Client) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    lightkube.apply(
        codecs.from_dict(
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
        )
    )
    assert lightkube.patch(Deployment.Scale, "d", {"spec": {"replicas": 3}}).spec.replicas == 3
    available = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    lightkube.patch(Deployment.Status, "d", available)
    assert lightkube.wait(Deployment, "d", for_conditions=["Available"]).spec.replicas == 3


def test_a_generic_resource_and_its_watch(lightkube: Client, definition: dict[str, Any]) -> None:
    lightkube.create(codecs.from_dict(definition))
    lightkube.wait(CustomResourceDefinition, definition["metadata"]["name"], for_conditions=["Established"])
    thing = create_namespaced_resource(definition["spec"]["group"], "v1", "Thing", "things")
    lightkube.create(thing(metadata={"name": "t"}, spec={"size": 1}))
    lightkube.patch(
        thing, "t", [{"op": "add", "path": "/spec/colour", "value": "red"}], patch_type=PatchType.JSON
    )
    lightkube.patch(thing.Status, "t", {"status": {"ready": True}}, patch_type=PatchType.MERGE)
    kind, found = next(iter(lightkube.watch(thing)))
    assert (kind, found.spec, found.status) == ("ADDED", {"size": 1, "colour": "red"}, {"ready": True})
