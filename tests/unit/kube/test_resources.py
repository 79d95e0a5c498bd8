"""The resource table."""

import pytest

from ktui.kube.resources import BUILTIN, Resource, ResourceTable


def _found(group: str, version: str, resource: str) -> Resource:
    found = BUILTIN.find(group, version, resource)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("group", "version", "resource", "prefix", "storage_version"),
    [
        ("", "v1", "pods", "pods/", "v1"),
        ("", "v1", "nodes", "minions/", "v1"),
        ("", "v1", "services", "services/specs/", "v1"),
        ("", "v1", "endpoints", "services/endpoints/", "v1"),
        ("networking.k8s.io", "v1", "ingresses", "ingress/", "networking.k8s.io/v1"),
        ("apps", "v1", "deployments", "deployments/", "apps/v1"),
        ("autoscaling", "v1", "horizontalpodautoscalers", "horizontalpodautoscalers/", "autoscaling/v2"),
    ],
)
def test_where_etcd_keeps_it(
    group: str, version: str, resource: str, prefix: str, storage_version: str
) -> None:
    found = _found(group, version, resource)
    assert (found.prefix, found.storage_version, found.version) == (prefix, storage_version, version)


def test_each_prefix_leads_back() -> None:
    for resource in BUILTIN:
        if resource.stored:
            found = BUILTIN.by_prefix(resource.prefix)
            assert found is not None
            assert found.prefix == resource.prefix
    core_events = BUILTIN.by_prefix("events/")
    assert core_events is not None
    assert core_events.group == ""
    assert BUILTIN.by_prefix("nothing/") is None


def test_ids_are_unique_and_name_the_group() -> None:
    ids = [r.id for r in BUILTIN.preferred()]
    assert len(ids) == len(set(ids))
    assert {"pods", "leases.coordination.k8s.io", "events.events.k8s.io"} <= set(ids)


@pytest.mark.parametrize(
    ("name", "resource_id"),
    [
        ("po", "pods"),
        ("Pod", "pods"),
        ("deploy", "deployments.apps"),
        ("deployment.apps", "deployments.apps"),
        ("ev", "events"),
        ("leases.coordination.k8s.io", "leases.coordination.k8s.io"),
    ],
)
def test_by_name_takes_what_kubectl_takes(name: str, resource_id: str) -> None:
    found = BUILTIN.by_name(name)
    assert found is not None
    assert found.id == resource_id


def test_reviews_are_not_stored() -> None:
    review = _found("authentication.k8s.io", "v1", "tokenreviews")
    assert not review.stored
    assert review.verbs == ("create",)


def test_paths() -> None:
    assert _found("", "v1", "pods").path == "/api/v1/pods"
    assert _found("apps", "v1", "deployments").path == "/apis/apps/v1/deployments"


def test_a_larger_table_leaves_the_smaller_one_alone() -> None:
    widget = Resource("example.io", "v1", "widgets", "Widget", "widget", True, versions=("v1",), custom=True)
    larger = BUILTIN.plus([widget])
    assert larger.find("example.io", "v1", "widgets") is widget
    assert BUILTIN.find("example.io", "v1", "widgets") is None
    assert larger.serves("example.io", "v1")
    assert not larger.serves("example.io", "v2")


def test_custom_versions_keep_their_own_shape() -> None:
    old, new = (
        Resource("e.io", v, "things", "Thing", "thing", True, versions=("v2", "v1"), field_selectors=(v,))
        for v in ("v1", "v2")
    )
    table = ResourceTable([new, old])
    assert table.find("e.io", "v1", "things") is old
    assert table.preferred() == (new,)
