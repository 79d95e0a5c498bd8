"""`kubernetes`, the official client: typed, custom and dynamic, as admin and as a user with a role."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.conftest import JANE, Cluster, establish
from tests.lazily import Lazily

client, config = Lazily("kubernetes.client"), Lazily("kubernetes.config")
dynamic, watch = Lazily("kubernetes.dynamic"), Lazily("kubernetes.watch")

pytestmark = pytest.mark.etcd


@pytest.fixture
def admin(cluster: Cluster, namespace: str) -> client.ApiClient:
    api = config.new_client_from_config(cluster.admin)
    client.CoreV1Api(api).create_namespace({"metadata": {"name": namespace}})
    return api


def config_map(name: str, **data: str) -> client.V1ConfigMap:
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"app": "web"}), data=data)


def test_pages_and_a_watch(admin: client.ApiClient, namespace: str) -> None:
    core = client.CoreV1Api(admin)
    for number in range(5):
        core.create_namespaced_config_map(namespace, config_map(f"c{number}", number=str(number)))
    names, token = [], None
    while token != "":
        page = core.list_namespaced_config_map(namespace, limit=2, label_selector="app=web", _continue=token)
        assert len(page.items) <= 2
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    assert names == ["c0", "c1", "c2", "c3", "c4"]

    core.patch_namespaced_config_map("c0", namespace, {"data": {"more": "x"}})
    core.delete_namespaced_config_map("c1", namespace)
    since, events, stream = page.metadata.resource_version, [], watch.Watch()
    lister = core.list_namespaced_config_map  # the namespace also has kube-root-ca.crt
    for event in stream.stream(lister, namespace, resource_version=since, label_selector="app=web"):
        events.append((event["type"], event["object"].metadata.name, event["object"].data))
        if len(events) == 2:
            stream.stop()
    patched = {"number": "0", "more": "x"}
    assert events == [("MODIFIED", "c0", patched), ("DELETED", "c1", {"number": "1"})]


def test_errors_and_subresources(admin: client.ApiClient, namespace: str) -> None:
    core, apps = client.CoreV1Api(admin), client.AppsV1Api(admin)
    with pytest.raises(client.ApiException) as absent:
        core.read_namespaced_pod("none", namespace)
    assert absent.value.status == 404 and 'pods \\"none\\" not found' in absent.value.body
    pod = {
        "metadata": {"name": "p", "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    core.create_namespaced_pod(namespace, pod)
    core.patch_namespaced_pod_status("p", namespace, {"status": {"phase": "Running"}})
    assert core.read_namespaced_pod("p", namespace).status.phase == "Running"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod["spec"]}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    apps.create_namespaced_deployment(namespace, {"metadata": {"name": "d"}, "spec": spec})
    apps.patch_namespaced_deployment_scale("d", namespace, {"spec": {"replicas": 3}})
    assert apps.read_namespaced_deployment("d", namespace).spec.replicas == 3
    core.create_namespaced_pod_eviction("p", namespace, client.V1Eviction(metadata={"name": "p"}))


def test_custom_objects_and_the_dynamic_client(
    admin: client.ApiClient, namespace: str, definition: dict[str, Any]
) -> None:
    establish(admin, definition)
    group = definition["spec"]["group"]
    custom, place = client.CustomObjectsApi(admin), (group, "v1", namespace, "things")
    thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 1}}
    custom.create_namespaced_custom_object(*place, thing)
    custom.patch_namespaced_custom_object_status(*place, "t", {"status": {"ready": True}})
    (found,) = custom.list_namespaced_custom_object(*place)["items"]
    assert (found["spec"], found["status"]) == ({"size": 1}, {"ready": True})

    things = dynamic.DynamicClient(admin).resources.get(api_version=f"{group}/v1", kind="Thing")
    applied = things.server_side_apply(
        {**thing, "spec": {"colour": "red"}}, "t", namespace, field_manager="tester"
    )
    assert applied.spec.to_dict() == {"size": 1, "colour": "red"}
    assert "tester" in [entry.manager for entry in applied.metadata.managedFields]
    things.delete("t", namespace)
    assert things.get(namespace=namespace).items == []


def test_a_user_may_do_what_its_role_allows(
    cluster: Cluster, admin: client.ApiClient, namespace: str
) -> None:
    subject = {"kind": "Group", "name": "developers", "apiGroup": "rbac.authorization.k8s.io"}
    role = {"kind": "ClusterRole", "name": "edit", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": "developers"}, "subjects": [subject], "roleRef": role}
    client.RbacAuthorizationV1Api(admin).create_namespaced_role_binding(namespace, binding)
    jane = config.new_client_from_config(cluster.kubeconfig("jane", JANE))
    review = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "pods", "namespace": namespace}}}
    # As upstream's, the authorizer follows the stored roles by a watch: it sends no signal of its own.
    while not client.AuthorizationV1Api(jane).create_self_subject_access_review(review).status.allowed:
        pass
    core = client.CoreV1Api(jane)
    core.create_namespaced_config_map(namespace, config_map("hers"))
    with pytest.raises(client.ApiException) as forbidden:
        core.list_node()
    assert forbidden.value.status == 403 and 'User \\"jane\\" cannot list resource' in forbidden.value.body
