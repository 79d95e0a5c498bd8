"""The steps of each part of a write grow with its input, never with its square."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from ktui.kube.golang.regexps import matcher
from ktui.kube.quantity import canonical_quantity, quantity_fault
from ktui.kube.resources import BUILTIN
from ktui.kube.structural.schema import is_choice
from ktui.writes.admission.pod_resources import pod_total
from ktui.writes.managedfields.apply import Apply
from ktui.writes.managedfields.entries import track_update
from ktui.writes.managedfields.fieldset import compare
from ktui.writes.managedfields.nodes import BuiltinNode
from ktui.writes.managedfields.typed_config import type_faults
from ktui.writes.objectmeta import drop_repeated_owners
from ktui.writes.patches.jsonpatch import json_patch
from ktui.writes.validation import definition_schemas, definitions
from ktui.writes.validation.custom_invariants import list_errors
from ktui.writes.validation.custom_resources import validate
from ktui.writes.validation.objects import value_errors
from ktui.writes.validation.updates import pods, services
from ktui.writes.validation.values.services import address_errors
from tests.unit.growth import Compared, growth

Obj = dict[str, Any]
PODS, MAPS = BUILTIN.find("", "v1", "pods"), BUILTIN.find("", "v1", "configmaps")
assert PODS is not None and MAPS is not None


def _tolerations(count: int, **more: Any) -> Obj:
    return {"spec": {"tolerations": [{"key": f"k{n}", "tolerationSeconds": 1, **more} for n in range(count)]}}


def _with_requests(count: int) -> Obj:
    containers = [{"resources": {"requests": {f"example.com/r{n}": "1"}}} for n in range(count)]
    return {"containers": containers, "initContainers": containers}


def _entries(count: int) -> list[Obj]:
    return [
        {
            "manager": f"m{n}",
            "operation": "Apply",
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {f"f:k{n}": {}}},
        }
        for n in range(count)
    ]


def _map(count: int, managers: int, value: str = "1") -> Obj:
    metadata = {"name": "a", "managedFields": _entries(managers)}
    data = {f"k{n}": value for n in range(count)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _track(old: Obj, new: Obj) -> None:
    track_update(old, new, manager="me", time="t", resource=MAPS)


def _apply(old: Obj, config: Obj) -> None:
    step = Apply({**config, "metadata": {"name": "a"}}, "me", MAPS, force=True)
    step.track(old, step.merged(old), "t")


def _schema(depth: int) -> Obj:
    part: Obj = {"type": "string"}
    for _ in range(depth):
        part = {
            "type": "object",
            "properties": {f"p{n}": part if not n else {"type": "string"} for n in range(9)},
        }
    return part


def _ports(count: int) -> Obj:
    ports = [{"name": f"p{n}", "port": n + 1} for n in range(count)]
    return {"spec": {"type": "NodePort", "ports": ports}}


def _addresses(count: int, first: int) -> Obj:
    return {"spec": {"clusterIPs": [f"10.0.{n}.{first}" for n in range(count)]}}


CASES = {
    "tolerations": (pods.pod, lambda n: (_tolerations(n), _tolerations(n))),
    "changed tolerations": (pods.pod, lambda n: (_tolerations(n), _tolerations(n, effect="NoSchedule"))),
    "requests": (pod_total, lambda n: (_with_requests(n), "requests")),
    "update with many managers": (_track, lambda n: (_map(n, n), _map(n, n, "2"))),
    "apply with many managers": (_apply, lambda n: (_map(n, n), _map(n, 0, "2"))),
    "duplicate keys": (
        lambda value: list(type_faults(value, PODS)),
        lambda n: ({"spec": {"containers": [{"name": "a"}] * n}},),
    ),
    "items of one key": (
        lambda old, new: compare({"spec": old}, {"spec": new}, BuiltinNode("core.v1.Pod")),
        lambda n: ({"containers": [{"name": "a"}]}, {"containers": [{"name": "a"} for _ in range(n)]}),
    ),
    "owners named twice": (
        lambda obj: drop_repeated_owners(obj, patched=False),
        lambda n: ({"metadata": {"ownerReferences": [{"uid": str(m // 2)} for m in range(n)]}},),
    ),
    "duplicates of a set": (
        lambda value: list(
            list_errors(value, {"x-kubernetes-list-type": "set", "items": {"type": "string"}})
        ),
        lambda n: ([str(m) for m in range(n)],),
    ),
    "JSON patch": (
        json_patch,
        lambda n: ({"a": [1] * n}, [{"op": "add", "path": "/a/0", "value": 1}] * n),
    ),
    "service": (partial(value_errors, "services"), lambda n: (_ports(n),)),
    "attributes of a device": (
        partial(value_errors, "resourceslices.resource.k8s.io"),
        lambda n: ({"spec": {"devices": [{"attributes": {f"a{m}": {"int": m} for m in range(n)}}]}},),
    ),
    "conditions of a policy": (
        partial(value_errors, "validatingadmissionpolicies.admissionregistration.k8s.io"),
        lambda n: (
            {"spec": {"matchConditions": [{"name": f"c{m}", "expression": "true"} for m in range(n)]}},
        ),
    ),
    "addresses": (services.service, lambda n: (_addresses(n, 1), _addresses(n, 2))),
    "schema": (
        lambda schema: list(definition_schemas.schema_errors(schema, "", has_status=True)),
        lambda n: (_schema(n),),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_steps_grow_with_the_input_only(name: str) -> None:
    function, make = CASES[name]
    assert growth(function, make, 60) < 2.5


def test_families_of_a_service_are_not_searched_for_each_other() -> None:
    """60,000 of them, in a body of 1 MB, stopped the server for 20 s."""
    families = [Compared(f"f{n}") for n in range(3000)]
    Compared.count = 0
    assert len(list(address_errors({"ipFamilies": families}))) > 100
    assert Compared.count < 3000


def test_an_enum_is_not_searched_for_each_item_of_a_list() -> None:
    choices = [Compared(f"c{n}") for n in range(1000)]
    schema: Obj = {"type": "array", "items": {"type": "string", "enum": choices}}
    Compared.count = 0
    assert not list(validate([f"c{n}" for n in range(999)], schema))
    assert Compared.count < 5_000
    assert is_choice(True, [1] * 20) and not is_choice([1], [1] * 20) and is_choice([1], [[1]] * 20)


def test_paths_below_a_long_name_are_joined_for_errors_only() -> None:
    """Each of the paths has a megabyte: all of them together would take gigabytes."""
    long = "n" * 1_000_000
    many = {f"p{n}": {"type": "string", "pattern": "+"} for n in range(3000)}
    schema = {"type": "object", "properties": {long: {"type": "object", "properties": many}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    assert len(definitions.definition_errors({"spec": {"versions": [version]}})) < 20
    lists = {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}
    inner: Obj = {"type": "object", "properties": dict.fromkeys(many, lists)}
    assert not list(list_errors({long: {name: ["a"] for name in many}}, {"properties": {long: inner}}))


@pytest.mark.parametrize(
    "text",
    ["1" * 300_000 + "x", "1" * 300_000 + "Kx", "." + "1" * 300_000 + "!"],
    ids=["no suffix", "two suffixes", "fraction"],
)
def test_a_long_number_is_no_quantity_at_once(text: str) -> None:
    assert canonical_quantity(text) is None
    assert "quantities must match" in quantity_fault(text) or "suffix" in quantity_fault(text)


def test_a_pattern_is_compiled_once() -> None:
    assert matcher("^[a-z]+$") is matcher("^[a-z]+$")
