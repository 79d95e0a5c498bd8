"""Fields that a type does not have, as strict decoding reports them."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.wire.codec import codec_for
from ktui.wire.encode import encode_message
from ktui.wire.gotypes import drop_unknown, unknown_fields

POD = {"metadata": {"labels": {"any": "x"}, "nope": 1}, "spec": {"containers": [{"name": "c", "x": None}, 5]}}


@pytest.mark.parametrize(
    ("kind", "obj", "paths"),
    [
        ("v1 ConfigMap", {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}, []),
        ("v1 ConfigMap", {"dta": {}, "data": {}, "dat": "", "d": None}, ["dta", "dat", "d"]),
        ("v1 Pod", POD, ["metadata.nope", "spec.containers[0].x"]),
        ("v1 Secret", {"stringData": {"a": "b"}, "metadata": {"resourceVersion": "7"}}, []),
        ("apps/v1 Deployment", {"spec": {"template": {"spec": {"kind": ""}}}}, ["spec.template.spec.kind"]),
        (
            "v1 LimitRange",
            {"spec": {"limits": [{"max": {"cpu": "1"}, "maximum": {}}]}},
            ["spec.limits[0].maximum"],
        ),
        ("v1 Pod", {"spec": {"initContainers": "no list"}}, []),
        ("example.io/v1 Widget", {"anything": 1}, []),
    ],
)
def test_unknown_fields(kind: str, obj: dict[str, Any], paths: list[str]) -> None:
    assert unknown_fields(obj, *kind.split(" "), release=None) == paths


def test_a_field_that_a_release_has_removed_is_unknown() -> None:
    pod = {"spec": {"workloadRef": {}}}
    assert unknown_fields(pod, "v1", "Pod", release=36) == ["spec.workloadRef"]
    assert unknown_fields(pod, "v1", "Pod", release=35) == []


@pytest.mark.parametrize(
    ("kind", "spec", "path", "since"),
    [
        ("v1 Pod", {"hostUsers": False}, "spec.hostUsers", 25),
        ("v1 Service", {"trafficDistribution": "PreferClose"}, "spec.trafficDistribution", 30),
        ("v1 Node", {"podPreemptionPolicy": {}}, "spec.podPreemptionPolicy", 37),
        ("batch/v1 CronJob", {"timeZone": "UTC"}, "spec.timeZone", 24),
    ],
)
def test_a_field_of_a_later_release_is_unknown(
    kind: str, spec: dict[str, Any], path: str, since: int
) -> None:
    for release in range(24, 38):
        unknown = unknown_fields({"spec": spec}, *kind.split(" "), release=release)
        assert unknown == ([path] if release < since else [])
    obj: dict[str, Any] = {"spec": dict(spec)}
    drop_unknown(obj, *kind.split(" "), release=36)
    assert obj["spec"] == ({} if since > 36 else spec)


def test_unknown_members_of_kinds_stored_as_json_are_dropped() -> None:
    spec: dict[str, Any] = {"group": "a.b", "nope": 1, "service": {"name": "a", "nope": 2}}
    obj = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "spec": spec, "nope": {}}
    drop_unknown(obj, "apiregistration.k8s.io/v1", "APIService", 36)
    assert obj["spec"] == {"group": "a.b", "service": {"name": "a"}} and set(obj) == {
        "apiVersion",
        "kind",
        "spec",
    }
    metadata = {"labels": {"nope": "label"}, "nope": 1, "ownerReferences": [{"uid": "u", "nope": 1}]}
    definition = {"metadata": metadata}
    drop_unknown(definition, "apiextensions.k8s.io/v1", "CustomResourceDefinition", 36)
    assert metadata == {"labels": {"nope": "label"}, "ownerReferences": [{"uid": "u"}]}


def test_entries_of_a_map_of_lists_are_never_null() -> None:
    message = encode_message(
        "certificates.v1.CertificateSigningRequestSpec", {"extra": {"a": [], "b": ["c"]}}
    )
    request = b"\x12" + bytes([len(message)]) + message
    found = codec_for().message_json("certificates.k8s.io/v1", "CertificateSigningRequest", request)
    assert b'"extra":{"a":[],"b":["c"]}' in found


@pytest.mark.parametrize(("release", "shown"), [(36, True), (37, False)])
def test_a_removed_field_is_printed_as_its_last_version_does(release: int, shown: bool) -> None:
    status = {"nodeAllocatableResourceClaimStatuses": [{"resourceClaimName": "a"}]}
    pod = encode_message("core.v1.Pod", {"status": status})
    found = codec_for(release).message_json("v1", "Pod", pod)
    assert (b'"resources":null' in found) is shown
