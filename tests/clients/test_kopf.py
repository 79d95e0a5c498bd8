"""A kopf operator, as a ServiceAccount with a role of its own: handlers, finalizer, annotations, events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Cluster, establish
from tests.lazily import Lazily

client, config = Lazily("kubernetes.client"), Lazily("kubernetes.config")
watch = Lazily("kubernetes.watch")

pytestmark = pytest.mark.etcd
FINALIZER, LAST = "kopf.zalando.org/KopfFinalizerMarker", "kopf.zalando.org/last-handled-configuration"
Obj = dict[str, Any]


def operators_token(admin: client.ApiClient, namespace: str, group: str) -> str:
    """Of ServiceAccount `operator`, which may do what kopf's documentation asks for."""
    core, rbac = client.CoreV1Api(admin), client.RbacAuthorizationV1Api(admin)
    core.create_namespace({"metadata": {"name": namespace}})
    core.create_namespaced_service_account(namespace, {"metadata": {"name": "operator"}})
    rules = [
        {"apiGroups": [group], "resources": ["things"], "verbs": ["list", "watch", "patch"]},
        {"apiGroups": [group], "resources": ["things/status"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list", "watch"]},
        {
            "apiGroups": ["apiextensions.k8s.io"],
            "resources": ["customresourcedefinitions"],
            "verbs": ["list", "watch"],
        },
    ]
    rbac.create_cluster_role({"metadata": {"name": namespace}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": namespace}
    subject = {"kind": "ServiceAccount", "name": "operator", "namespace": namespace}
    binding = {"metadata": {"name": namespace}, "roleRef": role, "subjects": [subject]}
    rbac.create_cluster_role_binding(binding)
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))
    return core.create_namespaced_service_account_token("operator", namespace, request).status.token


def test_an_operator_handles_create_update_and_delete(
    cluster: Cluster, namespace: str, definition: Obj, tmp_path: Path
) -> None:
    admin = config.new_client_from_config(cluster.admin)
    group = definition["spec"]["group"]
    establish(admin, definition)
    kubeconfig = cluster.kubeconfig("operator", operators_token(admin, namespace, group))
    custom, place = client.CustomObjectsApi(admin), (group, "v1", namespace, "things")
    thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 1}}

    def until(holds: Callable[[str, Obj], bool], source: Any, *where: str) -> Obj:
        """The first object that a watch shows as wanted."""
        stream = watch.Watch()
        for event in stream.stream(source, *where, timeout_seconds=60):
            if holds(event["type"], event["raw_object"]):
                stream.stop()
                return event["raw_object"]
        raise AssertionError((tmp_path / "kopf.log").read_text())

    listing = custom.list_namespaced_custom_object
    words = (
        "-m",
        "kopf",
        "run",
        "-n",
        namespace,
        "--standalone",
        Path(__file__).with_name("operator_of_things.py"),
    )
    env = {**os.environ, "KUBECONFIG": kubeconfig, "HOME": str(tmp_path), "GROUP": group}
    with (tmp_path / "kopf.log").open("w") as log:
        operator = subprocess.Popen([sys.executable, *words], env=env, stdout=log, stderr=log)
    try:
        custom.create_namespaced_custom_object(*place, thing)
        made = until(lambda _, found: "created" in found.get("status", {}), listing, *place)
        assert made["status"]["created"] == {"size": 1}
        assert made["metadata"]["finalizers"] == [FINALIZER]
        assert json.loads(made["metadata"]["annotations"][LAST])["spec"] == {"size": 1}

        custom.patch_namespaced_custom_object(*place, "t", {"spec": {"size": 2}})
        changed = until(lambda _, found: "updated" in found.get("status", {}), listing, *place)
        assert changed["status"] == {"created": {"size": 1}, "updated": {"size": 2}}

        since = changed["metadata"]["resourceVersion"]
        assert since > made["metadata"]["resourceVersion"]
        custom.delete_namespaced_custom_object(*place, "t")
        events = client.CoreV1Api(admin).list_namespaced_event
        said = until(lambda _, found: found["reason"] == "Gone", events, namespace)
        assert (said["message"], said["involvedObject"]["name"]) == ("bye", "t")
        assert said["type"] == "Normal" and said["involvedObject"]["uid"] == made["metadata"]["uid"]
    finally:
        operator.terminate()
        operator.wait(60)
    assert custom.list_namespaced_custom_object(*place)["items"] == []
