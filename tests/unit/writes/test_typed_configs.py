"""Applied configurations that do not fit their type, and members that no type declares."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ktui.wire.gotypes import unknown_fields
from ktui.writes.managedfields.typed_config import type_faults
from tests.unit.writes.objects import resource

Obj = dict[str, Any]
LEASES = resource("leases", "coordination.k8s.io")
SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer"},
                "rules": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["key"],
                    "items": {"type": "object", "properties": {"key": {"type": "string"}}},
                },
            },
        }
    },
}
CUSTOM = dataclasses.replace(
    LEASES, group="a.io", resource="gadgets", kind="Gadget", custom=True, schemas={"v1": SCHEMA}
)


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        ({"metadata": []}, ".metadata: expected map, got &{[]}"),
        ({"metadata": {"managedFields": 5}}, ".metadata.managedFields: expected list, got &{5}"),
        (
            {"metadata": {"generation": "x"}},
            ".metadata.generation: expected numeric (int or float), got string",
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}",
        ),
        ({"spec": "a_b"}, ".spec: expected map, got &{a_b}"),
    ],
)
def test_a_value_of_another_type(config: Obj, fault: str) -> None:
    assert list(type_faults(config, LEASES)) == [fault]
    assert list(type_faults(config, CUSTOM)) == [fault]


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"size": "big"}, ".spec.size: expected numeric (int or float), got string"),
        ({"rules": {}}, ".spec.rules: expected list, got &{map[]}"),
        (
            {"rules": [{"key": 1}]},
            ".spec.rules[key=1].key: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            {"rules": [{"key": "k"}, None]},
            ".spec.rules: element 1: associative list with keys may not have a null element",
        ),
        (
            {"rules": ["k"]},
            ".spec.rules: element 0: associative list with keys may not have non-map elements",
        ),
    ],
)
def test_a_custom_value_of_another_type(spec: Obj, fault: str) -> None:
    assert list(type_faults({"spec": spec}, CUSTOM)) == [fault]


def test_what_fits_and_what_is_null() -> None:
    lease = {
        "metadata": {"name": "a", "labels": None},
        "spec": {"leaseDurationSeconds": 5, "renewTime": None},
    }
    assert list(type_faults(lease, LEASES)) == []
    assert list(type_faults({"spec": {"size": 1, "rules": None}}, CUSTOM)) == []


def test_a_claim_template_may_name_its_kind() -> None:
    claims = [{"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {}}]
    obj = {"spec": {"volumeClaimTemplates": claims, "template": {"kind": "PodTemplate"}}}
    assert unknown_fields(obj, "apps/v1", "StatefulSet", None) == ["spec.template.kind"]


def test_items_are_named_by_their_keys() -> None:
    rules = [{"key": "a"}, {"key": 5}]
    (fault,) = type_faults({"spec": {"rules": rules}}, CUSTOM)
    assert fault == ".spec.rules[key=5].key: expected string, got &value.valueUnstructured{Value:5}"
    containers = [{"name": "a", "image": 5}, {"image": 6}, {"name": "b", "more": 1}, {"name": "a"}]
    config = {"metadata": {"more": 1}, "spec": {"containers": containers}}
    assert list(type_faults(config, resource("pods"))) == [
        ".metadata.more: field not declared in schema",
        '.spec.containers[name="a"].image: expected string, got &value.valueUnstructured{Value:5}',
        '.spec.containers[name=""].image: expected string, got &value.valueUnstructured{Value:6}',
        '.spec.containers[name="b"].more: field not declared in schema',
        '.spec.containers: duplicate entries for key [name="a"]',
    ]


def test_an_object_in_an_object_has_a_type() -> None:
    claim = {"apiVersion": "v1", "kind": 5, "metadata": {"name": "a"}, "foo": 1, "bar": 1}
    faults = type_faults({"spec": {"volumeClaimTemplates": [claim]}}, resource("statefulsets", "apps"))
    path = ".spec.volumeClaimTemplates[0]"
    assert list(faults) == [
        f"{path}.kind: expected string, got &value.valueUnstructured{{Value:5}}",
        f"{path}.foo: field not declared in schema",  # and not the next
    ]
