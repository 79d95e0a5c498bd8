"""Request bodies decoded into objects: invalid ones, other kinds, duplicates in lists."""

from __future__ import annotations

import json

import pytest

from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.writes.decoding.body import decode_object, summary
from ktui.writes.validation.custom_invariants import list_errors
from tests.unit.writes.bodies import sent
from tests.unit.writes.objects import CONFIG_MAPS, Obj, knows, resource


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"),
        (
            b'{"apiVersion": "v1", "kind"',
            "couldn't get version/kind; json parse error: unexpected end of JSON input "
            '({"apiVersion": "v1", "kind")',
        ),
        (b"[]", "(5b5d)"),
        (b"{" + b" " * 40 + b"?", " ...)"),
        (b'{"a":tru}', "invalid character '}' in literal true (expecting 'e') ({\"a\":tru})"),
        (b'{"a":NaN}', "invalid character 'N' looking for beginning of value ({\"a\":NaN})"),
        (b'{"kind":5}', 'cannot unmarshal number into Go struct field .kind of type string ({"kind":5})'),
        (b'{"apiVersion":"a/b/c"}', 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})'),
    ],
)
def test_bodies_that_are_no_object(body: bytes, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        decode_object(sent(body, "application/json"), CONFIG_MAPS, knows)
    assert caught.value.code == 400
    assert caught.value.message.startswith(
        "the object provided is unrecognized (must be of type ConfigMap): "
    )
    assert caught.value.message.endswith(message)


def test_half_a_pair_is_replaced() -> None:
    obj = decode_object(sent(b'{"data":{"a":"\\ud800","b":"\\ud83d\\ude00"}}'), CONFIG_MAPS, knows)
    assert obj["data"] == {"a": "\ufffd", "b": "\U0001f600"}


def test_null_is_an_object_that_says_nothing() -> None:
    assert decode_object(sent(b"null"), CONFIG_MAPS, knows) == {"kind": "ConfigMap", "apiVersion": "v1"}


def test_kind_and_version_may_be_left_out_of_built_ins() -> None:
    obj = decode_object(sent(b'{"metadata":{"name":"x"}}'), CONFIG_MAPS, knows)
    assert (obj["kind"], obj["apiVersion"]) == ("ConfigMap", "v1")


def test_another_kind_is_refused() -> None:
    with pytest.raises(StatusError, match=r"Secret in version .* cannot be handled as a ConfigMap"):
        decode_object(sent(b'{"apiVersion":"v1","kind":"Secret"}', "application/json"), CONFIG_MAPS, knows)


def test_other_media_types_are_refused() -> None:
    with pytest.raises(StatusError) as caught:
        decode_object(sent(b"{}", "text/plain"), CONFIG_MAPS, knows)
    assert caught.value.code == 415


def test_long_bodies_are_summarized() -> None:
    assert summary(b'{"metadata": {"name": "w-nokind"}}') == '{"metadata": {"name": "w-nokin ...'


WIDGETS = Resource(
    "g.io", "v1", "ws", "W", "w", True, versions=("v1", "v2"), custom=True, schemas={"v1": {}, "v0": {}}
)


@pytest.mark.parametrize(
    ("where", "api_version", "kind", "code", "message"),
    [
        (
            CONFIG_MAPS,
            "v1",
            "Secret",
            400,
            'Secret in version "v1" cannot be handled as a ConfigMap: '
            "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        ),
        (
            CONFIG_MAPS,
            "v1",
            "Gadget",
            400,
            'Gadget in version "v1" cannot be handled as a ConfigMap: no kind "Gadget" is registered for '
            'version "v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
        ),
        (
            resource("horizontalpodautoscalers", "autoscaling", "v2"),
            "autoscaling/v1",
            "HorizontalPodAutoscaler",
            400,
            "the API version in the data (autoscaling/v1) does not match the expected API version "
            "(autoscaling/v2)",
        ),
        (
            resource("events", "events.k8s.io"),
            "v1",
            "Event",
            400,
            "the API version in the data (v1) does not match the expected API version (events.k8s.io/v1)",
        ),
        (
            WIDGETS,
            "g.io/v2",
            "W",
            400,
            "the API version in the data (g.io/v2) does not match the expected API version (g.io/v1)",
        ),
        (
            WIDGETS,
            "apps/v1",
            "W",
            400,
            "the API version in the data (apps/v1) does not match the expected API version (g.io/v1)",
        ),
        (WIDGETS, "g.io/v1", "X", 422, 'X.g.io "n" is invalid: kind: Invalid value: "X": must be W'),
    ],
)
def test_objects_of_another_kind(
    where: Resource, api_version: str, kind: str, code: int, message: str
) -> None:
    body = json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": "n"}}).encode()
    with pytest.raises(StatusError) as caught:
        decode_object(sent(body), where, knows)
    assert (caught.value.code, caught.value.message) == (code, message)


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"set": ["a", "b"], "plain": ["a", "a"]}, []),
        ({"set": ["a", "a", "a"]}, ['spec.set[1]: Duplicate value: "a"']),
        ({"set": [1, True, 1.5]}, []),
        ({"map": [{"k": "a", "v": 1}, {"k": "a", "v": 2}]}, ['spec.map[1]: Duplicate value: {"k":"a"}']),
        ({"map": [{"v": 1}, {"v": 2}]}, ["spec.map[1]: Duplicate value: {}"]),
        ({"in": {"x": ["a", "a"]}}, ['spec.in[x][1]: Duplicate value: "a"']),
    ],
)
def test_nothing_stands_twice_in_a_set_or_a_keyed_list(spec: Obj, errors: list[str]) -> None:
    once = {"type": "array", "x-kubernetes-list-type": "set"}
    keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    members = {"set": once, "map": keyed, "plain": {"type": "array"}, "in": {"additionalProperties": once}}
    schema = {"properties": {"spec": {"properties": members}}}
    assert list(map(str, list_errors({"spec": spec}, schema))) == errors
