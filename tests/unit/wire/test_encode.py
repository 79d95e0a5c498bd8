import base64
import json
from typing import Any

import pytest

from ktui.kube.resources import BUILTIN, builtin
from ktui.wire.codec import CodecError, codec_for
from ktui.wire.encode import encode_message, encode_object
from ktui.wire.envelope import open_value
from tests.unit.wire.corpus import Golden, golden, resource_of


@pytest.fixture(params=golden(), ids=lambda value: value.note)
def value(request: pytest.FixtureRequest) -> Golden:
    return request.param


def test_what_was_served_encodes_to_what_was_stored(value: Golden) -> None:
    assert encode_object(value.served, resource_of(value.served)) == value.raw


def _pod(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}


def _encoded(obj: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(codec_for().object_json(encode_object(obj, resource_of(obj)), 1))
    return shown


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"hostNetwork": "yes"}, r"spec\.hostNetwork: expected true or false, got a string"),
        ({"hostNetwork": 1}, r"spec\.hostNetwork: expected true or false, got the number 1"),
        ({"priority": "1"}, r"spec\.priority: expected a number that fits int32, got a string"),
        ({"priority": 1 << 31}, r"spec\.priority: expected a number that fits int32"),
        ({"priority": 1.0}, r"spec\.priority: expected a number that fits int32"),
        ({"priority": True}, r"spec\.priority: expected a number that fits int32, got a boolean"),
        ({"containers": {}}, r"spec\.containers: expected an array, got an object"),
        ({"containers": [{}, "x"]}, r"spec\.containers\[1\]: expected an object, got a string"),
        ({"containers": [{"args": ["a", 2]}]}, r"spec\.containers\[0\]\.args\[1\]: expected a string"),
        ({"nodeSelector": {"disk": 1}}, r"spec\.nodeSelector\.disk: expected a string, got the number 1"),
        ({"nodeSelector": ["disk"]}, r"spec\.nodeSelector: expected an object, got an array"),
        ({"overhead": {"cpu": "1 core"}}, r"spec\.overhead\.cpu: expected a quantity"),
        ({"securityContext": "x"}, r"spec\.securityContext: expected an object, got a string"),
    ],
)
def test_a_wrong_type_names_its_path(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(CodecError, match=message):
        encode_object(_pod(**spec), resource_of(_pod()))


@pytest.mark.parametrize(
    ("kind", "obj", "message"),
    [
        ("Secret", {"data": {"k": "%"}}, r"data\.k: expected base64"),
        ("Secret", {"data": {"k": 1}}, r"data\.k: expected a base64 string"),
        ("Event", {"lastTimestamp": "yesterday"}, "lastTimestamp: expected a time"),
        ("Event", {"lastTimestamp": "2026-13-01T00:00:00Z"}, "lastTimestamp: .*no calendar"),
        ("Service", {"spec": {"ports": [{"targetPort": 1.5}]}}, r"spec\.ports\[0\]\.targetPort: expected"),
        ("Pod", {"metadata": "x"}, "metadata: expected an object, got a string"),
    ],
)
def test_a_value_that_does_not_fit_names_its_path(kind: str, obj: dict[str, Any], message: str) -> None:
    whole = {"apiVersion": "v1", "kind": kind, **obj}
    with pytest.raises(CodecError, match=message):
        encode_object(whole, resource_of(whole))


def test_unknown_fields_are_told_and_left_out() -> None:
    pod = _pod(
        nodeName="n",
        foo=1,
        containers=[{"name": "c", "imagee": "x"}],
        volumes=[{"name": "v", "emptyDir": {}}],
    )
    pod["bar"] = {}
    unknown: list[str] = []
    encode_message("core.v1.Pod", pod, unknown)
    assert set(unknown) == {"bar", "spec.foo", "spec.containers[0].imagee"}
    assert "foo" not in json.loads(codec_for().object_json(encode_object(pod, resource_of(pod)), 1))["spec"]


def test_the_revision_is_stored_empty() -> None:
    pod = _pod()
    pod["metadata"]["resourceVersion"] = "77"
    assert b"77" not in encode_object(pod, resource_of(pod))
    assert pod["metadata"]["resourceVersion"] == "77", "the caller's object is not changed"


def test_times_are_stored_in_utc_without_fractions() -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "lastTimestamp": "2026-11-20T09:27:51.9+02:00",
        "eventTime": "2026-11-20T07:27:51.123456789Z",
    }
    shown = _encoded(event)
    assert shown["lastTimestamp"] == "2026-11-20T07:27:51Z"
    assert shown["eventTime"] == "2026-11-20T07:27:51.123456Z"


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z"]
)
def test_far_times_come_back(text: str) -> None:
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {}, "lastTimestamp": text}
    assert _encoded(event)["lastTimestamp"] == (None if text.startswith("0001") else text)


def test_maps_are_written_by_sorted_key() -> None:
    one = encode_message("core.v1.ConfigMap", {"data": {"b": "2", "a": "1", "ä": "3"}})
    other = encode_message("core.v1.ConfigMap", {"data": {"ä": "3", "a": "1", "b": "2"}})
    assert one == other


def test_an_event_of_the_events_group_is_stored_as_core() -> None:
    event = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "shop"},
        "eventTime": "2026-11-20T07:27:51.000000Z",
        "regarding": {"kind": "Pod", "name": "web"},
        "note": "hello",
        "reportingController": "me",
        "reportingInstance": "me-0",
        "deprecatedCount": 3,
    }
    resource = builtin("events.k8s.io", "events")
    raw = encode_object(event, resource)
    assert open_value(raw).api_version == "v1"
    core = json.loads(codec_for().object_json(raw, 1))
    assert (core["message"], core["involvedObject"]["name"], core["count"]) == ("hello", "web", 3)
    back = json.loads(codec_for().object_json(raw, 1, "events.k8s.io/v1"))
    assert event.items() <= {**back, "metadata": event["metadata"]}.items()
    assert "involvedObject" not in back


def test_binary_data_comes_back() -> None:
    data = base64.b64encode(bytes(range(256))).decode()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": {"all": data}}
    assert _encoded(secret)["data"] == {"all": data}


def test_a_custom_resource_is_stored_as_go_writes_it() -> None:
    obj = {
        "kind": "Widget",
        "apiVersion": "example.io/v1",
        "spec": {"b": "<&>", "a": [1.0, 1e21, 1e-7, 2**53 + 1]},
        "metadata": {"resourceVersion": "5", "name": "n"},
    }
    stored = encode_object(obj, resource_of(obj))
    assert stored == (
        b'{"apiVersion":"example.io/v1","kind":"Widget","metadata":{"name":"n"},'
        b'"spec":{"a":[1,1e+21,1e-7,9007199254740993],"b":"\\u003c\\u0026\\u003e"}}\n'
    )


def test_a_definition_is_stored_as_v1beta1() -> None:
    value = next(value for value in golden() if value.note.startswith("crd"))
    stored = json.loads(value.raw)
    assert stored["apiVersion"] == "apiextensions.k8s.io/v1beta1"
    spec = stored["spec"]
    assert spec["version"] == "v1" and spec["preserveUnknownFields"] is False
    assert spec["additionalPrinterColumns"] == [{"name": "Size", "type": "integer", "JSONPath": ".spec.size"}]
    assert "validation" not in spec, "the versions' schemas differ"
    assert spec["conversion"]["webhookClientConfig"] == {"url": "https://h.example/"}


def test_every_kind_can_be_written_from_nothing() -> None:
    for resource in BUILTIN.preferred():
        if resource.stored and resource.encoding == "protobuf":
            obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": "n"}}
            shown = json.loads(codec_for().object_json(encode_object(obj, resource), 3))
            assert shown["metadata"] == {"name": "n", "resourceVersion": "3"}
