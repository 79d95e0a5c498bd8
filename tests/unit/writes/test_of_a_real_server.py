"""Small rules that a kube-apiserver 1.36 over the same etcd showed: unknown members, orders, formats."""

from __future__ import annotations

import json
from typing import Any

from ktui.apiserver.pages.routes import version_document
from ktui.kube.discovery import group_discovery_list
from ktui.kube.golang.formatting import go_syntax, go_value
from ktui.kube.resources import BUILTIN
from ktui.kube.versions import behaviour_of
from ktui.wire.encode import encode_object
from ktui.wire.gotypes import drop_unknown
from ktui.writes.defaults import set_defaults

SERVICES = BUILTIN.find("apiregistration.k8s.io", "v1", "apiservices")


def test_unknown_members_of_kinds_stored_as_json_are_dropped() -> None:
    spec: dict[str, Any] = {"group": "a.b", "nope": 1, "service": {"name": "a", "nope": 2}}
    obj = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "spec": spec, "nope": {}}
    drop_unknown(obj, "apiregistration.k8s.io/v1", "APIService", 36)
    assert obj["spec"] == {"group": "a.b", "service": {"name": "a"}} and set(obj) == {
        "apiVersion",
        "kind",
        "spec",
    }
    metadata = {"labels": {"nope": "label"}, "nope": 1, "ownerReferences": [{"uid": "u", "nope": 1}]}
    definition = {"metadata": metadata}
    drop_unknown(definition, "apiextensions.k8s.io/v1", "CustomResourceDefinition", 36)
    assert metadata == {"labels": {"nope": "label"}, "ownerReferences": [{"uid": "u"}]}


def test_what_is_stored_as_json_has_the_order_of_gos_types() -> None:
    entry = {
        "operation": "Update",
        "manager": "a",
        "fieldsV1": {},
        "fieldsType": "FieldsV1",
        "apiVersion": "v1",
    }
    metadata = {"managedFields": [entry], "labels": {"b": "1", "a": "2"}, "uid": "u", "name": "v1.a.b"}
    assert SERVICES is not None
    stored = encode_object({"metadata": metadata, "spec": {}, "apiVersion": SERVICES.api_version}, SERVICES)
    obj = json.loads(stored)
    assert list(obj)[:3] == ["kind", "apiVersion", "metadata"]
    assert list(obj["metadata"]) == ["name", "uid", "labels", "managedFields"]
    assert list(obj["metadata"]["labels"]) == ["b", "a"]
    (kept,) = obj["metadata"]["managedFields"]
    assert list(kept) == ["manager", "operation", "apiVersion", "fieldsType", "fieldsV1"]


def test_a_namespaces_own_label_is_always_its_name() -> None:
    namespace: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    namespace["metadata"]["labels"] = {"kubernetes.io/metadata.name": "other"}
    set_defaults(namespace)
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "shop"}


def test_an_event_of_the_newer_group_keeps_what_it_says() -> None:
    said = {"deprecatedFirstTimestamp": "2026-01-02T03:04:05Z", "deprecatedSource": {"component": "a"}}
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", **said}
    set_defaults(event)
    assert event | said == event and "source" not in event and "firstTimestamp" not in event
    assert (event["eventTime"], event["deprecatedLastTimestamp"]) == (None, None)


def test_values_in_gos_formats() -> None:
    assert go_syntax({"b": [1, "x", None], "a": True}) == (
        'map[string]interface {}{"a":true, "b":[]interface {}{1, "x", interface {}(nil)}}'
    )
    assert (go_value(1 << 63), go_value((1 << 63) - 1)) == ("9.223372036854776e+18", "9223372036854775807")


def test_aggregated_discovery_names_groups_only_where_they_differ() -> None:
    groups = {item["metadata"]["name"]: item for item in group_discovery_list(BUILTIN, core=False)["items"]}
    (version,) = (v for v in groups["apps"]["versions"] if v["version"] == "v1")
    (deployments,) = (r for r in version["resources"] if r["resource"] == "deployments")
    assert deployments["responseKind"] == {"group": "", "version": "", "kind": "Deployment"}
    kinds = {sub["subresource"]: sub["responseKind"] for sub in deployments["subresources"]}
    assert kinds["scale"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert kinds["status"] == {"group": "", "version": "", "kind": "Deployment"}


def test_a_version_that_can_be_emulated_says_so() -> None:
    before, since = (version_document(behaviour_of(version)) for version in ("1.32", "1.33"))
    added = {"emulationMajor": "1", "emulationMinor": "33"}
    added |= {"minCompatibilityMajor": "1", "minCompatibilityMinor": "32"}
    assert since.keys() - before.keys() == added.keys() and since | added == since
