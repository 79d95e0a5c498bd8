"""Answers in protobuf, read back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.resources import BUILTIN, Resource
from ktui.wire import stored_codec
from ktui.wire.codec import codec_for, encode_object
from ktui.wire.encode import encode_message, envelope_of
from ktui.wire.envelope import open_value
from ktui.wire.pb import CodecError, put_bytes, walk
from ktui.wire.pieces import with_resource_version
from ktui.wire.stored_codec import Messages

CODEC = codec_for()
MESSAGES = Messages(CODEC)


def resource(group: str, version: str, name: str) -> Resource:
    found = BUILTIN.find(group, version, name)
    assert found is not None
    return found


CONFIG_MAPS = resource("", "v1", "configmaps")
SCALERS = resource("autoscaling", "v2", "horizontalpodautoscalers")

names = st.text("abcdefghij-", max_size=200)


@given(names, names, st.dictionaries(names, names, max_size=3), st.integers(0, 2**63 - 1))
def test_only_the_resource_version_changes(name: str, uid: str, labels: dict[str, str], rv: int) -> None:
    obj = {"metadata": {"name": name, "uid": uid, "labels": labels}, "data": {"k": name}}
    raw = encode_object(obj, CONFIG_MAPS)
    answer = envelope_of("v1", "ConfigMap", CODEC.message(raw, rv))
    assert CODEC.object_json(answer, None) == CODEC.object_json(raw, rv)
    again = CODEC.message(answer, rv + 1)
    assert again == CODEC.message(raw, rv + 1)


def test_a_message_without_metadata_gets_some() -> None:
    assert with_resource_version(b"", 7) == b"\x0a\x03\x32\x017"


def test_another_version_is_converted() -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    raw = encode_object({"metadata": {"name": "h"}, "spec": {"scaleTargetRef": target}}, SCALERS)
    body = CODEC.message(raw, 5, "autoscaling/v1")
    document = json.loads(CODEC.message_json("autoscaling/v1", "HorizontalPodAutoscaler", body))
    assert document["metadata"]["resourceVersion"] == "5"
    assert document["spec"]["scaleTargetRef"]["name"] == "d"


def test_json_has_no_message() -> None:
    with pytest.raises(CodecError, match="stored as JSON"):
        CODEC.message(b'{"kind":"Widget","apiVersion":"example.io/v1"}', 5)


def test_a_list_is_its_items_in_an_envelope() -> None:
    raw = encode_object({"metadata": {"name": "a"}}, CONFIG_MAPS)
    items = [put_bytes(stored_codec.ITEM, CODEC.message(raw, rv)) for rv in (1, 300)]
    metadata = {"resourceVersion": "9", "continue": "x", "remainingItemCount": 4}
    head = MESSAGES.list_head("v1", "ConfigMapList", metadata, sum(map(len, items)))
    envelope = open_value(head + b"".join(items) + MESSAGES.list_tail)
    assert (envelope.api_version, envelope.kind) == ("v1", "ConfigMapList")
    fields = [(number, value) for number, _, value in walk(envelope.body)]
    assert [number for number, _ in fields] == [1, 2, 2]
    assert fields[0][1] == encode_message("meta.v1.ListMeta", metadata)
    assert CODEC.message(raw, 300) == fields[2][1]


def test_a_status_as_kube_apiserver_writes_it() -> None:
    status: dict[str, object] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "code": 406,
    }
    status |= {"message": "no", "reason": "NotAcceptable"}
    answer = MESSAGES.document(json.dumps(status).encode())
    assert answer == (
        b"k8s\0\n\x0c\n\x02v1\x12\x06Status\x12'\n\x06\n\0\x12\0\x1a\0\x12\x07Failure\x1a\x02no"
        b'"\x0dNotAcceptable0\x96\x03\x1a\0"\0'
    )


def test_a_watch_frame_begins_with_its_size() -> None:
    frame = MESSAGES.frame("ADDED", b"document")
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert [(number, value) for number, _, value in walk(frame[4:])] == [
        (1, b"ADDED"),
        (2, b"\x0a\x08document"),
    ]


def test_metadata_alone() -> None:
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "a"}}
    envelope = open_value(MESSAGES.document(json.dumps(partial).encode()))
    assert (envelope.kind, envelope.body) == (
        "PartialObjectMetadata",
        stored_codec.metadata_of_json({"name": "a"}),
    )


def test_what_is_stored_as_json_is_encoded() -> None:
    service = {"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1", "metadata": {"name": "v1."}}
    raw = json.dumps(service).encode()
    envelope = open_value(MESSAGES.object(raw, 8, "apiregistration.k8s.io/v1", "APIService"))
    shown = json.loads(CODEC.message_json(envelope.api_version, envelope.kind, envelope.body))
    assert shown["metadata"]["resourceVersion"] == "8"
