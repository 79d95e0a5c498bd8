"""What the schema and the scale subresource of a definition demand of a custom resource."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.names import LABEL_1035_FAULT
from ktui.kube.resources import Resource
from ktui.writes.validation.custom_invariants import embedded_fault
from ktui.writes.validation.custom_resources import custom_errors
from ktui.writes.validation.formats import FORMATS, has_format

SPEC: dict[str, Any] = {
    "port": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
    "mail": {"type": "string", "format": "email"},
    "name": {"type": "string", "maxLength": 3},
    "one": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "weight": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "multipleOf": 0.5},
    "limits": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "string"}},
    "list": {"type": "array", "uniqueItems": True, "items": {"type": "integer"}},
    "no": {"type": "string", "not": {"enum": ["x"]}},
    "all": {"type": "integer", "allOf": [{"minimum": 1}, {"maximum": 2}]},
}
SCHEMA = {"type": "object", "properties": {"spec": {"type": "object", "properties": SPEC}}}
SCALE = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.sel"}


def errors(obj: dict[str, Any], schema: Any = SCHEMA, scale: Any = None, part: str = "") -> list[str]:
    kind = Resource("a.b", "v1", "as", "A", "a", True, custom=True, schemas={"v1": schema}, scale=scale or {})
    return [str(error) for error in custom_errors({"metadata": {"name": "a"}, **obj}, kind, part)]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"port": 1, "mail": "a@b.c", "name": "abc", "one": {"a": 1}, "weight": 1.5, "limits": {"a": "b"}},
            [],
        ),
        ({"port": "http", "list": [1, 2], "no": "y", "all": 2}, []),
        (
            {"port": [1]},
            [
                'spec.port: Invalid value: "array": spec.port in body must be of type integer,string: '
                '"array"',
                '<nil>: Invalid value: "": "spec.port" must validate at least one schema (anyOf)',
                'spec.port: Invalid value: "array": spec.port in body must be of type integer: "array"',
            ],
        ),
        ({"mail": "x"}, ['spec.mail: Invalid value: "x": spec.mail in body must be of type email: "x"']),
        ({"name": "abcd"}, ["spec.name: Too long: may not be more than 3 bytes"]),
        (
            {"one": {"a": 1, "b": 1}},
            [
                '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). '
                "Found 2 valid alternatives"
            ],
        ),
        (
            {"one": {}},
            [
                '<nil>: Invalid value: "": "spec.one" must validate one and only one schema (oneOf). '
                "Found none valid",
                "spec.one.a: Required value",
            ],
        ),
        ({"weight": 0}, ["spec.weight: Invalid value: 0: spec.weight in body should be greater than 0"]),
        (
            {"weight": 0.7},
            ["spec.weight: Invalid value: 0.7: spec.weight in body should be a multiple of 0.5"],
        ),
        ({"limits": {"a": "1", "b": "2"}}, ["spec.limits: Too many: 2: must have at most 1 items"]),
        ({"list": [1, 1]}, ['spec.list: Invalid value: "": spec.list in body shouldn\'t contain duplicates']),
        ({"no": "x"}, ['<nil>: Invalid value: "": "spec.no" must not validate the schema (not)']),
        (
            {"all": 3},
            [
                "spec.all: Invalid value: 3: spec.all in body should be less than or equal to 2",
                '<nil>: Invalid value: "": "spec.all" must validate all the schemas (allOf)',
            ],
        ),
    ],
)
def test_values(spec: dict[str, Any], expected: list[str]) -> None:
    assert errors({"spec": spec}) == expected


def test_replicas_that_the_scale_subresource_reads() -> None:
    assert errors({"spec": {"n": 2}, "status": {"n": 0, "sel": "a=b"}}, {}, SCALE) == []
    assert errors({"spec": {"n": -1}}, {}, SCALE) == [
        ".spec.n: Invalid value: -1: should be a non-negative integer"
    ]
    assert errors({"spec": {"n": 1 << 31}}, {}, SCALE) == [
        ".spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647"
    ]
    other = {"spec": {"n": -1}, "status": {"n": "x", "sel": 1}}
    assert errors(other, {}, SCALE, "status") == [
        ".status.n: Invalid value: 0: .status.n accessor error: x is of the type string, expected int64",
        '.status.sel: Invalid value: "": .status.sel accessor error: 1 is of the type int64, expected string',
    ]


def test_rules_of_the_schema_are_not_checked_after_some_errors() -> None:
    ruled = {**SCHEMA, "x-kubernetes-validations": [{"rule": "true"}]}
    assert errors({"spec": []}, ruled)[1:] == [
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation"
    ]
    assert len(errors({"spec": {"weight": 0}}, ruled)) == 1  # a bound is not one of them
    assert len(errors({"metadata": {}}, ruled)) == 1  # a missing name is


@pytest.mark.parametrize(
    ("name", "valid", "wrong"),
    [
        ("ipv4", "10.0.0.1", "10.0.0"),
        ("ipv6", "fd00::1", "10.0.0.1"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("mac", "01:23:45:67:89:ab", "01:23"),
        ("uuid", "9a9c50f7-71cf-4753-80f6-5a8e9efd675d", "9a9c50f7"),
        ("hostname", "a.example", "a_b"),
        ("email", "jane@example.org", "jane"),
        ("uri", "https://a.example/b", "a"),
        ("date", "2026-02-28", "2026-02-30"),
        ("date-time", "2026-02-28T01:02:03.5Z", "2026-02-28 01:02:03"),
        ("datetime", "2026-02-28t01:02:03+01:00", "now"),
        ("duration", "1h30m", "soon"),
        ("byte", "YQ==", "Y"),
        ("unheard-of", "anything", None),
    ],
)
def test_formats(name: str, valid: str, wrong: str | None) -> None:
    assert has_format(valid, name)
    assert wrong is None or not has_format(wrong, name)


def test_a_long_text_costs_little() -> None:
    for name in FORMATS:
        has_format("a.-1:" * 19_000, name)


RULES = {
    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["key"],
    "items": {"type": "object", "properties": {"key": {"type": "string"}, "n": {"type": "integer"}}},
}  # fmt: skip
PART = {
    "type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True,
}  # fmt: skip
CHANGING = {"type": "object", "properties": {
    "spec": {"type": "object", "properties": {
        "rules": RULES, "n": {"type": "integer", "format": "int32", "maximum": 1e6}, "part": PART,
    }},
}}  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"n": "x", "rules": []}, {"n": "x", "rules": [{"key": "a"}]}, []),
        ({"n": 1}, {"n": True}, ['spec.n: Invalid value: "": spec.n in body must be of type int32: ""']),
        ({"rules": [{"key": "a", "n": "x"}]}, {"rules": [{"key": "b"}, {"key": "a", "n": "x"}]}, []),
        ({"rules": [{"key": "a", "n": "x"}]}, {"rules": [{"key": "b", "n": "x"}]},
         ['spec.rules[0].n: Invalid value: "string": spec.rules[0].n in body must be of type integer: '
          '"string"']),
        ({"rules": [{"key": "a"}] * 2}, {"rules": [{"key": "b"}] * 2}, []),
    ],
)  # fmt: skip
def test_an_update_may_leave_what_is_wrong(old: Any, new: Any, expected: list[str]) -> None:
    kind = Resource("a.b", "v1", "as", "A", "a", True, custom=True, schemas={"v1": CHANGING})
    before, after = ({"metadata": {"name": "a"}, "spec": spec} for spec in (old, new))
    assert [str(error) for error in custom_errors(after, kind, old=before)] == expected
    if not expected and old != {"rules": [{"key": "a"}] * 2}:  # lists are older than the gate
        assert custom_errors(after, kind, old=before, minor=29)


MIXED = f"may have mixed case, but should otherwise match: {LABEL_1035_FAULT}"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"n": 2**31}, [
            '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.n',
            "spec.n: Invalid value: 2147483648: spec.n in body should be less than or equal to 1e+06",
        ]),
        ({"n": 1.5}, [
            'spec.n: Invalid value: "float64": spec.n in body must be of type int32: "float64"',
            '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.n',
        ]),
        ({"n": {}}, ['spec.n: Invalid value: "": spec.n in body must be of type int32: ""']),
        ({"n": "x"}, ['spec.n: Invalid value: "string": spec.n in body must be of type integer: "string"']),
        ({"rules": [{"key": "a"}, 5]}, [
            'spec.rules[1]: Invalid value: "integer": spec.rules[1] in body must be of type object: '
            '"integer"',
            "spec.rules[1]: Invalid value: 5: must be an object for an array of list-type map",
        ]),
        ({"part": {"kind": "P!"}}, [
            "spec.part.apiVersion: Required value",
            f'spec.part.kind: Invalid value: "P!": {MIXED}',
        ]),
        ({"part": {"apiVersion": "a/b/c", "kind": "P"}},
         ['spec.part.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c']),
    ],
)  # fmt: skip
def test_numbers_keys_and_embedded_objects(spec: Any, expected: list[str]) -> None:
    assert errors({"spec": spec}, CHANGING) == expected


def test_what_scale_reads_must_be_there_or_of_its_type() -> None:
    path = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    why = ".spec.n accessor error: x is of the type string, expected map[string]interface{}"
    assert errors({"spec": "x"}, path, SCALE) == [f".spec.n: Invalid value: 0: {why}"]
    assert errors({"spec": None}, path, SCALE) == []
    why = ".spec.n accessor error: <nil> is of the type <nil>, expected int64"
    assert errors({"spec": {"n": None}}, path, SCALE) == [f".spec.n: Invalid value: 0: {why}"]


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ({"kind": 5}, "spec.part.kind: Invalid value: 5: must be a string"),
        ({"metadata": "x"}, 'spec.part.metadata: Invalid value: "x": json: cannot unmarshal string into Go '
                            "value of type v1.ObjectMeta"),
        ({"metadata": {}}, "None"), ("x", "None"),
    ],
)  # fmt: skip
def test_embedded_objects_that_cannot_be_decoded(part: Any, fault: str) -> None:
    assert str(embedded_fault({"kind": 5, "metadata": 5, "spec": {"part": part}}, CHANGING)) == fault
