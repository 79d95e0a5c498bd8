"""What a definition says of columns, of conversion, and of stored versions."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.validation.updates.definitions import definition_errors

Obj = dict[str, Any]
COLUMN = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
ROOT = {"openAPIV3Schema": {"type": "object"}}
ONLY_WEBHOOK = "Forbidden: should not be set when strategy is not set to Webhook"


def errors(versions: list[Obj], **spec: Any) -> list[str]:
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    whole = {"group": "a.io", "scope": "Cluster", "names": names, "versions": versions, **spec}
    obj = {"metadata": {"name": "things.a.io"}, "spec": whole, "status": {"storedVersions": ["v1"]}}
    if not any(version.get("storage") for version in versions):
        del obj["status"]
    return [str(error) for error in definition_errors(obj)]


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
        ({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://a.io"}}}, []),
        ({}, ["strategy: Required value"]),
        ({"strategy": "X"}, ['strategy: Unsupported value: "X": supported values: "None", "Webhook"']),
        (
            {"strategy": "Webhook"},
            ["webhookClientConfig: Required value: required when strategy is set to Webhook"],
        ),
        (
            {"strategy": "Webhook", "webhook": {"clientConfig": {}}},
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
    assert (
        one == "spec.versions: Invalid value: null: must have exactly one version marked as storage version"
    )
    assert stored == "status.storedVersions: Invalid value: null: must have at least one stored version"
