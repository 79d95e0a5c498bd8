"""What a definition says of columns, of conversion, and of stored versions."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.validation.definitions import (
    definition_change_errors,
    definition_errors,
    name_errors,
    status_errors,
)

Obj = dict[str, Any]
COLUMN = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
ROOT = {"openAPIV3Schema": {"type": "object"}}
REVIEWS = {"conversionReviewVersions": ["v1"]}
ONLY_WEBHOOK = "Forbidden: should not be set when strategy is not set to Webhook"


def errors(versions: list[Obj], **spec: Any) -> list[str]:
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    whole = {"group": "a.io", "scope": "Cluster", "names": names, "versions": versions, **spec}
    obj = {"metadata": {"name": "things.a.io"}, "spec": whole, "status": {"storedVersions": ["v1"]}}
    if not any(version.get("storage") for version in versions):
        del obj["status"]
    return [str(error) for error in (*definition_errors(obj), *status_errors(obj))]


def version(name: str = "v1", **more: Any) -> Obj:
    return {"name": name, "served": True, "storage": name == "v1", "schema": ROOT, **more}


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (COLUMN, []),
        ({**COLUMN, "format": "int32"}, []),
        ({**COLUMN, "name": ""}, ["name: Required value"]),
        ({**COLUMN, "type": ""}, ["type: Required value: must be one of boolean,date,integer,number,string"]),
        (
            {**COLUMN, "type": "text"},
            ['type: Invalid value: "text": must be one of boolean,date,integer,number,string'],
        ),
        (
            {**COLUMN, "format": "x"},
            [
                'format: Invalid value: "x": must be one of '
                "byte,date,date-time,double,float,int32,int64,password"
            ],
        ),
        ({**COLUMN, "jsonPath": ""}, ["JSONPath: Required value"]),
        (
            {**COLUMN, "jsonPath": "spec.size"},
            ['JSONPath: Invalid value: "spec.size": must be a simple json path starting with .'],
        ),
    ],
)
def test_columns(column: Obj, expected: list[str]) -> None:
    """Columns that all versions have are one list in upstream's internal type."""
    columns = {"additionalPrinterColumns": [column]}
    hoisted = [f"spec.additionalPrinterColumns[0].{error}" for error in expected]
    assert errors([version(**columns)]) == hoisted
    assert errors([version(**columns), version("v2", **columns)]) == hoisted
    single = [f"spec.versions[1].additionalPrinterColumns[0].{error}" for error in expected]
    assert errors([version(), version("v2", **columns)]) == single


@pytest.mark.parametrize(
    ("conversion", "expected"),
    [
        (None, []),
        ({"strategy": "None"}, []),
        ({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a.io"}, **REVIEWS}}, []),
        (
            {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a.io"}}},
            ["conversionReviewVersions: Required value"],
        ),
        ({}, ["strategy: Required value"]),
        ({"strategy": "X"}, ['strategy: Unsupported value: "X": supported values: "None", "Webhook"']),
        (
            {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v2"]}},
            [
                "webhookClientConfig: Required value: required when strategy is set to Webhook",
                'conversionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
            ],
        ),
        (
            {"strategy": "Webhook", "webhook": {"clientConfig": {}, **REVIEWS}},
            ["webhookClientConfig: Required value: exactly one of url or service is required"],
        ),
        (
            {"strategy": "None", "webhook": {"clientConfig": {}, "conversionReviewVersions": ["v1"]}},
            [f"webhookClientConfig: {ONLY_WEBHOOK}", f"conversionReviewVersions: {ONLY_WEBHOOK}"],
        ),
    ],
)
def test_conversion(conversion: Obj | None, expected: list[str]) -> None:
    assert errors([version()], conversion=conversion) == [f"spec.conversion.{error}" for error in expected]


def test_without_a_storage_version_nothing_can_be_stored() -> None:
    one, stored = errors([])
    assert one == "spec.versions: Invalid value: []: must have exactly one version marked as storage version"
    assert stored == "status.storedVersions: Invalid value: null: must have at least one stored version"


def test_stored_versions_are_those_that_are_or_were_stored() -> None:
    obj = {"spec": {"versions": [version(), version()]}, "status": {"storedVersions": ["v1", "v0"]}}
    found = [str(error) for error in status_errors(obj)]
    assert found[0] == 'status.storedVersions: Invalid value: ["v1","v0"]: must have the storage version v1'
    assert found[1].startswith(
        'status.storedVersions[1]: Invalid value: "v0": missing from spec.versions; v0 was'
    )


def test_names() -> None:
    named = {"plural": "Things", "singular": "", "kind": "Thing!", "listKind": "Thing!", "categories": ["A"]}
    found = [error.partition("(e.g.")[0].rstrip() for error in errors([version()], names=named)]
    label = (
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic"
    )
    label += " character, and end with an alphanumeric character"
    mixed = f"may have mixed case, but should otherwise match: {label}"
    assert found == [
        "spec.names.singular: Required value",
        f'spec.names.plural: Invalid value: "Things": {label}',
        f'spec.names.kind: Invalid value: "Thing!": {mixed}',
        f'spec.names.listKind: Invalid value: "Thing!": {mixed}',
        'spec.names.listKind: Invalid value: "Thing!": kind and listKind may not be the same',
        f'spec.names.categories[0]: Invalid value: "A": {label}',
    ]


def test_the_name_is_that_of_a_new_definition_only() -> None:
    old = {"metadata": {"name": "things.a.io"}, "spec": {"names": {"plural": "things"}, "group": "a.io"}}
    new = {**old, "spec": {"names": {}, "group": "a.io"}}
    assert not list(name_errors(old))
    assert [error.field for error in name_errors(new)] == ["metadata.name"]
    changed = next(iter(definition_change_errors(old, new)))
    assert str(changed) == 'spec.names.plural: Invalid value: "": field is immutable'


TEXT = {"type": "string"}
PARTS = "spec.validation.openAPIV3Schema"
LIST = {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}}
KEYED = {**LIST, "x-kubernetes-list-type": "map"}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "array"}, ["items: Required value: must be specified"]),
        ({"type": "text"},
         ['type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", '
          '"object", "string"']),
        ({}, ["type: Required value: must not be empty for specified object fields"]),
        ({"type": "array", "items": {}},
         ["items.type: Required value: must not be empty for specified array items"]),
        ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, []),
        ({"type": "string", "anyOf": [{"type": "integer"}]},
         ["anyOf[0].type: Forbidden: must be empty to be structural"]),
        ({"type": "object", "x-kubernetes-embedded-resource": True},
         ["properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without "
          "x-kubernetes-preserve-unknown-fields"]),
        ({"type": "object", "properties": {"b": TEXT}, "additionalProperties": TEXT},
         ["additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"]),
        ({"type": "object", "properties": {"b": {"type": "string"}}, "default": {"b": 1, "c": 2}},
         ['default: Invalid value: {"b":1,"c":2}: must not have unknown fields',
          'default.b: Invalid value: "integer": b in body must be of type string: "integer"']),
        ({"type": "string", "x-kubernetes-list-type": "set"},
         ['type: Invalid value: "string": must be array if x-kubernetes-list-type is specified']),
        ({**LIST, "x-kubernetes-list-map-keys": ["k"]},
         ["x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty"]),
        (KEYED,
         ["x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map"]),
        ({**KEYED, "x-kubernetes-list-map-keys": ["k", "z"]},
         ['x-kubernetes-list-map-keys: Invalid value: ["k","z"]: entries must all be names of item '
          "properties",
          "items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so "
          "it must have a default or be a required property"]),
        ({**LIST, "x-kubernetes-list-type": "set"},
         ["items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with "
          "x-kubernetes-list-type=set"]),
        ({"type": "string", "x-kubernetes-validations": [{"rule": " "}]},
         ["x-kubernetes-validations[0].rule: Required value: rule is not specified"]),
    ],
)  # fmt: skip
def test_schemas(part: Obj, expected: list[str]) -> None:
    whole = {"openAPIV3Schema": {"type": "object", "properties": {"a": part}}}
    assert errors([version(schema=whole)]) == [f"{PARTS}.properties[a].{error}" for error in expected]


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ({"type": "string"}, '.type: Invalid value: "string": must be object at the root'),
        ({"type": "object", "nullable": True}, ".nullable: Forbidden: nullable cannot be true at the root"),
        ({"type": "object", "not": {"properties": {"b": {"minimum": 1}}}},
         f".properties[b]: Required value: because it is defined in {PARTS}.not.properties[b]"),
        ({"type": "object", "additionalProperties": True},
         ".additionalProperties: Forbidden: must not be used at the root"),
        ({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {}}}}},
         ".properties[metadata]: Forbidden: must not specify anything other than name and generateName, but "
         "metadata is implicitly specified"),
    ],
)  # fmt: skip
def test_the_root_of_a_schema(root: Obj, expected: str) -> None:
    assert f"{PARTS}{expected}" in errors([version(schema={"openAPIV3Schema": root})])


def test_with_a_status_the_root_says_little() -> None:
    parts = {"schema": {"openAPIV3Schema": {"type": "object", "allOf": [{}]}}, "subresources": {"status": {}}}
    (found,) = errors([version(**parts)])
    assert found.startswith(f"{PARTS}: Invalid value: ") and "only [Description Type Format" in found


def test_paths_of_scale_and_of_selectable_fields() -> None:
    scale = {"specReplicasPath": ".status.n", "statusReplicasPath": "n", "labelSelectorPath": ".n"}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}
    paths = [{"jsonPath": path} for path in (".spec", ".spec.x", ".metadata.name", "")]
    parts = {"subresources": {"scale": scale}, "selectableFields": paths, "schema": schema}
    assert [error.partition(": ")[0] for error in errors([version(**parts)])] == [
        *(f"spec.subresources.scale.{name}" for name in scale),
        *(f"spec.selectableFields[{index}].jsonPath" for index in (0, 1, 2, 3)),
    ]
