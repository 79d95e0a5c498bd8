"""The swagger document as a message, read back field by field."""

from __future__ import annotations

from typing import Any

from ktui.wire.openapi import document_message
from ktui.wire.pb import walk

INFO = {"swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.36"}}


def read(message: Any) -> dict[int, list[bytes]]:
    """The fields of a message by their numbers, as bytes."""
    assert isinstance(message, bytes)
    found: dict[int, list[bytes]] = {}
    for number, _, value in walk(message):
        assert isinstance(value, bytes)
        found.setdefault(number, []).append(value)
    return found


def schema_of(definition: dict[str, Any]) -> dict[int, list[bytes]]:
    """The message of the only definition of a document."""
    document = read(document_message({**INFO, "definitions": {"io.a.B": definition}}))
    (named,) = read(document[9][0])[1]
    fields = read(named)
    assert fields[1] == [b"io.a.B"]
    return read(fields[2][0])


def test_a_document_has_its_version_and_no_paths() -> None:
    document = read(document_message({**INFO, "definitions": {}}))
    assert document[1] == [b"2.0"]
    assert read(document[2][0]) == {1: [b"Kubernetes"], 2: [b"v1.36"]}
    assert document[8] == [b""]
    assert document[9] == [b""]


def test_texts_types_and_required_members() -> None:
    found = schema_of(
        {"description": "a b", "type": "string", "format": "byte", "$ref": "#/x", "required": ["a", "b"]}
    )
    assert (found[1], found[2], found[4]) == ([b"#/x"], [b"byte"], [b"a b"])
    assert found[19] == [b"a", b"b"]
    assert read(found[22][0]) == {1: [b"string"]}


def test_items_properties_and_other_members_are_schemas() -> None:
    text = {"type": "string"}
    found = schema_of(
        {"items": text, "additionalProperties": text, "properties": {"a": text, "b": {"items": text}}}
    )
    (items,) = read(found[23][0])[1]
    (additional,) = read(found[21][0])[1]
    assert read(read(items)[22][0]) == read(read(additional)[22][0]) == {1: [b"string"]}
    first, second = map(read, read(found[25][0])[1])
    assert (first[1], second[1]) == ([b"a"], [b"b"])
    assert 23 in read(second[2][0])


def test_extensions_are_json() -> None:
    kinds = [{"group": "apps", "kind": "Deployment", "version": "v1"}]
    (extension,) = schema_of({"x-kubernetes-group-version-kind": kinds})[31]
    named = read(extension)
    assert named[1] == [b"x-kubernetes-group-version-kind"]
    assert read(named[2][0]) == {2: [b'[{"group": "apps", "kind": "Deployment", "version": "v1"}]']}


def test_what_is_longer_than_a_byte_says_has_a_longer_length() -> None:
    assert schema_of({"description": "x" * 300})[4] == [b"x" * 300]
