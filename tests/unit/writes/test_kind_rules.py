"""What makes an object of a kind invalid: the field, and upstream's words."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.resources import BUILTIN, Resource
from ktui.writes.admission.unenforced import unenforced
from ktui.writes.validation.objects import new_errors, object_warnings, value_errors
from ktui.writes.validation.statuses.kinds import status_errors

Obj = dict[str, Any]
CONTAINER = {"name": "main", "image": "nginx"}


def kind(path: str) -> Resource:
    """`group/resource` or `resource`; the newest version."""
    group, _, name = path.rpartition("/")
    return next(r for r in BUILTIN.preferred() if (r.group, r.resource) == (group, name))


def errors(path: str, obj: Obj) -> list[str]:
    resource = kind(path)
    return [str(error) for error in value_errors(resource.id, {"kind": resource.kind, **obj})]


def pod(**container: Any) -> Obj:
    return {"spec": {"containers": [{**CONTAINER, **container}]}}


def ingress(backend: Obj) -> Obj:
    return {
        "spec": {"rules": [{"http": {"paths": [{"pathType": "Prefix", "path": "/", "backend": backend}]}}]}
    }


PATHS = "spec.rules[0].http.paths"
SERVICE = {"name": "s", "port": {"number": 80}}


@pytest.mark.parametrize(
    ("path", "obj", "found"),
    [
        ("networking.k8s.io/ingresses", {"spec": {}}, "spec: Invalid value: null: either `defaultBackend`"),
        (
            "networking.k8s.io/ingresses",
            ingress({}),
            f'{PATHS}[0].backend: Invalid value: "": resource or service backend is required',
        ),
        (
            "networking.k8s.io/ingresses",
            ingress({"service": {**SERVICE, "name": "s!"}}),
            f'{PATHS}[0].backend.service.name: Invalid value: "s!": a lowercase RFC 1123 label',
        ),
        (
            "networking.k8s.io/ingresses",
            ingress({"resource": {"name": "n", "apiGroup": "x.y"}}),
            f"{PATHS}[0].backend.resource.kind: Required value",
        ),
        (
            "networking.k8s.io/ingressclasses",
            {"spec": {"parameters": {"kind": "K", "name": "n", "apiGroup": "a.b!"}}},
            'spec.parameters.apiGroup: Invalid value: "a.b!": a lowercase RFC 1123 subdomain',
        ),
        (
            "networking.k8s.io/networkpolicies",
            {"spec": {"policyTypes": ["Egress!"]}},
            'spec.policyTypes[0]: Unsupported value: "Egress!": supported values: "Ingress", "Egress"',
        ),
        (
            "networking.k8s.io/networkpolicies",
            {"spec": {"egress": [{"ports": [{"port": "dns!"}]}]}},
            'spec.egress[0].ports[0].port: Invalid value: "dns!": must contain only alpha-numeric',
        ),
        (
            "networking.k8s.io/networkpolicies",
            {"spec": {"ingress": [{"from": [{}]}]}},
            "spec.ingress[0].from[0]: Required value: must specify a peer",
        ),
        (
            "services",
            {"spec": {"ports": [{"port": 80}], "externalTrafficPolicy": "Local"}},
            'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible',
        ),
        (
            "services",
            {"spec": {"ports": [{"name": "a", "port": 80}, {"name": "a", "port": 81}]}},
            'spec.ports[1].name: Duplicate value: "a"',
        ),
        (
            "services",
            {"spec": {"ports": [{"port": 80}], "selector": {"a": "a b"}}},
            'spec.selector: Invalid value: "a b": a valid label',
        ),
        (
            "policy/poddisruptionbudgets",
            {"spec": {"minAvailable": 1, "maxUnavailable": "20%"}},
            "minAvailable and maxUnavailable cannot be both set",
        ),
        (
            "policy/poddisruptionbudgets",
            {"spec": {"maxUnavailable": "20%!"}},
            'spec.maxUnavailable: Invalid value: "20%!": a valid percent string',
        ),
        (
            "autoscaling/horizontalpodautoscalers",
            {"spec": {"scaleTargetRef": {"kind": "K", "name": "apps/v1"}, "maxReplicas": 1}},
            "spec.scaleTargetRef.name: Invalid value: \"apps/v1\": may not contain '/'",
        ),
        (
            "autoscaling/horizontalpodautoscalers",
            {"spec": {"scaleTargetRef": {"kind": "K", "name": "n"}}},
            "spec.maxReplicas: Required value: must be set and greater than 0",
        ),
        (
            "autoscaling/horizontalpodautoscalers",
            {"spec": {"scaleTargetRef": {"kind": "K", "name": "n", "apiVersion": "/b/c"}, "maxReplicas": 1}},
            "unexpected GroupVersion string: /b/c",
        ),
        ("rbac.authorization.k8s.io/roles", {"rules": [{"resources": ["*"]}]}, "rules[0].verbs:"),
        ("nodes", {"spec": {"taints": [{"effect": "NoSchedule"}]}}, "metadata.taints[0].key: Invalid value"),
        ("node.k8s.io/runtimeclasses", {"overhead": {"podFixed": {"cpuX": "1"}}}, "limits[cpuX]: Invalid"),
        ("storage.k8s.io/storageclasses", {"provisioner": None}, "provisioner: Required value"),
        ("storage.k8s.io/storageclasses", {"provisioner": "\0"}, "provisioner: Invalid value"),
        ("persistentvolumes", {"spec": {"capacity": {"storage": "1"}}}, "spec.accessModes: Required value"),
        (
            "persistentvolumes",
            {"spec": {"accessModes": ["X"], "capacity": {"storage": "1"}}},
            'spec.accessModes: Unsupported value: "X"',
        ),
        ("batch/cronjobs", {"spec": {}}, "spec.schedule: Required value"),
        ("pods", pod(ports=[{"containerPort": -5}]), "ports[0].containerPort: Invalid value: -5: must be"),
        (
            "pods",
            pod(livenessProbe={"exec": {}, "httpGet": {}}),
            "livenessProbe.httpGet: Forbidden: may not specify more than 1 handler type",
        ),
        (
            "pods",
            {
                "spec": {
                    **pod(lifecycle={"preStop": {"sleep": {"seconds": 3}}})["spec"],
                    "terminationGracePeriodSeconds": 0,
                }
            },
            "lifecycle.preStop.sleep: Invalid value: 3: must be non-negative and less than",
        ),
        (
            "pods",
            {"spec": {**pod()["spec"], "topologySpreadConstraints": [{"topologyKey": "k", "maxSkew": 1}]}},
            'whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
        ),
        (
            "pods",
            {"spec": {**pod()["spec"], "affinity": {"podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 0, "podAffinityTerm": {"topologyKey": "k"}}]}}}},
            "weight: Invalid value: 0: must be in the range 1-100",
        ),
    ],
)  # fmt: skip
def test_the_error_of_an_object(path: str, obj: Obj, found: str) -> None:
    assert any(found in error for error in errors(path, obj)), errors(path, obj)


def test_a_gated_pod_is_created_without_a_node() -> None:
    """Those that are there are only refused another node."""
    gated = {"spec": {**pod()["spec"], "schedulingGates": [{"name": "g"}], "nodeName": "n"}}
    (error,) = new_errors(gated, kind("pods"), 36)
    found = "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"
    assert str(error) == found and not errors("pods", gated)


def test_a_missing_request_to_sign_is_null() -> None:
    words = "PEM block type must be CERTIFICATE REQUEST"
    path = "certificates.k8s.io/certificatesigningrequests"
    assert f"spec.request: Invalid value: null: {words}" in errors(path, {"spec": {}})


def test_definitions_of_several_faults() -> None:
    def found(*versions: Obj, **status: Any) -> list[str]:
        obj = {"spec": {"group": "a.b", "scope": "Cluster", "versions": [*versions]}, "status": status}
        return [
            text
            for text in errors("apiextensions.k8s.io/customresourcedefinitions", obj)
            if not text.startswith(("metadata", "spec.names"))
        ]

    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "storage": True, "schema": schema}
    one = (
        '{"Name":"v1","Served":false,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,'
        '"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}'
    )
    both = f"spec.versions: Invalid value: [{one},{one}]"
    assert found(version, version, storedVersions=["v1"]) == [
        f"{both}: must contain unique version names",
        f"{both}: must have exactly one version marked as storage version",
    ]
    assert found({"name": "v1", "storage": True}) == [
        "spec.versions[0].schema.openAPIV3Schema: Required value"
    ]
    bad = found({**version, "name": "V"})
    assert [text.partition(": ")[0] for text in bad] == ["spec.versions[0].name", "spec.version"]
    root = "spec.validation.openAPIV3Schema"
    inner = {"properties": {"a": {"properties": {"b": {"type": "string"}}, "default": {"b": 5}}}}
    assert found({**version, "schema": {"openAPIV3Schema": inner}}) == [
        f"{root}.properties[a].type: Required value: must not be empty for specified object fields",
        f"{root}.type: Required value: must not be empty at the root",
    ]


@pytest.mark.parametrize(
    ("path", "obj"),
    [
        ("networking.k8s.io/ingresses", ingress({"service": SERVICE})),
        ("networking.k8s.io/networkpolicies", {"spec": {"ingress": [{"from": [{"podSelector": {}}]}]}}),
        (
            "services",
            {"spec": {"type": "NodePort", "ports": [{"port": 1}], "externalTrafficPolicy": "Local"}},
        ),
        ("services", {"spec": {"clusterIP": "None"}}),
        ("policy/poddisruptionbudgets", {"spec": {"minAvailable": "50%"}}),
        (
            "autoscaling/horizontalpodautoscalers",
            {
                "spec": {
                    "scaleTargetRef": {"kind": "K", "name": "n", "apiVersion": "a/v1"},
                    "maxReplicas": 2,
                    "metrics": [
                        {
                            "type": "Resource",
                            "resource": {
                                "name": "cpu",
                                "target": {"type": "Utilization", "averageUtilization": 50},
                            },
                        }
                    ],
                }
            },
        ),
        (
            "rbac.authorization.k8s.io/clusterroles",
            {"rules": [{"nonResourceURLs": ["/"], "verbs": ["get"]}]},
        ),
        ("storage.k8s.io/storageclasses", {"provisioner": "kubernetes.io/no-provisioner"}),
        ("pods", pod(ports=[{"containerPort": 80}], livenessProbe={"httpGet": {"port": 80}})),
    ],
)
def test_a_usual_object_has_none(path: str, obj: Obj) -> None:
    assert errors(path, obj) == []


@pytest.mark.parametrize(
    ("resource", "obj", "found"),
    [
        (
            "daemonsets.apps",
            {"status": {"numberReady": -1}},
            "status.numberReady: Invalid value: -1: must be",
        ),
        ("statefulsets.apps", {"status": {"readyReplicas": 1}}, "cannot be greater than status.replicas"),
        (
            "jobs.batch",
            {"status": {"conditions": [{"type": "Complete", "status": "True"}]}},
            "status.completionTime: Required value: completionTime is required for Complete jobs",
        ),
        (
            "namespaces",
            {"status": {"phase": "Terminating"}},
            "\"Terminating\": may only be 'Active' if `deletionTimestamp` is empty",
        ),
    ],
)
def test_the_error_of_a_status(resource: str, obj: Obj, found: str) -> None:
    assert any(found in str(error) for error in status_errors(resource, obj, {}))


def test_a_usual_status_has_none() -> None:
    assert status_errors("deployments.apps", {"status": {"replicas": 2, "readyReplicas": 1}}, {}) == []
    assert status_errors("namespaces", {"status": {}}, {}) == []
    assert status_errors("pods", {"status": {"phase": "x"}}, {}) == []


ENDED = {"conditions": [{"type": "Complete", "status": "True"}, {"type": "Failed", "status": "True"}]}


def test_a_job_that_has_ended_is_not_checked_again() -> None:
    """Jobs that ended under an older release lack what newer ones require."""
    ended = {"status": ENDED}
    assert status_errors("jobs.batch", {"status": {**ENDED, "ready": 0}}, ended) == []
    found = [str(error) for error in status_errors("jobs.batch", ended, {"status": {}})]
    both = "status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions"
    assert both in found
    assert len(status_errors("jobs.batch", {"status": {**ENDED, "ready": -1}}, ended)) == 1


@pytest.mark.parametrize("digits", ["101", "9" * 5000], ids=["three", "many"])
def test_a_percentage_of_any_length_is_compared(digits: str) -> None:
    """Python converts at most 4,300 digits."""
    (error,) = errors("policy/poddisruptionbudgets", {"spec": {"minAvailable": f"{digits}%"}})
    assert error.endswith("must not be greater than 100%")
    assert errors("policy/poddisruptionbudgets", {"spec": {"minAvailable": f"{'0' * 5000}99%"}}) == []


def test_the_same_port_twice_is_shown_as_upstream_does() -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 80, "protocol": "TCP"}]
    (error,) = errors("services", {"spec": {"ports": ports}})
    assert error == (
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,'
        '"TargetPort":0,"NodePort":0}'
    )


def test_port_zero_of_a_backend_is_none() -> None:
    backend = {"service": {"name": "s", "port": {"number": 0}}}
    assert any(
        "port name or number is required" in error
        for error in errors("networking.k8s.io/ingresses", ingress(backend))
    )


def test_a_tls_secret_without_pem_is_warned_of() -> None:
    secret = {"type": "kubernetes.io/tls", "data": {"tls.crt": "eA==", "tls.key": "eA=="}}
    assert object_warnings("secrets", secret) == ["tls: failed to find any PEM data in certificate input"]
    assert object_warnings("secrets", {**secret, "type": "Opaque"}) == []


@pytest.mark.parametrize(
    ("path", "obj", "warned"),
    [
        ("admissionregistration.k8s.io/validatingadmissionpolicies", {}, ["this policy will not deny, "]),
        (
            "admissionregistration.k8s.io/validatingadmissionpolicybindings",
            {},
            ["the bound policy will not deny, "],
        ),
        ("admissionregistration.k8s.io/mutatingadmissionpolicies", {}, ["this policy will not change any"]),
        (
            "admissionregistration.k8s.io/mutatingadmissionpolicybindings",
            {},
            ["the bound policy will not change anything"],
        ),
        (
            "admissionregistration.k8s.io/validatingwebhookconfigurations",
            {"webhooks": [{"name": "a", "matchConditions": [{"name": "m", "expression": "true"}]}]},
            ["calls no webhooks", "the matchConditions of these webhooks count as true"],
        ),
        ("admissionregistration.k8s.io/validatingwebhookconfigurations", {}, ["calls no webhooks"]),
        ("apiextensions.k8s.io/customresourcedefinitions", {"spec": {"versions": [{"name": "v1"}]}}, []),
    ],
)
def test_holders_of_cel_are_warned_of(path: str, obj: Obj, warned: list[str]) -> None:
    found = warnings(path, obj)
    assert len(found) == len(warned)
    assert all(words in text for words, text in zip(warned, found, strict=True))


def test_cel_rules_of_a_definition_are_counted_at_any_depth() -> None:
    rule = [{"rule": "self.a < self.b"}]
    deep = {"properties": {"x": {"items": {"x-kubernetes-validations": rule}}, "y": {"type": "string"}}}
    schema = {"x-kubernetes-validations": rule * 2, "properties": {"spec": deep}, "allOf": [{"not": deep}]}
    versions = [{"schema": {"openAPIV3Schema": schema}}, {"name": "v2"}]
    assert warnings("apiextensions.k8s.io/customresourcedefinitions", {"spec": {"versions": versions}}) == [
        "ktui does not evaluate CEL: the 4 CEL rules in x-kubernetes-validations of this definition "
        "will not deny anything"
    ]


def warnings(path: str, obj: Obj) -> list[str]:
    return list(unenforced(kind(path), obj, counts_quotas=True))


@pytest.mark.parametrize("kind_of_target", ["ReplicationController", "Deployment"])
def test_only_a_replication_controller_is_scaled_in_the_core_group(kind_of_target: str) -> None:
    target = {"kind": kind_of_target, "name": "d", "apiVersion": "v1"}
    errors = value_errors(
        "horizontalpodautoscalers.autoscaling", {"spec": {"scaleTargetRef": target, "maxReplicas": 1}}
    )
    refused = [] if kind_of_target == "ReplicationController" else ["spec.scaleTargetRef.apiVersion"]
    assert [error.field for error in errors] == refused


def test_an_autoscaler_of_v1_is_validated_as_one_of_v2() -> None:
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    spec = {"scaleTargetRef": target, "maxReplicas": 2, "minReplicas": 1, "targetCPUUtilizationPercentage": 0}
    obj = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "spec": spec}
    (error,) = value_errors("horizontalpodautoscalers.autoscaling", obj)
    assert error.field == "spec.metrics[0].resource.target.averageUtilization"


CONDITION = {
    "type": "A",
    "status": "True",
    "reason": "R",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
    "message": "",
}
BUDGETS, LEVELS = "poddisruptionbudgets.policy", "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"


@pytest.mark.parametrize(
    ("resource", "status", "fields"),
    [
        (BUDGETS, {"conditions": [CONDITION]}, []),
        (BUDGETS, {"conditions": [CONDITION, CONDITION]}, ["status.conditions[1].type"]),
        (BUDGETS, {"conditions": [{**CONDITION, "reason": "x-"}]}, ["status.conditions[0].reason"]),
        (
            BUDGETS,
            {"conditions": [{"type": "A", "status": "x"}]},
            [f"status.conditions[0].{name}" for name in ("status", "lastTransitionTime", "reason")],
        ),
        (BUDGETS, {"desiredHealthy": -1, "expectedPods": 2}, ["status.desiredHealthy"]),
        ("horizontalpodautoscalers.autoscaling", {"currentReplicas": -1}, ["status.currentReplicas"]),
        (LEVELS, {"conditions": [{}]}, ["status.conditions[0].type"]),
        (
            "apiservices.apiregistration.k8s.io",
            {"conditions": [{"type": "A", "status": "x"}]},
            ["status.conditions[0].status"],
        ),
    ],
)
def test_conditions_and_numbers_of_a_status(resource: str, status: dict[str, Any], fields: list[str]) -> None:
    assert [error.field for error in status_errors(resource, {"status": status}, {})] == fields


def test_selectors_of_an_aggregated_role() -> None:
    unknown = {"matchExpressions": [{"key": "a", "operator": "10.1.2.3"}]}
    found = errors(
        "rbac.authorization.k8s.io/clusterroles",
        {"aggregationRule": {"clusterRoleSelectors": [unknown, {"matchLabels": {"a": "b"}}]}},
    )
    where = "aggregationRule.clusterRoleSelectors[0]"
    assert found == [
        f'{where}.matchExpressions[0].operator: Invalid value: "10.1.2.3": not a valid selector operator',
        f"{where}: Invalid value: null: invalid label selector.",
    ]


@pytest.mark.parametrize(("missing", "zero"), [("1", False), ("-1", False), ("0", True), ("a", True)])
def test_a_number_as_text_is_no_percentage_of_daemons_but_a_number(missing: str, zero: bool) -> None:
    labels = {"matchLabels": {"a": "b"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": missing, "maxSurge": 0}}
    found = errors(
        "apps/daemonsets", {"spec": {"selector": labels, "template": template, "updateStrategy": rolling}}
    )
    assert any("a valid percent string" in error for error in found)
    assert any("cannot be 0 when maxSurge is 0" in error for error in found) is zero
