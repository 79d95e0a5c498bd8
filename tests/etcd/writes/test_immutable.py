"""Updates that a kube-apiserver refuses for what they change, over HTTP; and those that it takes."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.etcd.apiserver.conftest import JSON, Api

pytestmark = pytest.mark.anyio

CORE = "/api/v1/namespaces/a"
APPS = "/apis/apps/v1/namespaces/a"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces/a/rolebindings"
APPLY = {"Content-Type": "application/apply-patch+yaml"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
OTHERS = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
    "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
    "previously negative)\n"
)
POD_SPEC: dict[str, Any] = {
    "containers": [
        {
            "name": "c",
            "image": "i:1",
            "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            "resources": {"limits": {"cpu": "1000m"}},
            "ports": [{"containerPort": 80}],
            "livenessProbe": {"httpGet": {"port": 80}},
        }
    ],
    "serviceAccountName": "builder",
    "volumes": [
        {"name": "h", "hostPath": {"path": "/h"}},
        {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
        {"name": "e", "emptyDir": {}},
    ],
}
LABELS = {"app": "x"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD_SPEC}
STATEFUL_SET: dict[str, Any] = {
    "selector": {"matchLabels": LABELS},
    "serviceName": "x",
    "template": TEMPLATE,
    "volumeClaimTemplates": [
        {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
    ],
}
MANIFESTS = {
    f"{CORE}/pods": {"spec": POD_SPEC},
    f"{CORE}/services": {"spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30001}]}},
    f"{CORE}/secrets": {"stringData": {"a": "b"}, "immutable": True},
    f"{CORE}/persistentvolumeclaims": {"spec": STATEFUL_SET["volumeClaimTemplates"][0]["spec"]},
    f"{APPS}/deployments": {"spec": {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}},
    f"{APPS}/statefulsets": {"spec": STATEFUL_SET},
    "/apis/batch/v1/namespaces/a/jobs": {
        "spec": {"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}}
    },
    RBAC: {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]},
    "/apis/storage.k8s.io/v1/storageclasses": {"provisioner": "p.example"},
    "/apis/scheduling.k8s.io/v1/priorityclasses": {"value": 5},
    "/api/v1/persistentvolumes": {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/v"},
        }
    },
}


async def make(api: Api, collection: str, members: dict[str, Any]) -> dict[str, Any]:
    answer = await api.create(collection, {"metadata": {"name": "x"}, **members})
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    return created


async def put(api: Api, path: str, body: dict[str, Any]) -> httpx.Response:
    return await api.http.put(path, content=json.dumps(body), headers=JSON)


def causes(answer: httpx.Response) -> list[tuple[str, str, str]]:
    """Field, reason and message of each; the answer is a Status of 422."""
    body = answer.json()
    assert (answer.status_code, body["reason"], body["status"]) == (422, "Invalid", "Failure"), body
    return [(c["field"], c["reason"], c["message"]) for c in body["details"]["causes"]]


JOBS = "/apis/batch/v1/namespaces/a/jobs"


@pytest.mark.parametrize("collection", [path for path in MANIFESTS if path != JOBS])
async def test_what_was_sent_once_can_be_sent_again(api: Api, collection: str) -> None:
    """Defaults, and what was given at the creation, are no changes; nothing is written."""
    created = await make(api, collection, MANIFESTS[collection])
    again = await put(api, f"{collection}/x", {"metadata": {"name": "x"}, **MANIFESTS[collection]})
    assert again.status_code == 200, again.text
    members = [name for name in created if name != "metadata"]
    assert {name: again.json()[name] for name in members} == {name: created[name] for name in members}


async def test_a_job_that_is_replaced_needs_its_generated_selector(api: Api) -> None:
    await make(api, JOBS, MANIFESTS[JOBS])
    answer = await put(api, f"{JOBS}/x", {"metadata": {"name": "x"}, **MANIFESTS[JOBS]})
    fields = [field for field, _, _ in causes(answer)]
    spec = ["spec.selector", "spec.template.metadata.labels"]  # validated as that of a new job, and again
    assert fields == [*spec, *spec, "spec.selector", "spec.template"]


async def test_a_pods_status_answer_is_whole(api: Api) -> None:
    await make(api, f"{CORE}/pods", {"spec": {**POD_SPEC, "nodeName": "n"}})
    answer = await api.merge(f"{CORE}/pods/x", {"spec": {"nodeName": "m"}})
    message = answer.json()["details"]["causes"][0]["message"]
    assert message.startswith(f"{OTHERS}@@") and '\n- "NodeName": "n",\n+ "NodeName": "m",\n' in message
    assert (answer.status_code, answer.json()) == (
        422,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f'Pod "x" is invalid: spec: {message}',
            "reason": "Invalid",
            "details": {
                "name": "x",
                "kind": "Pod",
                "causes": [{"reason": "FieldValueForbidden", "message": message, "field": "spec"}],
            },
            "code": 422,
        },
    )


async def test_pods_are_refused_in_every_way_of_writing(api: Api) -> None:
    pod = await make(api, f"{CORE}/pods", {"spec": POD_SPEC})
    path = f"{CORE}/pods/x"
    pod["spec"]["hostname"] = "h"
    (wanted,) = causes(await put(api, path, pod))
    assert wanted[:2] == ("spec", "FieldValueForbidden") and wanted[2].startswith(OTHERS)
    assert '\n- "Hostname": "",\n+ "Hostname": "h",\n' in wanted[2]
    operation = [{"op": "add", "path": "/spec/hostname", "value": "h"}]
    json_patch = await api.http.patch(path, content=json.dumps(operation), headers=JSON_PATCH)
    assert causes(json_patch) == [wanted]
    config = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"hostname": "h"}}
    applied = await api.http.patch(
        path, content=json.dumps(config), headers=APPLY, params={"fieldManager": "m"}
    )
    assert causes(applied) == [wanted]
    dry = await api.http.patch(
        path, content=json.dumps(operation), headers=JSON_PATCH, params={"dryRun": "All"}
    )
    assert causes(dry) == [wanted]


async def test_what_moves_a_pod_along_is_no_update_of_its_spec(api: Api) -> None:
    """Binding, status, an image, a deadline, a toleration: the pod goes on as before."""
    await make(api, f"{CORE}/pods", {"spec": POD_SPEC})
    path = f"{CORE}/pods/x"
    bound = await api.create(
        f"{path}/binding",
        {"metadata": {"name": path.rpartition("/")[2]}, "target": {"kind": "Node", "name": "n"}},
    )
    assert bound.status_code == 201, bound.text
    assert (await api.merge(f"{path}/status", {"status": {"phase": "Running"}})).status_code == 200
    answer = await api.merge(path, {"spec": {"activeDeadlineSeconds": 9}, "metadata": {"labels": LABELS}})
    assert answer.status_code == 200, answer.text
    pod = answer.json()
    pod["spec"]["containers"][0]["image"] = "i:2"
    pod["spec"]["tolerations"].append({"key": "k", "operator": "Exists"})
    answer = await put(api, path, pod)
    assert answer.status_code == 200, answer.text
    kept = answer.json()
    assert (kept["spec"]["nodeName"], kept["status"]["phase"]) == ("n", "Running")
    del kept["spec"]["tolerations"]
    error = "Forbidden: existing toleration can not be modified except its tolerationSeconds"
    assert causes(await put(api, path, kept)) == [("spec.tolerations", "FieldValueForbidden", error)]


async def test_selectors_and_roles_stay(api: Api) -> None:
    await make(api, f"{APPS}/deployments", MANIFESTS[f"{APPS}/deployments"])
    patch = {"spec": {"selector": {"matchLabels": {"b": "c"}}}}
    assert causes(await api.merge(f"{APPS}/deployments/x", patch)) == [
        (
            "spec.template.metadata.labels",
            "FieldValueInvalid",
            'Invalid value: {"app":"x"}: `selector` does not match template `labels`',
        ),
        (
            "spec.selector",
            "FieldValueInvalid",
            'Invalid value: {"matchLabels":{"app":"x","b":"c"}}: field is immutable',
        ),
    ]
    await make(api, RBAC, MANIFESTS[RBAC])
    answer = await api.merge(f"{RBAC}/x", {"roleRef": {"name": "s"}})
    shown = '{"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"s"}'
    message = f"Invalid value: {shown}: cannot change roleRef"
    assert causes(answer) == [("roleRef", "FieldValueInvalid", message)]
    assert answer.json()["message"] == (
        f'RoleBinding.rbac.authorization.k8s.io "x" is invalid: roleRef: {message}'
    )


async def test_a_services_address_stays_and_its_ports_go_with_its_type(api: Api) -> None:
    addresses = {"clusterIP": "10.32.0.9", "clusterIPs": ["10.32.0.9"]}
    await make(api, f"{CORE}/services", {"spec": addresses | MANIFESTS[f"{CORE}/services"]["spec"]})
    path = f"{CORE}/services/x"
    error = 'Invalid value: ["10.32.0.8"]: may not change once set'
    refused = await api.merge(path, {"spec": {"clusterIP": "10.32.0.8"}})
    assert causes(refused) == [("spec.clusterIPs[0]", "FieldValueInvalid", error)]
    changed = (await api.merge(path, {"spec": {"type": "ClusterIP"}})).json()["spec"]
    assert (changed["clusterIP"], changed["ports"][0].get("nodePort")) == ("10.32.0.9", None)
    assert "externalTrafficPolicy" not in changed


async def test_what_a_services_client_leaves_out_is_kept_and_no_longer_its_own(api: Api) -> None:
    service = {"spec": {"ports": [{"port": 80}], "clusterIP": "None"}}
    created = await make(api, f"{CORE}/services", service)
    assert "f:clusterIP" in created["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    sent = {"metadata": {"name": "x"}, "spec": {"ports": [{"port": 81}]}}
    changed = (await put(api, f"{CORE}/services/x", sent)).json()
    assert changed["spec"]["clusterIP"] == "None"
    (entry,) = changed["metadata"]["managedFields"]
    assert "f:ports" in entry["fieldsV1"]["f:spec"] and "f:clusterIP" not in entry["fieldsV1"]["f:spec"]


async def test_replicas_that_were_scaled_to_0_have_no_owner(api: Api) -> None:
    created = await make(api, f"{APPS}/deployments", MANIFESTS[f"{APPS}/deployments"])

    def owners(obj: dict[str, Any]) -> list[str]:
        entries = obj["metadata"]["managedFields"]
        return [e.get("subresource", "") for e in entries if "f:replicas" in e["fieldsV1"].get("f:spec", {})]

    assert owners(created) == [""]
    for replicas, expected in ((3, ["scale"]), (0, []), (5, [])):
        scaled = await api.merge(f"{APPS}/deployments/x/scale", {"spec": {"replicas": replicas}})
        assert scaled.status_code == 200, scaled.text
        found = (await api.http.get(f"{APPS}/deployments/x")).json()
        assert (found["spec"]["replicas"], owners(found)) == (replicas, expected)


async def test_a_claim_with_a_source_can_be_sent_again(api: Api) -> None:
    source = {"apiGroup": None, "kind": "PersistentVolumeClaim", "name": "y"}
    claim = {"spec": {**MANIFESTS[f"{CORE}/persistentvolumeclaims"]["spec"], "dataSource": source}}
    await make(api, f"{CORE}/persistentvolumeclaims", claim)
    again = await put(api, f"{CORE}/persistentvolumeclaims/x", {"metadata": {"name": "x"}, **claim})
    assert (again.status_code, again.json()["spec"]["dataSourceRef"]) == (200, source), again.text


async def test_patches_that_leave_no_object_of_the_kind(api: Api) -> None:
    """A strategic merge patch is shown itself, with the words of another decoder; else the patched object."""
    await make(api, f"{CORE}/secrets", {})
    path = f"{CORE}/secrets/x"
    operation = [{"op": "replace", "path": "/kind", "value": []}]
    answer = await api.http.patch(path, content=json.dumps(operation), headers=JSON_PATCH)
    why = "json: cannot unmarshal array into Go struct field .kind of type string"
    assert causes(answer)[0][2].endswith(f"couldn't get version/kind; json parse error: {why}")
    strategic = {"Content-Type": "application/strategic-merge-patch+json"}
    sent = {"data": [1], "metadata": {"labels": {"$patch": "replace", "a": "b"}}}
    answer = await api.http.patch(path, content=json.dumps(sent), headers=strategic)
    shown = "map[data:[1] metadata:map[labels:map[a:b]]]"
    message = f'Invalid value: "{shown}": cannot restore map from slice'
    assert causes(answer) == [("patch", "FieldValueInvalid", message)]


async def test_a_namespaces_finalizers_change_through_their_subresource(api: Api) -> None:
    namespace = (await api.get("/api/v1/namespaces/a")).json()
    namespace["spec"]["finalizers"] = ["a.example/b"]
    kept = (await put(api, "/api/v1/namespaces/a", namespace)).json()
    assert kept["spec"] == {"finalizers": ["kubernetes"]}
    # As upstream, managedFields note what was sent.
    assert "f:finalizers" in kept["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    namespace["metadata"]["resourceVersion"] = kept["metadata"]["resourceVersion"]
    answer = await put(api, "/api/v1/namespaces/a/finalize", namespace)
    assert answer.json()["spec"] == {"finalizers": ["a.example/b"]}


async def test_the_time_of_a_volumes_phase(api: Api) -> None:
    """The server's, unless the client sends another one."""
    source = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"}}
    path = "/api/v1/persistentvolumes"
    volume = (await api.create(path, {"metadata": {"name": "v"}, "spec": source})).json()
    first = volume["status"]["lastPhaseTransitionTime"]

    async def status(**members: str) -> dict[str, Any]:
        answer = await put(api, f"{path}/v/status", {**volume, "metadata": {"name": "v"}, "status": members})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    assert (await status(phase="Pending"))["status"]["lastPhaseTransitionTime"] == first
    bound = await status(phase="Bound")
    assert bound["status"]["lastPhaseTransitionTime"] >= first
    (entry,) = [e for e in bound["metadata"]["managedFields"] if e.get("subresource") == "status"]
    assert entry["fieldsV1"] == {"f:status": {"f:phase": {}}}
    sent = await status(phase="Released", lastPhaseTransitionTime="2020-01-01T00:00:00Z")
    assert sent["status"]["lastPhaseTransitionTime"] == "2020-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({"podIP": "1.2.3.4"}, ("1.2.3.4", [{"ip": "1.2.3.4"}])),
        ({"podIPs": [{"ip": "1.2.3.4"}, {"ip": "::1"}]}, ("1.2.3.4", [{"ip": "1.2.3.4"}, {"ip": "::1"}])),
        ({"podIP": "1.2.3.5", "podIPs": [{"ip": "1.2.3.4"}]}, ("1.2.3.5", [{"ip": "1.2.3.5"}])),
    ],
)
async def test_a_pods_address_is_in_both_members(
    api: Api, sent: dict[str, Any], stored: tuple[str, list[Any]]
) -> None:
    pod = await make(api, f"{CORE}/pods", {"spec": POD_SPEC})
    answer = await put(api, f"{CORE}/pods/x/status", {**pod, "status": {**pod["status"], **sent}})
    assert answer.status_code == 200, answer.text
    status = answer.json()["status"]
    assert (status["podIP"], status["podIPs"]) == stored


async def test_a_nodes_pod_network_is_in_both_members(api: Api) -> None:
    for name, spec in (("a", {"podCIDR": "10.9.0.0/24"}), ("b", {"podCIDRs": ["10.9.0.0/24"]})):
        answer = await api.create("/api/v1/nodes", {"metadata": {"name": name}, "spec": spec})
        assert answer.status_code == 201, answer.text
        found = answer.json()["spec"]
        assert (found["podCIDR"], found["podCIDRs"]) == ("10.9.0.0/24", ["10.9.0.0/24"])


async def test_a_service_of_type_external_name_has_no_internal_traffic_policy(api: Api) -> None:
    named = {"type": "ExternalName", "externalName": "a.example"}
    created = await make(api, f"{CORE}/services", {"spec": {**named, "internalTrafficPolicy": "Cluster"}})
    assert "internalTrafficPolicy" not in created["spec"]
    await api.create(f"{CORE}/services", {"metadata": {"name": "y"}, "spec": {"ports": [{"port": 80}]}})
    changed = await api.merge(f"{CORE}/services/y", {"spec": named})
    assert changed.status_code == 200 and "internalTrafficPolicy" not in changed.json()["spec"]


_PORTS = [{"name": "a", "port": 80, "nodePort": 31555}, {"name": "b", "port": 81, "nodePort": 31555}]


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"clusterIP": "fd00::1"},
            "spec.clusterIPs[0]",
            'Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
        ),
        (
            {"clusterIP": "10.1.2.3", "sessionAffinity": "No"},
            "spec.clusterIPs",
            'Invalid value: ["10.1.2.3"]: failed to allocate IP 10.1.2.3: the provided IP (10.1.2.3) is not '
            "in the valid range. The range of valid IPs is 10.32.0.0/16",
        ),
        (
            {"type": "NodePort", "ports": _PORTS, "sessionAffinity": "No"},
            "spec.ports[1].nodePort",
            "Invalid value: 31555: provided port is already allocated",
        ),
    ],
)
async def test_a_new_service_is_allocated_before_it_is_validated(
    api: Api, spec: dict[str, Any], field: str, message: str
) -> None:
    new = {"metadata": {"name": "z"}, "spec": {"ports": [{"port": 80}], **spec}}
    for options in ({}, {"dryRun": "All"}):
        refused = await api.create(f"{CORE}/services", new, **options)
        assert causes(refused) == [(field, "FieldValueInvalid", message)]


async def test_ports_of_one_number_may_share_a_node_port(api: Api) -> None:
    ports = [_PORTS[0], {**_PORTS[0], "name": "b", "protocol": "UDP"}]
    created = await make(api, f"{CORE}/services", {"spec": {"type": "NodePort", "ports": ports}})
    assert [port["nodePort"] for port in created["spec"]["ports"]] == [31555, 31555]
