"""Discovery documents."""

from typing import Any

from ktui.kube.crd import resources_of
from ktui.kube.discovery import (
    api_group,
    api_group_list,
    api_resource_list,
    api_versions,
    group_discovery_list,
)
from ktui.kube.resources import BUILTIN

_CRD = {
    "spec": {
        "group": "a.example.io",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"], "categories": ["toys"]},
        "versions": [
            {"name": "v1beta1", "served": True, "storage": False},
            {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}, "scale": {}}},
        ],
    }
}
TABLE = BUILTIN.plus(resources_of(_CRD))


def _resources(group: str, version: str) -> dict[str, dict[str, Any]]:
    document = api_resource_list(TABLE, group, version)
    assert document is not None
    return {entry["name"]: entry for entry in document["resources"]}


def test_api() -> None:
    assert api_versions("127.0.0.1:6443") == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
    }


def test_group_to_the_letter() -> None:
    v1 = {"groupVersion": "apps/v1", "version": "v1"}
    assert api_group(TABLE, "apps") == {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": "apps",
        "versions": [v1],
        "preferredVersion": v1,
    }
    assert api_group(TABLE, "nope.io") is None
    assert api_group(TABLE, "") is None


def test_groups_of_custom_resources_come_last() -> None:
    names = [group["name"] for group in api_group_list(TABLE)["groups"]]
    assert names[0] == "apiregistration.k8s.io"
    assert names[-1] == "a.example.io"
    assert "" not in names
    assert len(names) == len(set(names))


def test_versions_preferred_first() -> None:
    hpa = api_group(TABLE, "autoscaling")
    assert hpa is not None
    assert [v["version"] for v in hpa["versions"]] == ["v2", "v1"]
    custom = api_group(TABLE, "a.example.io")
    assert custom is not None
    assert custom["preferredVersion"]["version"] == "v1"


def test_what_is_off_by_default_is_not_announced() -> None:
    assert api_resource_list(TABLE, "networking.k8s.io", "v1beta1") is None
    assert api_resource_list(TABLE, "internal.apiserver.k8s.io", "v1alpha1") is None
    assert "leasecandidates" not in _resources("coordination.k8s.io", "v1")
    assert "widgets" in _resources("a.example.io", "v1beta1")


def test_resources_of_the_core_group() -> None:
    document = api_resource_list(TABLE, "", "v1")
    assert document is not None
    assert "apiVersion" not in document
    assert document["groupVersion"] == "v1"
    resources = _resources("", "v1")
    assert resources["pods"] == {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["po"],
        "categories": ["all"],
        "storageVersionHash": "xPOwRZ+Yhw8=",
    }
    assert resources["events"]["storageVersionHash"] == "r2yiGXH7wu8="
    assert _resources("events.k8s.io", "v1")["events"]["storageVersionHash"] == "r2yiGXH7wu8=", "stored as v1"
    assert "deletecollection" not in resources["namespaces"]["verbs"]
    assert resources["bindings"]["verbs"] == ["create"]
    assert "storageVersionHash" not in resources["bindings"], "never stored"


def test_subresources_name_the_kind_they_take() -> None:
    core, apps, custom = _resources("", "v1"), _resources("apps", "v1"), _resources("a.example.io", "v1")
    assert core["pods/eviction"] == {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    }
    assert core["pods/log"]["kind"] == "Pod"
    assert apps["deployments/scale"]["kind"] == "Scale"
    assert apps["deployments/scale"]["group"] == "autoscaling"
    assert custom["widgets/status"]["verbs"] == ["get", "patch", "update"]
    assert custom["widgets/scale"]["kind"] == "Scale"


def test_aggregated_says_the_same_as_the_plain_documents() -> None:
    for core in (True, False):
        for item in group_discovery_list(TABLE, core=core)["items"]:
            group = item["metadata"].get("name", "")
            for version in item["versions"]:
                plain = _resources(group, version["version"])
                seen = {r["resource"]: r["responseKind"]["kind"] for r in version["resources"]}
                seen |= {
                    f"{r['resource']}/{s['subresource']}": s["responseKind"]["kind"]
                    for r in version["resources"]
                    for s in r.get("subresources", [])
                }
                assert seen == {name: entry["kind"] for name, entry in plain.items()}


def test_aggregated_entry() -> None:
    items = group_discovery_list(TABLE, core=False)["items"]
    (group,) = [item for item in items if item["metadata"]["name"] == "a.example.io"]
    assert [v["version"] for v in group["versions"]] == ["v1", "v1beta1"]
    (widget,) = group["versions"][0]["resources"]
    assert widget["scope"] == "Namespaced"
    assert widget["singularResource"] == "widget"
    assert widget["responseKind"] == {"group": "a.example.io", "version": "v1", "kind": "Widget"}
    assert (widget["shortNames"], widget["categories"]) == (["wd"], ["toys"])
    assert [s["subresource"] for s in widget["subresources"]] == ["status", "scale"]


def test_aggregated_in_the_older_version() -> None:
    assert (
        group_discovery_list(TABLE, core=True, version="v2beta1")["apiVersion"]
        == "apidiscovery.k8s.io/v2beta1"
    )


def test_aggregated_discovery_names_groups_only_where_they_differ() -> None:
    groups = {item["metadata"]["name"]: item for item in group_discovery_list(BUILTIN, core=False)["items"]}
    (version,) = (v for v in groups["apps"]["versions"] if v["version"] == "v1")
    (deployments,) = (r for r in version["resources"] if r["resource"] == "deployments")
    assert deployments["responseKind"] == {"group": "", "version": "", "kind": "Deployment"}
    kinds = {sub["subresource"]: sub["responseKind"] for sub in deployments["subresources"]}
    assert kinds["scale"] == {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert kinds["status"] == {"group": "", "version": "", "kind": "Deployment"}
