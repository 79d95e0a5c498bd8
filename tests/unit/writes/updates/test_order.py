"""In which order an update reports its errors, and how often: by the functions that upstream calls."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.fielderrors import invalid
from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.writes.objectmeta import validate_metadata

Obj = dict[str, Any]
VALUE, CHANGED = invalid("spec.value", 1, "wrong"), invalid("spec.fixed", 2, "field is immutable")
L, F, V, C = "metadata.labels", "metadata.finalizers[0]", "spec.value", "spec.fixed"


def resource(path: str) -> Resource:
    group, _, name = path.rpartition("/")
    return next(r for r in BUILTIN.preferred() if (r.group, r.resource) == (group, name))


def fields(path: str, subresource: str = "", **metadata: Any) -> list[str]:
    own = resource(path)
    name = "v1.a" if path.endswith("apiservices") else "10.0.0.1" if "ipaddresses" in path else "a"
    obj = {"kind": own.kind, "metadata": {"name": name, **metadata}, "spec": {"group": "a", "version": "v1"}}
    with pytest.raises(StatusError) as refused:
        validate_metadata(obj, own, [VALUE], [], subresource, [CHANGED])
    return [cause["field"] for cause in refused.value.body()["details"]["causes"]]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("configmaps", [L, L, L, C, L, V]),
        ("services", [L, L, L, C, V]),
        ("pods", [L, L, L, L, V, C]),
        ("nodes", [L, L, L, V, L, C]),
        ("limitranges", [L, L, L, V, C]),
        ("persistentvolumes", [L, L, L, V, L, V, C]),
        ("persistentvolumeclaims", [L, L, L, L, V, C]),
        ("events", [L, L, V]),
        ("batch/jobs", [L, L, L, V, L, C]),
        ("batch/cronjobs", [L, L, L, V, C]),
        ("apps/deployments", [L, L, L, V, C]),
        ("apps/daemonsets", [L, L, L, C, V]),
        ("apps/controllerrevisions", [L, L, L, L, V, C]),
        ("policy/poddisruptionbudgets", [L, L, V]),
        ("rbac.authorization.k8s.io/roles", [L, L, L, V, L, C]),
        ("networking.k8s.io/ingresses", [L, L, L, L, V, C]),
        ("networking.k8s.io/networkpolicies", [L, L, L, V, C]),
        ("networking.k8s.io/ingressclasses", [L, L, L, C, L, V]),
        ("networking.k8s.io/ipaddresses", [L, L, L, V, L, C]),
        ("storage.k8s.io/storageclasses", [L, L, L, V, L, C]),
        ("certificates.k8s.io/certificatesigningrequests", [L, L, L, V, C, L]),
        ("flowcontrol.apiserver.k8s.io/flowschemas", [L, L, L, V, C]),
        ("apiregistration.k8s.io/apiservices", [L, L, L, L, V, C]),
    ],
)
def test_the_order_of_a_kind(path: str, found: list[str]) -> None:
    assert fields(path, labels={"a": "b!"}) == found


def test_a_subresource_has_the_usual_order() -> None:
    assert fields("nodes", "status", labels={"a": "b!"}) == [L, L, L, V, C]


def test_only_the_rules_of_built_in_kinds_demand_the_domain_of_a_finalizer() -> None:
    assert fields("apps/deployments", finalizers=["mine"]) == [F, V, C]
    assert fields("nodes", finalizers=["mine"]) == [F, V, F, C]
    assert fields("policy/poddisruptionbudgets", finalizers=["mine"]) == [V]


def test_a_name_to_generate_from_may_end_with_a_dash() -> None:
    for base in ("a-", "a.b-"):
        assert "metadata.generateName" not in fields("nodes", generateName=base)
    assert fields("nodes", generateName="a.-b")[0] == "metadata.generateName"
    assert "metadata.generateName" not in fields("rbac.authorization.k8s.io/roles", generateName=".")
