import json
import random
import sys
from dataclasses import replace
from typing import Any

import pytest

from ktui.kube.resources import BUILTIN, Resource, builtin
from ktui.wire.codec import CodecError, codec_for
from ktui.wire.encode import encode_message, encode_object, envelope_of
from ktui.wire.scan import Scanned, Scanner
from tests.unit.wire.corpus import conformance, golden, resource_of


def _scan(resource: Resource, **obj: Any) -> dict[str, str]:
    whole = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": "n"}, **obj}
    return Scanner(resource).scan(encode_object(whole, resource)).fields


def test_a_pod() -> None:
    pod = next(value for value in golden() if value.served["kind"] == "Pod")
    scanned = Scanner(builtin("", "pods")).scan(pod.raw)
    assert (scanned.namespace, scanned.name, scanned.uid) == ("shop", "web-0", pod.served["metadata"]["uid"])
    assert scanned.labels == {"app": "web", "tier": "front"}
    assert scanned.fields == {
        "metadata.name": "web-0",
        "metadata.namespace": "shop",
        "spec.nodeName": "node-1",
        "spec.restartPolicy": "Always",
        "spec.schedulerName": "default-scheduler",
        "spec.serviceAccountName": "default",
        "spec.hostNetwork": "true",
        "status.phase": "Running",
        "status.podIP": "10.244.0.7",
        "status.nominatedNodeName": "",
    }
    assert sys.getsizeof(scanned.fields) == sys.getsizeof(dict.fromkeys(map(str, range(10)), ""))


@pytest.mark.parametrize(
    ("resource", "obj", "field", "value"),
    [
        (("", "pods"), {}, "spec.hostNetwork", "false"),
        (("", "pods"), {}, "spec.nodeName", ""),
        (("", "nodes"), {}, "spec.unschedulable", "false"),
        (("", "nodes"), {"spec": {"unschedulable": True}}, "spec.unschedulable", "true"),
        (("", "replicationcontrollers"), {}, "status.replicas", "0"),
        (("", "replicationcontrollers"), {"status": {"replicas": 300}}, "status.replicas", "300"),
        (("", "secrets"), {"type": "Opaque"}, "type", "Opaque"),
        (("", "namespaces"), {"status": {"phase": "Active"}}, "status.phase", "Active"),
        (("", "events"), {"source": {"component": "a"}, "reportingComponent": "b"}, "source", "a"),
        (("", "events"), {"reportingComponent": "b"}, "source", "b"),
        (("", "events"), {"involvedObject": {"fieldPath": "spec"}}, "involvedObject.fieldPath", "spec"),
        (("batch", "jobs"), {"status": {"succeeded": 2}}, "status.successful", "2"),
        (("events.k8s.io", "events"), {"regarding": {"name": "web"}}, "regarding.name", "web"),
        (("events.k8s.io", "events"), {"reportingController": "k"}, "reportingController", "k"),
        (("", "services"), {"spec": {"clusterIP": "None", "type": "ClusterIP"}}, "spec.clusterIP", "None"),
    ],
)
def test_field_selectors(resource: tuple[str, str], obj: dict[str, Any], field: str, value: str) -> None:
    assert _scan(builtin(*resource), **obj)[field] == value


def test_every_selector_has_a_value_but_one_that_never_has_and_one_that_is_an_alias() -> None:
    for resource in BUILTIN.preferred():
        if resource.stored and resource.encoding == "protobuf":
            missing = set(resource.field_selectors) - set(_scan(resource))
            assert missing == ({"spec.host", "status.podIPs"} if resource.id == "pods" else set()), (
                resource.id
            )


def test_equal_label_sets_are_one() -> None:
    pods = builtin("", "pods")
    scanner = Scanner(pods)
    values = [
        encode_object(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": n, "labels": {"a": "b"}}}, pods
        )
        for n in "xy"
    ]
    one, other = (scanner.scan(value) for value in values)
    assert one.labels is other.labels
    assert one.name != other.name


def test_large_fields_on_the_way_are_skipped() -> None:
    pod = {
        "containers": [{"name": "c", "args": ["x" * size]} for size in (5, 200, 20_000)],
        "hostname": "y" * 300,
        "nodeName": "n1",
        "schedulerName": "z" * 200,
    }
    fields = _scan(builtin("", "pods"), spec=pod)
    assert (fields["spec.nodeName"], fields["spec.schedulerName"]) == ("n1", "z" * 200)


def test_a_value_of_another_version_is_scanned_by_its_own_message() -> None:
    raw = envelope_of(
        "policy/v1beta1",
        "PodDisruptionBudget",
        encode_message("policy.v1beta1.PodDisruptionBudget", {"metadata": {"name": "p"}}),
    )
    assert Scanner(builtin("policy", "poddisruptionbudgets")).scan(raw).name == "p"


def test_a_known_shape_gives_what_walking_gives() -> None:
    """Damages that keep the size: a scanner that knows the shape, and one that knows none."""
    chance = random.Random(7)
    cut = 0
    for value in golden():
        resource = resource_of(value.served)
        learned = Scanner(resource)
        for _ in range(3):
            learned.scan(value.raw)
        for _ in range(60):
            raw = bytearray(value.raw)
            for _ in range(chance.choice((1, 1, 3))):
                raw[chance.randrange(len(raw))] = chance.choice(b"\x00\x01\x08\x0a\x12\x1a\x52\x7f\x80abcz")
            outcome = _outcome(learned, bytes(raw))
            assert outcome == _outcome(Scanner(resource), bytes(raw))
            if isinstance(outcome, Scanned) and learned._shapes:
                cut += learned._shapes.scan(bytes(raw)) is not None
    assert cut > 60, "most damages lie in text, so the shape still fits"


def _outcome(scanner: Scanner, raw: bytes) -> object:
    try:
        return scanner.scan(raw)
    except CodecError as error:
        return error.reason


WIDGETS = Resource(
    "example.io",
    "v1",
    "widgets",
    "Widget",
    "widget",
    True,
    storage_version="example.io/v1",
    encoding="json",
    field_selectors=("spec.size", "spec.on", "spec.color"),
    custom=True,
)


def test_a_custom_resource() -> None:
    metadata = b'"metadata":{"name":"w","namespace":"n","uid":"u","labels":{"a":"b"}}'
    raw = b'{"kind":"Widget",' + metadata + b',"spec":{"size":3,"on":true}}'
    scanned = Scanner(WIDGETS).scan(raw)
    assert (scanned.namespace, scanned.name, scanned.uid, scanned.labels) == ("n", "w", "u", {"a": "b"})
    assert scanned.fields == {
        "metadata.name": "w",
        "metadata.namespace": "n",
        "spec.size": "3",
        "spec.on": "true",
        "spec.color": "",
    }


@pytest.mark.parametrize("spec", [b'"x"', b"[1]", b"null", b'{"size":{"a":1}}'])
def test_an_oddly_shaped_custom_resource_has_empty_fields(spec: bytes) -> None:
    raw = b'{"kind":"Widget","metadata":{"name":"w","labels":{"a":1}},"spec":' + spec + b"}"
    scanned = Scanner(WIDGETS).scan(raw)
    assert scanned.name == "w"
    assert scanned.labels == {"a": "1"}
    assert scanned.fields["spec.size"] == ""


@pytest.mark.parametrize(
    "raw", [b"", b"k8s:enc:aesgcm:v1:k:x", b"\xd9\xd9\xf7", b"k8s\0\x12\x05", b'{"a":', b"[]"]
)
def test_what_cannot_be_read_says_why(raw: bytes) -> None:
    with pytest.raises(CodecError) as error:
        Scanner(builtin("", "pods")).scan(raw)
    assert error.value.reason


def test_scans_agree_with_the_whole_object() -> None:
    for pair in conformance():
        if pair.mod_revision is None or not isinstance(pair.expected.get("metadata"), dict):
            continue
        resource = replace(resource_of(pair.expected), field_selectors=("metadata.name",))
        scanned, meta = (
            Scanner(resource).scan(pair.raw),
            json.loads(codec_for().object_json(pair.raw, 1))["metadata"],
        )
        assert (scanned.name, scanned.namespace, scanned.uid, scanned.labels) == (
            meta.get("name", ""),
            meta.get("namespace", ""),
            meta.get("uid", ""),
            meta.get("labels", {}),
        ), pair.name
