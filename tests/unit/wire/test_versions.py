import json
from typing import Any

import pytest

from ktui.wire import conversion
from ktui.wire.codec import codec_for
from ktui.wire.conversion import same_fields
from ktui.wire.encode import encode_message, envelope_of
from tests.unit.wire.corpus import golden


@pytest.mark.parametrize(
    ("stored", "wanted", "kind", "same"),
    [
        ("networking.k8s.io/v1", "networking.k8s.io/v1beta1", "IPAddress", True),
        (
            "admissionregistration.k8s.io/v1beta1",
            "admissionregistration.k8s.io/v1",
            "MutatingAdmissionPolicy",
            True,
        ),
        ("v1", "events.k8s.io/v1", "Event", False),
        ("autoscaling/v2", "autoscaling/v1", "HorizontalPodAutoscaler", False),
        ("v1", "nowhere/v1", "Pod", False),
    ],
)
def test_versions_with_the_same_fields(stored: str, wanted: str, kind: str, same: bool) -> None:
    assert same_fields(stored, wanted, kind) is same


def test_a_version_of_the_same_fields_only_changes_its_name() -> None:
    raw = envelope_of(
        "networking.k8s.io/v1",
        "IPAddress",
        encode_message("networking.v1.IPAddress", {"metadata": {"name": "10.0.0.1"}}),
    )
    shown = json.loads(codec_for().object_json(raw, 5, "networking.k8s.io/v1beta1"))
    assert shown["apiVersion"] == "networking.k8s.io/v1beta1"
    assert shown["metadata"] == {"name": "10.0.0.1", "resourceVersion": "5"}


def test_what_cannot_be_converted_is_served_as_it_is_stored() -> None:
    pod = next(value for value in golden() if value.served["kind"] == "Pod")
    assert json.loads(b"".join(codec_for().item_pieces(pod.raw, 1, "apps/v1")))["apiVersion"] == "v1"


def _hpa() -> dict[str, Any]:
    value = next(value for value in golden() if value.note == "hpa v2")
    shown: dict[str, Any] = json.loads(codec_for().object_json(value.raw, 4711, "autoscaling/v1"))
    return shown


def test_the_cpu_target_of_v2_is_a_field_of_v1() -> None:
    shown = _hpa()
    assert shown["apiVersion"] == "autoscaling/v1"
    assert shown["spec"] == {
        "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
        "minReplicas": 2,
        "maxReplicas": 9,
        "targetCPUUtilizationPercentage": 70,
    }
    assert shown["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    assert "annotations" not in shown["metadata"]


def test_what_v1_has_no_field_for_travels_in_annotations() -> None:
    shown = conversion.to_v1(
        {
            "metadata": {"annotations": {"mine": "x", conversion.METRICS: "stale"}},
            "spec": {
                "maxReplicas": 3,
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
                "metrics": [
                    {"type": "Pods", "pods": {"metric": {"name": "rps"}, "target": {"averageValue": "5"}}},
                    {
                        "type": "Resource",
                        "resource": {"name": "memory", "target": {"averageUtilization": 50}},
                    },
                ],
            },
            "status": {
                "conditions": [{"type": "AbleToScale", "status": "True"}],
                "currentMetrics": [
                    {
                        "type": "Resource",
                        "resource": {
                            "name": "cpu",
                            "current": {"averageUtilization": 7, "averageValue": "1"},
                        },
                    }
                ],
            },
        }
    )
    annotations = shown["metadata"]["annotations"]
    assert annotations["mine"] == "x"
    assert json.loads(annotations[conversion.METRICS]) == [
        {"type": "Pods", "pods": {"metricName": "rps", "targetAverageValue": "5"}},
        {"type": "Resource", "resource": {"name": "memory", "targetAverageUtilization": 50}},
    ]
    assert annotations[conversion.BEHAVIOR] == (
        '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":null,"Policies":null,'
        '"Tolerance":null}}'
    )
    assert json.loads(annotations[conversion.CONDITIONS]) == [{"type": "AbleToScale", "status": "True"}]
    assert shown["status"] == {"currentCPUUtilizationPercentage": 7}


def test_a_v1_autoscaler_becomes_v2() -> None:
    shown = conversion.to_v2({"spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 40}, "status": {}})
    assert shown["spec"]["metrics"] == [
        {
            "type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 40}},
        }
    ]


def test_a_v1_autoscaler_without_metrics_gets_that_of_the_cpu() -> None:
    for metadata in ({}, {"annotations": {conversion.METRICS: "[]"}}):
        shown = conversion.to_v2({"metadata": metadata, "spec": {"maxReplicas": 3}})
        assert [metric["resource"] for metric in shown["spec"]["metrics"]] == [
            {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
        ]


def _metric(kind: str, side: str, value: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"type": kind, kind[0].lower() + kind[1:]: {**members, side: value}}


RPS = {"name": "rps", "selector": {"matchLabels": {"a": "b"}}}
INGRESS = {"kind": "Ingress", "name": "main", "apiVersion": "networking.k8s.io/v1"}


def test_what_was_written_through_v1_is_whole_in_v2() -> None:
    spec = {
        "maxReplicas": 3,
        "behavior": {"scaleDown": {"policies": [{"type": "Pods", "value": 4, "periodSeconds": 60}]}},
        "metrics": [
            _metric("Pods", "target", {"type": "AverageValue", "averageValue": "5"}, metric=RPS),
            _metric("Object", "target", {"type": "Value", "value": "7"}, metric=RPS, describedObject=INGRESS),
            _metric("External", "target", {"type": "Value", "value": "9"}, metric=RPS),
            _metric("Resource", "target", {"type": "Utilization", "averageUtilization": 50}, name="memory"),
            _metric(
                "ContainerResource",
                "target",
                {"type": "AverageValue", "averageValue": "1"},
                name="cpu",
                container="c",
            ),
            _metric("Resource", "target", {"type": "Utilization", "averageUtilization": 70}, name="cpu"),
        ],
    }
    status = {
        "currentReplicas": 2,
        "conditions": [{"type": "AbleToScale", "status": "True"}],
        "currentMetrics": [
            _metric("Resource", "current", {"averageUtilization": 7, "averageValue": "1"}, name="cpu"),
            _metric("Pods", "current", {"averageValue": "3"}, metric=RPS),
        ],
    }
    written = {"metadata": {"name": "web", "annotations": {"mine": "x"}}, "spec": spec, "status": status}
    assert conversion.to_v2(conversion.to_v1(written)) == written


@pytest.mark.parametrize("text", ["", "x", "{}", "[1, null]", "[" * 100_000, "null"])
def test_unreadable_annotations_are_ignored(text: str) -> None:
    annotations = dict.fromkeys([conversion.METRICS, conversion.CURRENT, conversion.CONDITIONS], text)
    if text != "{}":
        annotations[conversion.BEHAVIOR] = text
    shown = conversion.to_v2({"metadata": {"annotations": annotations}, "spec": {}, "status": {}})
    assert len(shown["spec"]["metrics"]) == 1 and shown["status"] == {} and "behavior" not in shown["spec"]
