"""Where the resourceVersion of values stored as JSON stands: upstream's bytes, not just its members."""

from __future__ import annotations

import json
from typing import Any

from ktui.kube.resources import BUILTIN, Resource
from ktui.wire.codec import codec_for, encode_object
from ktui.wire.schema import fields, kind_messages, member_order
from ktui.wire.type_order import as_go_writes, in_type_order

CUSTOM = b'{"apiVersion":"x.io/v1","kind":"W","metadata":{"name":"w","namespace":"d","uid":"i"},"spec":{}}\n'
SERVICE = (
    b'{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.apps","uid":"i",'
    b'"creationTimestamp":"2026-11-20T15:19:35Z"},"spec":{}}\n'
)


def test_members_of_custom_resources_are_sorted() -> None:
    assert codec_for().object_json(CUSTOM, 9) == (
        b'{"apiVersion":"x.io/v1","kind":"W","metadata":{"name":"w","namespace":"d","resourceVersion":"9",'
        b'"uid":"i"},"spec":{}}'
    )


def test_members_of_built_in_kinds_stand_in_their_types_order() -> None:
    assert codec_for().object_json(SERVICE, 9) == (
        b'{"kind":"APIService","apiVersion":"apiregistration.k8s.io/v1","metadata":{"name":"v1.apps","uid":"i",'
        b'"resourceVersion":"9","creationTimestamp":"2026-11-20T15:19:35Z"},"spec":{}}'
    )


def resource_of(api_version: str, kind: str) -> Resource:
    return next(found for found in BUILTIN if (found.api_version, found.kind) == (api_version, kind))


def in_order(api_version: str, kind: str, obj: dict[str, Any], *path: str) -> list[str]:
    """The names of a part's members, after the object was stored and served."""
    raw = encode_object({"apiVersion": api_version, "kind": kind, **obj}, resource_of(api_version, kind))
    part = json.loads(codec_for().object_json(raw, 9))
    for step in path:
        part = part[0] if step == "[]" else part[step]
    return list(part)


CONTAINER = {
    "name": "c",
    "image": "i",
    "envFrom": [{"prefix": "p"}],
    "env": [{"name": "a"}],
    "startupProbe": {"periodSeconds": 1},
    "lifecycle": {},
    "terminationMessagePath": "/t",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "Always",
    "ports": [{"containerPort": 1}],
}


def test_members_stand_in_the_order_of_go_not_of_their_numbers() -> None:
    """podCIDRs (7) follows podCIDR (1), which they extend; terminationMessagePolicy (20) its path (13)."""
    node = {"spec": {"taints": [], "providerID": "x", "podCIDRs": ["a"], "podCIDR": "a"}}
    assert in_order("v1", "Node", node, "spec") == ["podCIDR", "podCIDRs", "providerID"]
    config = {"data": {"a": "b"}, "immutable": True, "metadata": {"name": "a"}}
    named = ["kind", "apiVersion", "metadata", "immutable", "data"]
    assert in_order("v1", "ConfigMap", config) == named
    pod = {"spec": {"containers": [CONTAINER], "initContainers": [CONTAINER]}}
    assert in_order("v1", "Pod", pod, "spec") == ["initContainers", "containers"]
    assert in_order("v1", "Pod", pod, "spec", "containers", "[]") == [
        "name",
        "image",
        "ports",
        "envFrom",
        "env",
        "resources",
        "startupProbe",
        "lifecycle",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "imagePullPolicy",
    ]


def test_every_field_has_one_place_in_the_order() -> None:
    for message in set(kind_messages()) | {"core.v1.Container"}:
        order = member_order(message)
        assert not order or sorted(order) == [field.number for field in fields(message)]


def test_what_is_stored_as_json_has_the_order_of_gos_types() -> None:
    entry = {
        "operation": "Update",
        "manager": "a",
        "fieldsV1": {},
        "fieldsType": "FieldsV1",
        "apiVersion": "v1",
    }
    metadata = {"managedFields": [entry], "labels": {"b": "1", "a": "2"}, "uid": "u", "name": "v1.a.b"}
    services = BUILTIN.find("apiregistration.k8s.io", "v1", "apiservices")
    assert services is not None
    stored = encode_object({"metadata": metadata, "spec": {}, "apiVersion": services.api_version}, services)
    obj = json.loads(stored)
    assert list(obj)[:3] == ["kind", "apiVersion", "metadata"]
    assert list(obj["metadata"]) == ["name", "uid", "labels", "managedFields"]
    assert list(obj["metadata"]["labels"]) == ["a", "b"]
    (kept,) = obj["metadata"]["managedFields"]
    assert list(kept) == ["manager", "operation", "apiVersion", "fieldsType", "fieldsV1"]


def test_definitions_have_the_order_of_gos_types() -> None:
    schema = {"properties": {"b": {"type": "string"}, "a": {"items": {"type": "object", "nullable": True}}}}
    version = {"schema": {"openAPIV3Schema": schema | {"type": "object"}}, "served": True, "name": "v1"}
    spec = {
        "versions": [version],
        "scope": "Cluster",
        "names": {"kind": "T", "plural": "ts"},
        "group": "x.io",
    }
    definition = {"spec": spec, "metadata": {"name": "ts.x.io"}}
    path = "apiextensions.k8s.io/v1", "CustomResourceDefinition", definition, "spec"
    assert in_order(*path) == ["group", "names", "scope", "versions"]
    assert in_order(*path, "names") == ["plural", "kind"]
    assert in_order(*path, "versions", "[]") == ["name", "served", "storage", "schema"]
    root = (*path, "versions", "[]", "schema", "openAPIV3Schema")
    assert in_order(*root) == ["type", "properties"]
    assert in_order(*root, "properties") == ["a", "b"]
    assert in_order(*root, "properties", "a", "items") == ["type", "nullable"]


def test_own_members_named_kind_keep_their_place() -> None:
    owner = {"uid": "u", "name": "a", "kind": "Pod", "apiVersion": "v1"}
    found = in_type_order({"metadata": {"ownerReferences": [owner]}, "kind": "Pod"}, "v1", "Pod")
    assert list(found["metadata"]["ownerReferences"][0]) == ["apiVersion", "kind", "name", "uid"]


def test_kinds_stored_as_json_have_gos_zero_values() -> None:
    version = {"name": "v1", "storage": True, "schema": {"openAPIV3Schema": {"type": "", "properties": {}}}}
    spec = {"group": "a.io", "names": {"shortNames": []}, "versions": [version], "conversion": None}
    assert as_go_writes(spec, "apiextensions.v1.CustomResourceDefinitionSpec") == {
        "group": "a.io", "names": {"plural": "", "kind": ""}, "scope": "",
        "versions": [{"name": "v1", "served": False, "storage": True, "schema": {"openAPIV3Schema": {}}}],
    }  # fmt: skip
    assert as_go_writes({}, "apiextensions.v1.CustomResourceDefinitionSpec")["versions"] is None
    assert as_go_writes({"minimum": 0, "default": False}, "apiextensions.v1.JSONSchemaProps") == {
        "default": False, "minimum": 0
    }  # fmt: skip
