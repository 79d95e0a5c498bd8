"""Entries of managedFields of a workload in its Scale, and back."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.scale import BUILTIN_PATHS, ScalePaths
from ktui.kube.status import StatusError
from ktui.writes.scale import check_scale, to_parent, to_scale

REPLICAS = {"f:spec": {"f:replicas": {}}}


def entry(manager: str, fields: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": fields, **more}


ONE = entry("one", {"f:spec": {"f:replicas": {}, "f:paused": {}}})
TWO = entry("two", {"f:metadata": {}})
SCALE = {"metadata": {"name": "d"}}


def test_owners_of_the_replicas_own_the_scale() -> None:
    found = to_scale({"metadata": {"managedFields": [ONE, TWO]}}, SCALE, BUILTIN_PATHS)
    owner = entry("one", REPLICAS, apiVersion="autoscaling/v1")
    assert found["metadata"]["managedFields"] == [owner]
    assert [*found["metadata"]["managedFields"][0]] == ["manager", "operation", "apiVersion", "fieldsV1"]
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


def test_an_unchanged_owner_is_split_in_two_and_the_last_one_counts() -> None:
    """As a kube-apiserver 1.36 does: in a Scale the owner has the Scale's version, and is another one."""
    deployment: dict[str, Any] = {"metadata": {"managedFields": [{**ONE, "time": "2026-11-29T00:00:00Z"}]}}
    to_parent(deployment, to_scale(deployment, SCALE, BUILTIN_PATHS), BUILTIN_PATHS, "apps/v1")
    new, rest = deployment["metadata"]["managedFields"]
    assert new == entry("one", REPLICAS)
    assert rest == entry("one", {"f:spec": {"f:paused": {}}}, time="2026-11-29T00:00:00Z")
    assert to_scale(deployment, SCALE, BUILTIN_PATHS) is SCALE


def test_an_applier_stays_the_owner() -> None:
    applied = entry("one", {"f:spec": {"f:replicas": {}, "f:paused": {}}}, operation="Apply")
    deployment: dict[str, Any] = {"metadata": {"managedFields": [applied]}}
    to_parent(deployment, to_scale(deployment, SCALE, BUILTIN_PATHS), BUILTIN_PATHS, "apps/v1")
    assert deployment["metadata"]["managedFields"] == [applied]


def test_a_scale_is_validated_with_its_metadata() -> None:
    with pytest.raises(StatusError) as refused:
        check_scale({"metadata": {"name": "d", "finalizers": ["x"]}}, "d", -1)
    assert refused.value.code == 422 and refused.value.message == (
        'Scale.autoscaling "d" is invalid: [metadata.finalizers[0]: Invalid value: "x": name is neither a '
        "standard finalizer name nor is it fully qualified, spec.replicas: Invalid value: -1: must be "
        "greater than or equal to 0]"
    )
    check_scale({"metadata": {"name": "d"}}, "d", 0)
