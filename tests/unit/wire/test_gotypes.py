"""Misfits in the words of Go's JSON decoder."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.wire.gotypes import go_mismatch

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
