"""Structural schemas: what is pruned, what is given, and that whole objects are seen to be whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.kube.crd import resources_of
from ktui.kube.structural.schema import Schema, is_choice, may_be_slow, required
from ktui.kube.structural.shaping import (
    MOST_DEFAULT_BYTES,
    Conformance,
    DefaultsTooLarge,
    Shaper,
    shape,
)

TEXT = {"type": "string"}
ROUND = {"type": "string", "default": "round"}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


METADATA = {
    "name": "w",
    "creationTimestamp": None,
    "labels": {"a": "b"},
    "ownerReferences": [{"uid": "u", "controller": True}],
    "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {".": {}}}}],
}


def spec(**properties: Any) -> Schema:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


CASES: list[tuple[str, dict[str, Any], Any, Any, list[str]]] = [
    ("known", {"a": TEXT}, {"a": "x"}, {"a": "x"}, []),
    ("unknown", {"a": TEXT}, {"a": "x", "b": 1}, {"a": "x"}, ["spec.b"]),
    ("default", {"a": ROUND}, {}, {"a": "round"}, []),
    ("default of what is there", {"a": ROUND}, {"a": "flat"}, {"a": "flat"}, []),
    (
        "default in a default",
        {"a": {"type": "object", "default": {}, "properties": {"b": ROUND}}},
        {},
        {"a": {"b": "round"}},
        [],
    ),
    ("no default where its object is missing", {"a": {"properties": {"b": ROUND}}}, {}, {}, []),
    ("null for a default", {"a": ROUND}, {"a": None}, {"a": "round"}, []),
    ("null that may be", {"a": {**ROUND, "nullable": True}}, {"a": None}, {"a": None}, []),
    ("null that may not be", {"a": TEXT}, {"a": None}, {}, []),
    ("kept", {"a": OPEN}, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 1}}}, []),
    (
        "kept beside known ones",
        {"a": {**OPEN, "properties": {"b": {"type": "object", "properties": {"c": ROUND}}}}},
        {"a": {"b": {"x": 1}, "y": 1}},
        {"a": {"b": {"c": "round"}, "y": 1}},
        ["spec.a.b.x"],
    ),
    ("an object of nothing", {"a": {"type": "object"}}, {"a": {"b": 1}}, {"a": {}}, ["spec.a.b"]),
    (
        "a map",
        {"a": {"type": "object", "additionalProperties": {"type": "object", "properties": {"b": ROUND}}}},
        {"a": {"k": {"x": 1}}},
        {"a": {"k": {"b": "round"}}},
        ["spec.a.k.x"],
    ),
    (
        "a map of anything holds no objects",
        {"a": {"type": "object", "additionalProperties": True}},
        {"a": {"k": 1, "o": {"x": 1}}},
        {"a": {"k": 1, "o": {}}},
        ["spec.a.o.x"],
    ),
    (
        "a list",
        {"a": {"type": "array", "items": {"type": "object", "properties": {"b": ROUND}}}},
        {"a": [{"x": 1}, {"b": "flat"}]},
        {"a": [{"b": "round"}, {"b": "flat"}]},
        ["spec.a[0].x"],
    ),
    (
        "an object of its own",
        {"a": {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"b": TEXT}}},
        {"a": {"kind": "K", "metadata": {"name": "n", "x": 1}, "b": "1", "c": 1}},
        {"a": {"kind": "K", "metadata": {"name": "n"}, "b": "1"}},
        ["spec.a.metadata.x", "spec.a.c"],
    ),
    ("number or text", {"a": {"x-kubernetes-int-or-string": True}}, {"a": "50%"}, {"a": "50%"}, []),
    ("a name that is a word of Python", {"from": TEXT, "a-b": TEXT}, {"from": "1", "a-b": "2"}, None, []),
]


@pytest.mark.parametrize(
    ("properties", "sent", "wanted", "gone"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_objects_follow_their_schema(properties: Any, sent: Any, wanted: Any, gone: list[str]) -> None:
    schema = spec(**properties)
    obj = {"apiVersion": "g/v1", "kind": "W", "metadata": METADATA, "spec": sent}
    document = json.dumps(obj).encode()
    shaped = {**obj, "spec": sent if wanted is None else wanted}
    conforms = json.loads(document) == shaped

    assert json.loads(Shaper({"v1": schema}).shaped(document)) == shaped
    assert Conformance(schema).holds(document) is conforms
    assert Conformance(schema).holds(json.dumps(shaped).encode())
    assert shape(obj, schema) == gone
    assert obj == shaped


def test_what_is_whole_stays_the_bytes_that_it_is() -> None:
    document = b'{"apiVersion":"g/v1", "kind":"W","spec":{"a":9007199254740993}}'
    shaper = Shaper({"v1": spec(a={"type": "integer"})})
    assert shaper.shaped(document) is document
    assert shaper.shaped(document[:-2] + b',"b":1.0}}') == (
        b'{"apiVersion":"g/v1","kind":"W","spec":{"a":9007199254740993}}'
    )


@pytest.mark.parametrize(
    "document", [b"", b"[]", b"{", b'{"apiVersion":1}', b"k8s\0", b'{"apiVersion":"g/v7"}']
)
def test_what_is_no_object_is_left_alone(document: bytes) -> None:
    assert Shaper({"v1": spec(a=TEXT), "v2": spec(a=ROUND)}).shaped(document) == document


def test_each_version_has_its_own_schema() -> None:
    shaper = Shaper({"v1": spec(a=TEXT), "v2": spec(a=ROUND)})
    assert json.loads(shaper.shaped(b'{"apiVersion":"g/v2","kind":"W","spec":{}}'))["spec"] == {"a": "round"}
    assert json.loads(shaper.shaped(b'{"apiVersion":"g/v1","kind":"W","spec":{}}'))["spec"] == {}


def definition(**members: Any) -> dict[str, Any]:
    names = {"plural": "ws", "kind": "W"}
    versions = [
        {"name": "v1alpha1", "served": True, "deprecated": True},
        {"name": "v1beta1", "served": False, "schema": {"openAPIV3Schema": spec(a=TEXT)}},
        {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": spec(a=ROUND)}},
        {"name": "v2", "served": True, "deprecated": True, "deprecationWarning": 'not "v2"'},
    ]
    body = {"group": "g", "names": names, "scope": "Cluster", "versions": versions, **members}
    return {"apiVersion": "apiextensions.k8s.io/v1", "spec": body}


def test_a_definition_tells_the_schemas_of_all_versions() -> None:
    resources = resources_of(definition())
    assert set(resources[0].schemas) == {"v1", "v1beta1"}
    assert resources_of(definition(preserveUnknownFields=True))[0].schemas == {}


def test_a_definition_tells_what_is_deprecated() -> None:
    warnings = {r.version: r.deprecation for r in resources_of(definition())}
    assert warnings == {
        "v1": "",
        "v2": 'not "v2"',
        "v1alpha1": "g/v1alpha1 W is deprecated; use g/v1 W",
    }


def test_metadata_is_what_object_meta_has() -> None:
    metadata = {"name": "w", "odd": 1, "ownerReferences": [{"uid": "u", "more": 1}]}
    obj = {"apiVersion": "g/v1", "kind": "W", "metadata": metadata}
    assert shape(obj, {**spec(), "x-kubernetes-preserve-unknown-fields": True}) == [
        "metadata.odd",
        "metadata.ownerReferences[0].more",
    ]
    assert obj["metadata"] == {"name": "w", "ownerReferences": [{"uid": "u"}]}


def test_defaults_of_an_object_are_bounded() -> None:
    """A megabyte in each of 3,000 items would take gigabytes, of a body of 10 KB."""
    large = {"type": "string", "default": "x" * (MOST_DEFAULT_BYTES // 4)}
    parts = {"type": "object", "default": {"a": [{}] * 30_000}, "x-kubernetes-preserve-unknown-fields": True}
    for default in (large, parts):
        schema = spec(list={"type": "array", "items": {"type": "object", "properties": {"a": default}}})
        assert may_be_slow({"v1": schema})
        few = {"spec": {"list": [{} for _ in range(3)]}}
        shape(few, schema)
        assert all(item["a"] == default["default"] for item in few["spec"]["list"])
        with pytest.raises(DefaultsTooLarge, match="limit is 1572864 bytes and 100000 objects"):
            shape({"spec": {"list": [{} for _ in range(3000)]}}, schema)
        stored = json.dumps({"apiVersion": "x/v1", "spec": {"list": [{}] * 3000}}).encode()
        assert Shaper({"v1": schema}).shaped(stored) == stored  # of a definition that changed later
    assert not may_be_slow({"v1": spec(list={"type": "array", "default": []})})


def test_long_lists_of_a_schema_are_looked_up() -> None:
    assert [*required({"required": ["a", "b"] * 10_000})] == ["a", "b"]
    choices: list[Any] = [{"a": [number, {"b": None}]} for number in range(100)]
    assert is_choice({"a": [7, {"b": None}]}, choices) and is_choice({"a": [7.0, {"b": None}]}, choices)
    assert not is_choice({"a": [100, {"b": None}]}, choices) and not is_choice([7], choices)
