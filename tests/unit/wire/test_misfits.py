"""Misfits in the words of Go's JSON decoder."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.wire.misfits import go_mismatch

LINKED = {"externalDocs": {"url": 1}}
PREFIX = "json: cannot unmarshal "


@pytest.mark.parametrize(
    ("kind", "obj", "text"),
    [
        (
            "v1 ConfigMap",
            {"data": {"k": 5}},
            "number into Go struct field ConfigMap.data of type string",
        ),
        (
            "v1 ConfigMap",
            {"data": "x"},
            "string into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            "v1 ConfigMap",
            {"metadata": {"labels": 5}},
            "number into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            "v1 ConfigMap",
            {"metadata": []},
            "array into Go struct field ConfigMap.metadata of type v1.ObjectMeta",
        ),
        (
            "v1 ConfigMap",
            {"immutable": "yes"},
            "string into Go struct field ConfigMap.immutable of type bool",
        ),
        (
            "v1 Pod",
            {"spec": {"containers": {}}},
            "object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            "v1 Pod",
            {"spec": {"containers": [{"name": "a"}, {"name": True}]}},
            "bool into Go struct field Container.spec.containers.name of type string",
        ),
        (
            "apps/v1 Deployment",
            {"spec": {"replicas": 1.5}},
            "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            "v1 Service",
            {"spec": {"ports": [{"targetPort": True}]}},
            "bool into Go struct field ServicePort.spec.ports.targetPort of type int32",
        ),
        (
            "v1 Service",
            {"spec": {"ports": [{"targetPort": 1.5}]}},
            "number 1.5 into Go struct field ServicePort.spec.ports.targetPort of type int32",
        ),
        (
            "v1 ConfigMap",
            {"metadata": {"creationTimestamp": 5}},
            "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            "v1 Pod",
            {"spec": {"containers": [{"imagePullPolicy": 5}]}},
            "number into Go struct field Container.spec.containers.imagePullPolicy of type v1.PullPolicy",
        ),
        (
            "v1 Pod",
            {"spec": {"containers": [{"livenessProbe": {"grpc": "x"}}]}},
            "string into Go struct field Probe.spec.containers.livenessProbe.ProbeHandler.grpc"
            " of type v1.GRPCAction",
        ),
        (
            "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy",
            {"spec": {"matchConstraints": {"resourceRules": [{"apiGroups": "x"}]}}},
            "string into Go struct field NamedRuleWithOperations.spec.matchConstraints.resourceRules"
            ".RuleWithOperations.Rule.apiGroups of type []string",
        ),
        (
            "v1 ResourceQuota",
            {"spec": {"hard": []}},
            "array into Go struct field ResourceQuotaSpec.spec.hard of type v1.ResourceList",
        ),
        (
            "resource.k8s.io/v1 ResourceSlice",
            {"spec": {"devices": [{"capacity": 1}]}},
            "number into Go struct field Device.spec.devices.capacity"
            " of type map[v1.QualifiedName]v1.DeviceCapacity",
        ),
        (
            "storage.k8s.io/v1 CSIDriver",
            {"spec": {"volumeLifecycleModes": [1]}},
            "number into Go struct field CSIDriverSpec.spec.volumeLifecycleModes"
            " of type v1.VolumeLifecycleMode",
        ),
        (
            "certificates.k8s.io/v1 CertificateSigningRequest",
            {"spec": {"extra": {"a": "x"}}},
            "string into Go struct field CertificateSigningRequestSpec.spec.extra of type v1.ExtraValue",
        ),
        (
            "v1 Secret",
            {"data": {"a": [1, None, 256]}},
            "number 256 into Go struct field Secret.data of type uint8",
        ),
        (
            "v1 Service",
            {"spec": {"type": 5, "ports": [{"targetPort": True}]}},
            "bool into Go struct field ServicePort.spec.ports.targetPort of type int32",
        ),
        (
            "apiextensions.k8s.io/v1 CustomResourceDefinition",
            {
                "spec": {
                    "versions": [{"schema": {"openAPIV3Schema": {"items": {"externalDocs": {"url": 1}}}}}]
                }
            },
            "number into Go struct field JSONSchemaProps.spec.versions.schema.openAPIV3Schema.items"
            ".externalDocs.url of type string",
        ),
        (
            "example.io/v1 Widget",
            {"metadata": {"labels": 5}, "spec": 7},
            "number into Go struct field ObjectMeta.labels of type map[string]string",
        ),
    ],
)
def test_what_does_not_fit(kind: str, obj: dict[str, Any], text: str) -> None:
    assert go_mismatch(obj, *kind.split()) == PREFIX + text


def test_what_fits() -> None:
    pod = {"metadata": {"labels": None, "name": "a"}, "spec": {"containers": [{"ports": [{}]}]}, "x": 1}
    assert go_mismatch(pod, "v1", "Pod") == ""


QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("100m", ""),
        (2, ""),
        (1.5, ""),
        ("lots", QUANTITY),
        ("", QUANTITY),
        (True, QUANTITY),
        ({}, QUANTITY),
        ("10ki", "unable to parse quantity's suffix"),
    ],
)
def test_quantities_speak_for_themselves(value: Any, text: str) -> None:
    obj = {"spec": {"containers": [{"resources": {"limits": {"cpu": value}}}]}}
    assert go_mismatch(obj, "v1", "Pod") == text


def test_times_speak_for_themselves() -> None:
    lease = {"spec": {"renewTime": "2026-11-22T04:05:06Z"}}
    assert go_mismatch(lease, "coordination.k8s.io/v1", "Lease").endswith('cannot parse "Z" as ".000000"')
    assert go_mismatch({"metadata": {"creationTimestamp": "2026-11-22T04:05:06Z"}}, "v1", "Pod") == ""
