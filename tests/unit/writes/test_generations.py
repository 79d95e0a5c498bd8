"""Which change of an object makes another generation of it."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.resources import BUILTIN, Resource
from ktui.writes.objectmeta import fill_new, next_generation

SLICES, CLASSES = "endpointslices.discovery.k8s.io", "priorityclasses.scheduling.k8s.io"
DRIVERS = "csidrivers.storage.k8s.io"
HOOKS = "validatingwebhookconfigurations.admissionregistration.k8s.io"


def resource(name: str) -> Resource:
    found = BUILTIN.by_name(name)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "kind", "change", "counts"),
    [
        ("deployments.apps", "Deployment", {"spec": {"replicas": 2}}, True),
        ("deployments.apps", "Deployment", {"status": {"replicas": 2}}, False),
        ("deployments.apps", "Deployment", {"metadata": {"labels": {"a": "b"}}}, False),
        (DRIVERS, "CSIDriver", {"spec": {"requiresRepublish": True}}, True),
        (SLICES, "EndpointSlice", {"endpoints": [{"addresses": ["10.0.0.1"]}]}, True),
        (SLICES, "EndpointSlice", {"metadata": {"labels": {"a": "b"}}}, True),
        (SLICES, "EndpointSlice", {"metadata": {"annotations": {"a": "b"}}}, False),
        (HOOKS, "ValidatingWebhookConfiguration", {"webhooks": []}, True),
        (CLASSES, "PriorityClass", {"description": "other"}, False),
        ("deviceclasses.resource.k8s.io", "DeviceClass", {"spec": {"selectors": []}}, True),
        ("configmaps", "ConfigMap", {"data": {"a": "b"}}, False),
    ],
)
def test_what_counts(name: str, kind: str, change: dict[str, Any], counts: bool) -> None:
    old: dict[str, Any] = {"kind": kind, "metadata": {"name": "x", "generation": 1}}
    assert next_generation(old, {**old, **change}, resource(name)) is counts
    assert not next_generation(old, dict(old), resource(name))


@pytest.mark.parametrize(
    ("name", "kind", "first"),
    [
        (SLICES, "EndpointSlice", 1),
        (CLASSES, "PriorityClass", 1),
        ("secrets", "Secret", None),
        (DRIVERS, "CSIDriver", None),
    ],
)
def test_the_first_one(name: str, kind: str, first: int | None) -> None:
    obj: dict[str, Any] = {"kind": kind, "metadata": {"name": "x", "generation": 7}}
    fill_new(obj, resource(name), "")
    assert obj["metadata"].get("generation") == first
