"""Objects of storage, networks and nodes, with what a real kube-apiserver 1.36 answered to their creation."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.resources import BUILTIN, Resource
from ktui.writes.before_create import prepare
from ktui.writes.defaults import set_defaults
from ktui.writes.validation.objects import new_errors, object_warnings
from tests.unit.writes.created import ERRORS, WARNINGS

Obj = dict[str, Any]


def prepared(path: str, sent: Obj) -> tuple[Resource, Obj]:
    """The resource, and the object as a creation validates it."""
    group, _, plural = path.rpartition("/")
    resource = next(r for r in BUILTIN.preferred() if (r.group, r.resource) == (group, plural))
    own = {"apiVersion": resource.api_version, "kind": resource.kind}
    obj: Obj = {**own, **sent, "metadata": {"name": "n", **sent.get("metadata", {})}}
    set_defaults(obj)
    prepare(obj, 36)
    return resource, obj


def begins(found: list[str], expected: list[str]) -> bool:
    return len(found) == len(expected) and all(map(str.startswith, found, expected))


@pytest.mark.parametrize(("path", "sent", "expected"), ERRORS)
def test_errors_come_with_upstreams_words_in_its_order(path: str, sent: Obj, expected: list[str]) -> None:
    resource, obj = prepared(path, sent)
    assert begins([str(error) for error in new_errors(obj, resource, 36)], expected)


@pytest.mark.parametrize(("path", "sent", "expected"), WARNINGS)
def test_warnings_are_those_of_upstream(path: str, sent: Obj, expected: list[str]) -> None:
    resource, obj = prepared(path, sent)
    assert new_errors(obj, resource, 36) == []
    assert begins(object_warnings(resource.id, obj), expected)


@pytest.mark.parametrize(
    ("kind", "sent", "member", "stored"),
    [
        ("Service", {"ports": [], "externalIPs": ["1.2.3.4"]}, "externalTrafficPolicy", "Cluster"),
        ("Service", {"ports": []}, "externalTrafficPolicy", None),
        ("Service", {"sessionAffinityConfig": {"clientIP": {}}}, "sessionAffinityConfig", None),
        (
            "Service",
            {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {}}},
            "sessionAffinityConfig",
            {"clientIP": {"timeoutSeconds": 10800}},
        ),
        (
            "Service",
            {"type": "ExternalName", "internalTrafficPolicy": "Local"},
            "internalTrafficPolicy",
            None,
        ),
        ("CSIDriver", {"preventPodSchedulingIfMissing": True}, "preventPodSchedulingIfMissing", None),
        ("Node", {"configSource": {"configMap": {"name": "n"}}}, "configSource", None),
        (
            "PersistentVolume",
            {"rbd": {"monitors": ["a"], "image": "i"}},
            "rbd",
            {"monitors": ["a"], "image": "i", "pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
        ),
        (
            "PersistentVolume",
            {"iscsi": {"iqn": "a", "iscsiInterface": ""}},
            "iscsi",
            {"iqn": "a", "iscsiInterface": "default"},
        ),
    ],
)
def test_members_are_set_or_dropped_as_upstream_does(kind: str, sent: Obj, member: str, stored: Any) -> None:
    obj: Obj = {"kind": kind, "metadata": {}, "spec": sent}
    set_defaults(obj)
    prepare(obj, 36)
    assert obj["spec"].get(member) == stored


def test_an_account_keeps_the_names_of_its_secrets_only() -> None:
    account: Obj = {"kind": "ServiceAccount", "secrets": [{"name": "a", "uid": "1"}, {"namespace": "b"}]}
    prepare(account, 36)
    assert account["secrets"] == [{"name": "a"}, {}]


@pytest.mark.parametrize(("minor", "finalizers"), [(33, None), (34, ["kubernetes.io/vac-protection"])])
def test_a_class_of_attributes_is_protected_since_it_is_generally_available(
    minor: int, finalizers: list[str] | None
) -> None:
    named: Obj = {"kind": "VolumeAttributesClass", "metadata": {}}
    prepare(named, minor)
    assert named["metadata"].get("finalizers") == finalizers
