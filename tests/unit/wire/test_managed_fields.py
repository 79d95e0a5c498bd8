"""Stored values without managedFields: everything else is as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.wire.codec import codec_for
from ktui.wire.pb import CodecError
from ktui.wire.stored_edits import document_without, metadata_without, without_managed_fields

from .corpus import golden

CODEC = codec_for()


def stripped(document: dict[str, Any]) -> dict[str, Any]:
    metadata = dict(document.get("metadata") or {})
    metadata.pop("managedFields", None)
    return {**document, "metadata": metadata} if "metadata" in document else document


def test_every_kind_of_the_corpus() -> None:
    seen = 0
    for _, raw, _ in golden():
        whole = json.loads(CODEC.object_json(raw, 7))
        seen += "managedFields" in (whole.get("metadata") or {})
        assert json.loads(CODEC.object_json(without_managed_fields(raw), 7)) == stripped(whole)
    assert seen, "no object of the corpus has managedFields"


def test_documents_keep_their_texts() -> None:
    text = b'{"spec":{"size":1.0,"n":12345678901234567890},"metadata":{"managedFields":[{"a":1}],"name":"x"}}'
    assert document_without(text) == (
        b'{"spec":{"size":1.0,"n":12345678901234567890},"metadata":{"name":"x"}}'
    )
    for same in (b'{"metadata":{"name":"x"}}', b'{"spec":{}}'):
        assert document_without(same) is same


def test_an_annotation_cannot_pass_for_them() -> None:
    quoted = json.dumps({"annotations": {"a": ',"managedFields":['}, "name": "x"}).encode()
    assert metadata_without(b'"metadata":' + quoted) == b'"metadata":' + quoted
    both = quoted[:-1] + b',"managedFields":[{"fieldsV1":{",\\"managedFields\\":[":{}}}]}'
    assert metadata_without(b'"metadata":' + both) == b'"metadata":' + quoted


@pytest.mark.parametrize("raw", [b"k8s\0\x12\x05\x0a", b"k8s\0\x12", b"{", b'{"metadata":[]}'])
def test_what_is_broken_says_so(raw: bytes) -> None:
    with pytest.raises(CodecError):
        without_managed_fields(raw)


def test_what_cannot_be_read_stays() -> None:
    raw = b"k8s:enc:secretbox:v1:key1:abc"
    assert without_managed_fields(raw) is raw
