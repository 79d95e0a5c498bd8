"""What is said of objects that do not fit their type or their schema."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ktui.apiserver.api import warning_of
from ktui.documents.jsonreader import duplicate_fields
from ktui.kube.status import StatusError
from ktui.kube.versions import behaviour_of
from ktui.writes.decoding.body import YAML, SentBody, Unfit, check_metadata, decode_object
from ktui.writes.objectmeta import validate_metadata
from ktui.writes.validation.custom_resources import validate
from ktui.writes.validation.objects import change_errors, new_errors

from .objects import resource

SCHEMA = {
    "type": "object",
    "properties": {
        "metadata": {"type": "string"},  # never looked at
        "spec": {
            "type": "object",
            "required": ["color"],
            "properties": {
                "color": {"type": "string", "enum": ["red", "blue"], "maxLength": 3},
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "name": {"type": "string", "pattern": "^[a-z]+$"},
                "port": {"x-kubernetes-int-or-string": True, "type": "integer"},
                "list": {"type": "array", "maxItems": 1, "items": {"type": "boolean"}},
                "maybe": {"type": "string", "nullable": True},
                "map": {"type": "object", "additionalProperties": {"type": "number"}},
            },
        },
    },
}


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ({"color": "red", "size": 9, "port": "http", "maybe": None, "map": {"a": 1.5}}, ""),
        ("str", 'spec: Invalid value: "string": spec in body must be of type object: "string"'),
        ({}, "spec.color: Required value"),
        ({"color": "tan"}, 'spec.color: Unsupported value: "tan": supported values: "red", "blue"'),
        ({"color": "red", "size": 0}, "spec.size in body should be greater than or equal to 1"),
        ({"color": "red", "size": 1.5}, "spec.size in body must be of type integer"),
        ({"color": "red", "size": True}, 'must be of type integer: "boolean"'),
        ({"color": "red", "name": "A"}, "should match '^[a-z]+$'"),
        ({"color": "red", "list": [True, 1]}, "spec.list: Too many: 2: must have at most 1 items"),
        ({"color": "red", "list": [1]}, "spec.list[0] in body must be of type boolean"),
        ({"color": "red", "map": {"a": "x"}}, "spec.map.a in body must be of type number"),
    ],
)
def test_custom_resources_are_validated(spec: Any, error: str) -> None:
    errors = [*validate({"metadata": {"name": "w"}, "spec": spec}, SCHEMA)]
    assert (error in str(errors[0])) if error else not errors


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        (b'{"a": 1, "a": 2}', ["a"]),
        (b'{"d": {"x": 1, "x": 2}, "l": [{}, {"k": 1, "k": 1}]}', ["d.x", "l[1].k"]),
        (b'{"a": {"x": 1}, "b": {"x": 1}}', []),
        (b"nonsense", []),
    ],
)
def test_members_that_stand_twice(body: bytes, paths: list[str]) -> None:
    assert duplicate_fields(body) == paths


@pytest.mark.parametrize(
    "metadata", [5, {"labels": 5}, {"labels": {"a": 1}}, {"annotations": []}, {"finalizers": "x"}]
)
def test_metadata_of_wrong_types(metadata: Any) -> None:
    with pytest.raises(Unfit):
        check_metadata({"metadata": metadata})


def test_a_message_that_cannot_be_decoded_is_refused() -> None:
    pods = resource("pods")
    media = "application/vnd.kubernetes.protobuf"
    decoded = SentBody(b"k8s\0rest", media, {"kind": "Pod", "apiVersion": "v1"})
    assert decode_object(decoded, pods, lambda *_: True)["kind"] == "Pod"
    with pytest.raises(StatusError, match=r"must be of type Pod\): no message"):
        undecodable = SentBody(b'{"a": 1}', media, message_error=ValueError("no message"))
        decode_object(undecodable, pods, lambda *_: True)


@pytest.mark.parametrize(
    ("name", "group", "old", "new", "field"),
    [
        ("configmaps", "", {"immutable": True, "data": {"a": "1"}}, {"immutable": True, "data": {}}, "data"),
        (
            "deployments",
            "apps",
            {"spec": {"selector": {"a": "b"}}},
            {"spec": {"selector": {}}},
            "spec.selector",
        ),
    ],
)
def test_what_must_not_change(name: str, group: str, old: Any, new: Any, field: str) -> None:
    assert [error.field for error in change_errors(old, new, resource(name, group))] == [field]


def test_what_was_stored_without_its_defaults_is_unchanged_by_them() -> None:
    old: dict[str, Any] = {"kind": "StorageClass", "provisioner": "p"}
    new = {**old, "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}
    assert change_errors(old, new, resource("storageclasses", "storage.k8s.io")) == []
    assert "reclaimPolicy" not in old


def test_containers_have_names_and_images() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "A_b"}]}}
    with pytest.raises(StatusError) as caught:
        validate_metadata(pod, resource("pods"), new_errors(pod, resource("pods"), 36))
    causes = caught.value.body()["details"]["causes"]
    assert [cause["field"] for cause in causes] == ["spec.containers[0].name", "spec.containers[0].image"]


@pytest.mark.parametrize(("minor", "warns"), [("1.32", False), ("1.33", True)])
def test_deprecated_kinds_warn(minor: str, warns: bool) -> None:
    assert bool(warning_of(resource("endpoints"), behaviour_of(minor))) is warns
    assert warning_of(resource("pods"), behaviour_of(minor)) == ""


def test_duplicates_come_where_their_second_values_begin() -> None:
    body = b'{"d":{"a":1,"a":2},"f":1,"l":[{"x":1,"x":1}],"f":2,"f":3}'
    assert duplicate_fields(body) == ["d.a", "l[0].x", "f"]


DOCUMENT = b'{"n": 0, "spec": {"b": 1, "n": 1, "n": 2, "a": {"b": 1, "b": 2, "c": [0, {"d": 1}]}}, "a": 1}'
UNKNOWN = [f'unknown field "{path}"' for path in ("a", "spec.b", "spec.a.c[1].d")]
TWICE = 'duplicate field "spec.n"', 'duplicate field "spec.a.b"'


def test_faults_come_in_the_order_of_the_document() -> None:
    body = SentBody(DOCUMENT, "", None, TWICE)
    assert body.faults(resource("pods"), UNKNOWN) == [UNKNOWN[1], *TWICE, UNKNOWN[2], UNKNOWN[0]]
    custom = dataclasses.replace(resource("pods"), custom=True)
    assert body.faults(custom, UNKNOWN) == [*TWICE, *UNKNOWN]


def test_faults_of_yaml_are_sorted_by_name() -> None:
    body = SentBody(b"", YAML, None, ("yaml: unmarshal errors:",))
    unknown = [f'unknown field "{path}"' for path in ("z", "l[10].b", "l[9].c", "l[9].a", "a")]
    assert body.faults(resource("pods"), unknown) == [
        "yaml: unmarshal errors:",
        *(unknown[at] for at in (4, 3, 2, 1, 0)),
    ]


def test_a_typed_decoder_skips_what_is_unknown() -> None:
    body = SentBody(b"{}", "", None, ('duplicate field "a"', 'duplicate field "b"'))
    unknown = ['unknown field "b"']
    assert body.faults(resource("pods"), unknown) == ['duplicate field "a"', *unknown]
