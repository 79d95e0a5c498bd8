"""Who may have administrative access to devices; what a real kube-apiserver 1.36 does not store."""

from __future__ import annotations

from typing import Any

import pytest

from tests.etcd.apiserver.conftest import Api

pytestmark = pytest.mark.anyio

Obj = dict[str, Any]
GROUP = "/apis/resource.k8s.io/v1"
LABEL = "resource.kubernetes.io/admin-access"
NAMESPACES = "/api/v1/namespaces"


def claim(kind: str, requests: list[Obj]) -> Obj:
    spec = {"devices": {"requests": requests}}
    if kind == "ResourceClaimTemplate":
        spec = {"spec": spec}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "c"}, "spec": spec}


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
async def test_administrative_access_needs_a_label_of_the_namespace(api: Api, kind: str) -> None:
    for name, labels in (("plain", {}), ("labelled", {LABEL: "true"})):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        assert (await api.create(NAMESPACES, namespace)).status_code == 201
    usual = {"name": "a", "exactly": {"deviceClassName": "d"}}
    sent = claim(kind, [usual, {"name": "b", "exactly": {"deviceClassName": "d", "adminAccess": True}}])
    plural = f"{kind.lower()}s"
    refused = await api.create(f"{GROUP}/namespaces/plain/{plural}", sent)
    assert refused.status_code == 422
    assert refused.json()["details"]["causes"] == [
        {
            "reason": "FieldValueForbidden",
            "message": f"Forbidden: admin access to devices requires the `{LABEL}: true` label on the "
            "containing namespace",
            "field": "spec.devices.requests[1].adminAccess",
        }
    ]
    assert (await api.create(f"{GROUP}/namespaces/labelled/{plural}", sent)).status_code == 201
    assert (await api.create(f"{GROUP}/namespaces/plain/{plural}", claim(kind, [usual]))).status_code == 201


async def test_an_empty_list_of_a_dropped_field_is_no_error(api: Api) -> None:
    device = {"name": "x", "attributes": {"a": {"int": 1, "bools": []}}}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "D", "nodeName": "n", "pool": pool, "devices": [device]}
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}
    created = await api.create(f"{GROUP}/resourceslices", {**head, "spec": spec})
    assert created.status_code == 201
    assert created.json()["spec"]["devices"][0]["attributes"] == {"a": {"int": 1}}
    why = 'spec.driver: driver names should be lowercase; \\"D\\" contains uppercase characters'
    assert created.headers["warning"] == f'299 - "{why}"'
