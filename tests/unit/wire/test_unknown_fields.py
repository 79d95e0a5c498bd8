"""Fields that a type does not have, as strict decoding reports them."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.wire.gotypes import unknown_fields

POD = {"metadata": {"labels": {"any": "x"}, "nope": 1}, "spec": {"containers": [{"name": "c", "x": None}, 5]}}


@pytest.mark.parametrize(
    ("kind", "obj", "paths"),
    [
        ("v1 ConfigMap", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}, []),
        ("v1 ConfigMap", {"dta": {}, "data": {}, "dat": "", "d": None}, ["dta", "dat", "d"]),
        ("v1 Pod", POD, ["metadata.nope", "spec.containers[0].x"]),
        ("v1 Secret", {"stringData": {"a": "b"}, "metadata": {"resourceVersion": "7"}}, []),
        ("apps/v1 Deployment", {"spec": {"template": {"spec": {"kind": ""}}}}, ["spec.template.spec.kind"]),
        (
            "v1 LimitRange",
            {"spec": {"limits": [{"max": {"cpu": "1"}, "maximum": {}}]}},
            ["spec.limits[0].maximum"],
        ),
        ("v1 Pod", {"spec": {"initContainers": "no list"}}, []),
        ("example.io/v1 Widget", {"anything": 1}, []),
    ],
)
def test_unknown_fields(kind: str, obj: dict[str, Any], paths: list[str]) -> None:
    assert unknown_fields(obj, *kind.split(" "), release=None) == paths


def test_a_field_that_a_release_has_removed_is_unknown() -> None:
    pod = {"spec": {"workloadRef": {}}}
    assert unknown_fields(pod, "v1", "Pod", release=36) == ["spec.workloadRef"]
    assert unknown_fields(pod, "v1", "Pod", release=35) == []
