"""What a write of an object or of a subresource has no effect on, and does not own."""

from __future__ import annotations

import pytest

from ktui.kube.resources import BUILTIN
from ktui.writes.managedfields.entries import effective, owned
from ktui.writes.strategies import reset_fields

CRDS = "customresourcedefinitions.apiextensions.k8s.io"
CSRS = "certificatesigningrequests.certificates.k8s.io"


@pytest.mark.parametrize(
    ("name", "subresource", "paths"),
    [
        ("deployments.apps", "", ["status"]),
        ("deployments.apps", "status", ["spec", "metadata.labels"]),
        ("deployments.apps", "scale", []),
        ("daemonsets.apps", "status", ["spec"]),
        ("pods", "status", ["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"]),
        ("pods", "ephemeralcontainers", []),
        ("configmaps", "", []),
        (CRDS, "status", ["spec", "metadata"]),
        (CSRS, "", ["spec", "status"]),
        (CSRS, "approval", ["spec", "status.certificate"]),
    ],
)
def test_paths(name: str, subresource: str, paths: list[str]) -> None:
    resource = BUILTIN.by_name(name)
    assert resource is not None
    assert [".".join(path) for path in reset_fields(resource, subresource)] == paths


def test_a_status_does_not_own_the_rest() -> None:
    deployments = BUILTIN.by_name("deployments.apps")
    assert deployments is not None
    labels, status = {"f:labels": {"f:a": {}}}, {"f:replicas": {}}
    fields = {"f:metadata": labels, "f:spec": {"f:replicas": {}}, "f:status": status}
    assert owned(fields, deployments, "status") == {"f:status": status}
    noted = {**fields, "f:metadata": {**labels, "f:annotations": {}}}
    assert owned(noted, deployments, "status")["f:metadata"] == {"f:annotations": {}}
    assert owned(fields, deployments, "") == {"f:metadata": labels, "f:spec": fields["f:spec"]}


def test_a_configuration_changes_nothing_else() -> None:
    deployments = BUILTIN.by_name("deployments.apps")
    assert deployments is not None
    named = {"name": "d", "annotations": {"a": "b"}}
    config = {"metadata": {**named, "labels": {"a": "b"}}, "spec": {}, "status": {"replicas": 1}}
    assert effective(config, deployments, "status") == {"metadata": named, "status": {"replicas": 1}}
    assert effective(config, deployments, "") == {"metadata": config["metadata"], "spec": {}}
    assert effective({"metadata": None}, deployments, "status") == {"metadata": None}
    definitions = BUILTIN.by_name(CRDS)
    assert definitions is not None
    assert effective(config, definitions, "status") == {"metadata": {"name": "d"}, "status": {"replicas": 1}}
