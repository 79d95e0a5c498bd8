import json

import pytest

from ktui.wire.codec import Codec, CodecError, codec_for, fill
from ktui.wire.encode import encode_message, envelope_of
from ktui.wire.transcode import Transcoder
from tests.unit.wire.corpus import Golden, golden, identical


@pytest.fixture(params=golden(), ids=lambda value: value.note)
def value(request: pytest.FixtureRequest) -> Golden:
    return request.param


def test_an_object_is_what_a_server_answers(value: Golden) -> None:
    assert identical(json.loads(codec_for().object_json(value.raw, 4711)), value.served)


def test_an_item_of_a_list_has_no_kind_unless_it_is_custom(value: Golden) -> None:
    item = json.loads(b"".join(codec_for().item_pieces(value.raw, 4711)))
    custom = value.served["apiVersion"] == "example.io/v1"
    expected = {k: v for k, v in value.served.items() if custom or k not in ("kind", "apiVersion")}
    assert identical(item, expected)


def test_a_filled_template_is_the_document(value: Golden) -> None:
    assert fill(codec_for().object_template(value.raw), 4711) == codec_for().object_json(value.raw, 4711)


def test_sharing_changes_nothing(value: Golden) -> None:
    alone, tight = Codec(share_bytes=0), Codec(share_bytes=300)
    for _ in range(2):
        assert alone.object_json(value.raw, 4711) == tight.object_json(value.raw, 4711)
    assert tight.transcoder.budget.held < 100_000


@pytest.mark.parametrize("met_before", [False, True])
def test_every_prefix_of_a_value_is_refused_with_a_reason(value: Golden, met_before: bool) -> None:
    for end in range(len(value.raw) - 5):
        codec = codec_for() if met_before else Codec()
        if met_before:
            codec.object_json(value.raw, 1)
        with pytest.raises(CodecError) as error:
            codec.object_json(value.raw[:end], 1)
        assert error.value.reason


def test_without_a_revision_the_stored_one_is_kept() -> None:
    raw = envelope_of(
        "v1", "ConfigMap", encode_message("core.v1.ConfigMap", {"metadata": {"resourceVersion": "9"}})
    )
    assert json.loads(codec_for().object_json(raw, None))["metadata"]["resourceVersion"] == "9"
    assert json.loads(codec_for().object_json(raw, 10))["metadata"]["resourceVersion"] == "10"


def test_kind_and_api_version_come_first() -> None:
    pod = next(value for value in golden() if value.served["kind"] == "Pod")
    assert (
        codec_for()
        .object_json(pod.raw, 1)
        .startswith(b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0",')
    )


def test_as_stored_leaves_out_what_a_server_adds() -> None:
    stateful = next(value for value in golden() if value.served["kind"] == "StatefulSet")
    stored = json.loads(codec_for(as_stored=True).object_json(stateful.raw, None))
    assert "kind" not in stored["spec"]["volumeClaimTemplates"][0]


@pytest.mark.parametrize(
    ("message", "obj", "release", "path", "expected"),
    [
        ("core.v1.PodSpec", {"workloadRef": {"name": "w"}}, 35, "workloadRef", True),
        ("core.v1.PodSpec", {"workloadRef": {"name": "w"}}, 36, "workloadRef", False),
        ("core.v1.PodSpec", {"workloadRef": {"name": "w"}}, None, "workloadRef", True),
        ("resource.v1alpha3.DeviceTaintRule", {}, 34, "status", False),
        ("resource.v1alpha3.DeviceTaintRule", {}, 35, "status", True),
        ("storage.v1.CSINode", {}, 36, "status", False),
        ("storage.v1.CSINode", {}, 37, "status", True),
        ("storage.v1.CSINode", {}, None, "status", False),
        ("core.v1.PodTemplateSpec", {}, 33, "metadata.creationTimestamp", True),
        ("core.v1.PodTemplateSpec", {}, 34, "metadata.creationTimestamp", False),
    ],
)
def test_a_release_shows_the_fields_it_knows(
    message: str, obj: dict[str, object], release: int | None, path: str, expected: bool
) -> None:
    shown = json.loads(codec_for(release).transcoder.object(message)(encode_message(message, obj)))
    *above, name = path.split(".")
    for part in above:
        shown = shown[part]
    assert (name in shown) is expected


def test_fields_of_another_order_and_unknown_ones_are_read() -> None:
    newer = b"\xfa\x07\x03abc"  # field 127
    name, labels = b"\x0a\x03web", b"\x5a\x08\x0a\x03app\x12\x01x"
    meta = labels + newer + name
    raw = envelope_of("v1", "ConfigMap", b"\x0a" + bytes([len(meta)]) + meta)
    assert json.loads(codec_for().object_json(raw, 1))["metadata"] == {
        "name": "web",
        "labels": {"app": "x"},
        "resourceVersion": "1",
    }


def test_a_message_in_two_parts_is_merged_and_a_scalar_replaced() -> None:
    raw = envelope_of("v1", "ConfigMap", b"\x0a\x05\x0a\x03web" + b"\x0a\x0a\x0a\x03web\x1a\x03abc")
    assert json.loads(codec_for().object_json(raw, 1))["metadata"] == {
        "name": "web",
        "namespace": "abc",
        "resourceVersion": "1",
    }


def test_packed_numbers_are_read() -> None:
    gids = codec_for().transcoder.object("core.v1.PodSecurityContext")
    assert json.loads(gids(b"\x22\x03\x01\xac\x02")) == {"supplementalGroups": [1, 300]}


def test_text_that_is_not_utf8_and_control_characters_stay_valid_json() -> None:
    data = b'\xff\xe2\x82 \x00\x1b[31m"\\\x7f'
    raw = envelope_of(
        "v1",
        "ConfigMap",
        b"\x0a\x00\x12" + bytes([len(data) + 5]) + b"\x0a\x01k\x12" + bytes([len(data)]) + data,
    )
    assert json.loads(codec_for().object_json(raw, 1))["data"] == {
        "k": '\ufffd\ufffd\ufffd \x00\x1b[31m"\\\x7f'
    }


def test_a_nested_envelope_prints_as_its_object() -> None:
    inner = envelope_of("v1", "Secret", encode_message("core.v1.Secret", {"type": "Opaque"}))
    message = (
        encode_message("meta.v1.WatchEvent", {"type": "ADDED"})[:-2]
        + b"\x12"
        + bytes([len(inner) + 2])
        + b"\x0a"
        + bytes([len(inner)])
        + inner
    )
    shown = json.loads(codec_for().message_json("v1", "WatchEvent", message))
    assert shown == {
        "type": "ADDED",
        "object": {"kind": "Secret", "apiVersion": "v1", "metadata": {}, "type": "Opaque"},
    }


def test_a_custom_resource_keeps_its_numbers_and_loses_a_stored_revision() -> None:
    numbers = b'[9007199254740993,-9223372036854775808,1e21,1.0,"\\u0000"]'
    metadata = b'"metadata":{"name":"n","resourceVersion":"3"}'
    raw = b'{"apiVersion":"x.io/v1","kind":"W",' + metadata + b',"n":' + numbers + b"}\n"
    shown = codec_for().object_json(raw, 12)
    assert b'"n":' + numbers in shown
    assert json.loads(shown)["metadata"] == {"name": "n", "resourceVersion": "12"}
    assert json.loads(codec_for().object_json(raw, 12, "x.io/v2"))["apiVersion"] == "x.io/v2"


@pytest.mark.parametrize(
    "raw", [b"{}", b'{"a":1}', b'{"apiVersion":"v1","kind":"X","metadata":[]}', b"{" * 200_000]
)
def test_json_that_is_no_object_of_kubernetes_is_refused(raw: bytes) -> None:
    with pytest.raises(CodecError):
        codec_for().object_json(raw, 1)


def test_a_message_nested_without_end_is_refused() -> None:
    schema = b""
    for _ in range(5000):
        size = len(schema)
        length = bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
        schema = b"\xe2\x01" + length + schema  # JSONSchemaProps.not
    with pytest.raises(CodecError):
        codec_for().message_json("apiextensions.k8s.io/v1", "CustomResourceDefinition", b"\x12" + schema)


def test_nothing_inlined_before_something() -> None:
    """A volume without a source: its inlined struct prints nothing, and stands before what does."""
    spec = {"accessModes": ["ReadWriteOnce"], "volumeMode": "Block"}
    raw = envelope_of("v1", "PersistentVolume", encode_message("core.v1.PersistentVolume", {"spec": spec}))
    assert json.loads(codec_for().object_json(raw, 7))["spec"] == spec


def test_a_prepared_kind_needs_no_further_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    codec, pods = Codec(), [value for value in golden() if value.served["kind"] == "Pod"]
    codec.prepare("v1", "Pod")

    def generate(_: Transcoder, message: str) -> None:
        raise AssertionError(message)

    monkeypatch.setattr(Transcoder, "_generate", generate)
    for value in pods:
        assert identical(json.loads(codec.object_json(value.raw, 4711)), value.served)
    assert pods
