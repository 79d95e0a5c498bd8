"""Entries of managedFields of a workload in its Scale, and back."""

from __future__ import annotations

from typing import Any

from ktui.kube.scale import BUILTIN_PATHS, ScalePaths
from ktui.writes.scale_owners import to_parent, to_scale

REPLICAS = {"f:spec": {"f:replicas": {}}}


def entry(manager: str, fields: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": fields, **more}


ONE = entry("one", {"f:spec": {"f:replicas": {}, "f:paused": {}}})
TWO = entry("two", {"f:metadata": {}})
SCALE = {"metadata": {"name": "d"}}


def test_owners_of_the_replicas_own_the_scale() -> None:
    found = to_scale({"metadata": {"managedFields": [ONE, TWO]}}, SCALE, BUILTIN_PATHS)
    assert found["metadata"]["managedFields"] == [entry("one", REPLICAS, apiVersion="autoscaling/v1")]
    assert to_scale({"metadata": {"managedFields": [TWO]}}, SCALE, BUILTIN_PATHS) is SCALE


def test_a_new_owner_takes_the_replicas() -> None:
    deployment = {"metadata": {"managedFields": [ONE, TWO]}}
    new = entry("new", REPLICAS, operation="Apply", subresource="scale", apiVersion="autoscaling/v1")
    to_parent(deployment, {"metadata": {"managedFields": [new]}}, BUILTIN_PATHS, "apps/v1")
    found = deployment["metadata"]["managedFields"]
    assert sorted(found, key=str) == sorted(
        [{**new, "apiVersion": "apps/v1"}, entry("one", {"f:spec": {"f:paused": {}}}), TWO], key=str
    )


def test_the_path_is_that_of_the_definition() -> None:
    thing: dict[str, Any] = {"metadata": {"managedFields": []}}
    paths = ScalePaths(".spec.a.count", custom=True)
    to_parent(thing, {"metadata": {"managedFields": [entry("x", REPLICAS)]}}, paths, "x.io/v1")
    (found,) = thing["metadata"]["managedFields"]
    assert found["fieldsV1"] == {"f:spec": {"f:a": {"f:count": {}}}}
    assert found["apiVersion"] == "x.io/v1"
