"""Pod specs of pods and of templates: what is refused, in upstream's words."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.validation.objects import value_errors

CONTAINER = {"name": "c", "image": "i"}
MOUNT = {**CONTAINER, "volumeMounts": [{"name": "data", "mountPath": "/d"}]}


def workload(kind: str, pod: dict[str, Any], **spec: Any) -> dict[str, Any]:
    spec = {"template": {"spec": {"containers": [CONTAINER], **pod}}, **spec}
    return {"kind": kind, "spec": {"jobTemplate": {"spec": spec}} if kind == "CronJob" else spec}


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"containers": [CONTAINER]}, []),
        ({}, ["spec.containers: Required value"]),
        (
            {"containers": [{}]},
            ["spec.containers[0].name: Required value", "spec.containers[0].image: Required value"],
        ),
        (
            {"containers": [CONTAINER], "initContainers": [{"name": "i"}]},
            ["spec.initContainers[0].image: Required value"],
        ),
        ({"containers": [MOUNT]}, ['spec.containers[0].volumeMounts[0].name: Not found: "data"']),
        ({"containers": [MOUNT], "volumes": [{"name": "data", "emptyDir": {}}]}, []),
        (
            {"containers": [CONTAINER], "dnsPolicy": "None"},
            ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
        ),
    ],
)
def test_pod_specs(spec: dict[str, Any], errors: list[str]) -> None:
    assert [str(error) for error in value_errors("pods", {"spec": spec})] == errors


RESOURCES = {
    "Deployment": "deployments.apps",
    "Job": "jobs.batch",
    "CronJob": "cronjobs.batch",
    "StatefulSet": "statefulsets.apps",
}


def template_errors(obj: dict[str, Any]) -> list[str]:
    """The errors of a workload in its pod template."""
    errors = value_errors(RESOURCES[obj["kind"]], obj)
    return [str(error) for error in errors if ".template.spec." in error.field]


@pytest.mark.parametrize(
    ("kind", "pod", "errors"),
    [
        ("Deployment", {"restartPolicy": "Always"}, []),
        (
            "Deployment",
            {"restartPolicy": "Never", "activeDeadlineSeconds": 5},
            [
                'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
                "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is "
                "not Supported",
            ],
        ),
        ("Job", {"restartPolicy": "Never", "activeDeadlineSeconds": 5}, []),
        (
            "CronJob",
            {"restartPolicy": "Always"},
            [
                "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "
                '"OnFailure", "Never"'
            ],
        ),
    ],
)
def test_templates(kind: str, pod: dict[str, Any], errors: list[str]) -> None:
    assert template_errors(workload(kind, pod)) == errors


def test_the_claims_of_a_stateful_set_are_volumes() -> None:
    claims = [{"metadata": {"name": "data"}}]
    own = workload("StatefulSet", {"containers": [MOUNT]}, volumeClaimTemplates=claims)
    assert template_errors(own) == []
    assert template_errors(workload("Deployment", {"containers": [MOUNT]}))
