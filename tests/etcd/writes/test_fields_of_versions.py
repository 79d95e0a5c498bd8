"""Fields that a later Kubernetes version has added: a server of an earlier one does not know them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.kube.versions import behaviour_of

from ..apiserver.conftest import JSON, MERGE, Api

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

SERVICES = "/api/v1/namespaces/a/services"
FIELD = "trafficDistribution"  # of 1.30 and later
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}


def service(name: str) -> dict[str, Any]:
    spec = {"ports": [{"port": 80}], FIELD: "PreferClose"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(("version", "known"), [("1.29", False), ("1.30", True)])
async def test_a_field_is_dropped_and_warned_of_before_its_version(
    api: Api, version: str, known: bool
) -> None:
    api.services.settings.behaviour = behaviour_of(version)
    created = await api.create(SERVICES, service("new"))
    assert created.status_code == 201, created.text
    assert (FIELD in created.json()["spec"]) is known
    warning = created.headers.get("warning", "")
    assert ("unknown field" in warning) is not known
    patch = json.dumps({"spec": {FIELD: "PreferClose", "sessionAffinity": "ClientIP"}})
    for form in (MERGE, STRATEGIC):
        patched = await api.http.patch(f"{SERVICES}/new", content=patch, headers=form)
        assert patched.status_code == 200, patched.text
        assert (FIELD in patched.json()["spec"]) is known
    strict = await api.create(SERVICES, service("strict"), fieldValidation="Strict")
    assert strict.status_code == (201 if known else 400), strict.text
    applied = await api.http.patch(
        f"{SERVICES}/applied?fieldManager=me", content=json.dumps(service("applied")), headers=APPLY
    )
    assert applied.status_code == (201 if known else 500), applied.text
    if not known:
        assert f".spec.{FIELD}: field not declared in schema" in applied.json()["message"]
    stored = await api.http.get(f"{SERVICES}/new", headers=JSON)
    assert (FIELD in stored.json()["spec"]) is known
