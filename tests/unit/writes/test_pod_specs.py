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


def test_the_labels_of_a_stateful_sets_template_are_checked_twice() -> None:
    for kind, times in (("Deployment", 1), ("StatefulSet", 2)):
        obj = workload(kind, {}, selector={"matchLabels": {"a": "/x"}})
        obj["spec"]["template"]["metadata"] = {"labels": {"a": "b", "x": "/x"}}
        obj["spec"]["selector"] = {"matchLabels": {"a": "b"}}
        fields = [error.field for error in value_errors(RESOURCES[kind], obj)]
        assert fields.count("spec.template.labels") == times


def test_a_static_pod_claims_no_devices() -> None:
    metadata = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    claims = [{"name": "A", "resourceClaimName": "b"}]
    spec = {"containers": [CONTAINER], "nodeName": "n", "resourceClaims": claims}
    (error,) = value_errors("pods", {"metadata": metadata, "spec": spec})
    assert str(error) == "[]: Forbidden: static pods do not support resource claims"


@pytest.mark.parametrize(
    ("kind", "member", "strategy", "shown"),
    [
        ("Deployment", "strategy", {"type": "x"}, 'Unsupported value: {"Type":"x","RollingUpdate":null}'),
        (
            "Deployment",
            "strategy",
            {"type": "x", "rollingUpdate": {"maxSurge": "10%"}},
            'Unsupported value: {"Type":"x","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"10%"}}',
        ),
        (
            "StatefulSet",
            "updateStrategy",
            {"type": "x", "rollingUpdate": {}},
            'Invalid value: {"Type":"x","RollingUpdate":{"Partition":0,"MaxUnavailable":null}}',
        ),
    ],
)
def test_strategies_are_shown_with_all_members(
    kind: str, member: str, strategy: dict[str, Any], shown: str
) -> None:
    errors = value_errors(RESOURCES[kind], workload(kind, {}, **{member: strategy}))
    (found,) = [error.message for error in errors if error.field == f"spec.{member}"]
    assert found.startswith(shown)


def test_a_workload_whose_selector_is_invalid_has_no_other_errors_of_its_template() -> None:
    wrong = {"matchExpressions": [{"key": "a", "operator": "v1"}]}
    obj = workload("Deployment", {"activeDeadlineSeconds": 5}, selector=wrong)
    assert template_errors(obj) == []
