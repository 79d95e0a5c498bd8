"""What the server adds to new objects, refuses in them, and warns of."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ktui.kube.status import StatusError
from ktui.writes.admission.runtime_classes import (
    admit_runtime_class,
    check_overhead,
    merged_tolerations,
)
from ktui.writes.before_create import prepare
from ktui.writes.defaults import set_defaults
from ktui.writes.hub_types import through_hub
from ktui.writes.objectmeta import drop_repeated_owners
from ktui.writes.validation.objects import value_errors
from ktui.writes.validation.warnings import service_warnings

from .objects import resource

Obj = dict[str, Any]


def errors(group: str, plural: str, obj: Obj) -> list[str]:
    return [str(error) for error in value_errors(resource(plural, group).id, obj)]


@pytest.mark.parametrize(
    ("own", "about", "fits"),
    [("shop", "shop", True), ("shop", "web", False), ("default", "", True), ("shop", "", False)],
)
@pytest.mark.parametrize(("group", "member"), [("", "involvedObject"), ("events.k8s.io", "regarding")])
def test_an_event_is_about_its_own_namespace(
    group: str, member: str, own: str, about: str, fits: bool
) -> None:
    version = f"{group}/v1" if group else "v1"
    event = {"apiVersion": version, "metadata": {"namespace": own}, member: {"namespace": about}}
    wrong = f'involvedObject.namespace: Invalid value: "{about}": does not match event.namespace'
    assert errors(group, "events", event) == ([] if fits else [wrong])


@pytest.mark.parametrize(
    ("pem", "why"),
    [
        (b"x", "PEM block type must be CERTIFICATE REQUEST"),
        (b"-----BEGIN CERTIFICATE REQUEST-----\neA==\n-----END CERTIFICATE REQUEST-----", "Invalid value"),
    ],
)
def test_a_certificate_request_must_be_one(pem: bytes, why: str) -> None:
    spec = {"request": base64.b64encode(pem).decode(), "signerName": "a.b/c", "usages": ["client auth"]}
    request = {"spec": spec}
    (error,) = errors("certificates.k8s.io", "certificatesigningrequests", request)
    assert error.startswith("spec.request: ") and why in error


def test_overhead_without_a_class_is_forbidden() -> None:
    pod: Obj = {"metadata": {"name": "p"}, "spec": {"overhead": {"cpu": "1"}}}
    with pytest.raises(StatusError, match="Pod Overhead set without corresponding RuntimeClass") as refused:
        check_overhead(pod, None)
    assert refused.value.code == 403
    check_overhead({"spec": {"overhead": {"cpu": "1"}}}, {"overhead": {"podFixed": {"cpu": "1"}}})


def test_a_pod_gets_what_its_runtime_class_demands() -> None:
    spread = {"key": "a", "operator": "Exists"}
    scheduling = {"nodeSelector": {"disk": "ssd"}, "tolerations": [spread]}
    of: Obj = {"overhead": {"podFixed": {"cpu": "1"}}, "scheduling": scheduling}
    pod: Obj = {"metadata": {"name": "p"}, "spec": {"tolerations": [{**spread, "effect": "NoExecute"}]}}
    admit_runtime_class(pod, of)
    assert pod["spec"] == {"overhead": {"cpu": "1"}, **scheduling}
    for spec in ({"overhead": {"cpu": "2"}}, {"nodeSelector": {"disk": "hdd"}}):
        with pytest.raises(StatusError, match="overhead|conflict".replace("o", "[oO]")) as refused:
            admit_runtime_class({"spec": spec}, of)
        assert refused.value.code == 403
    admit_runtime_class(pod, None)


@pytest.mark.parametrize(
    ("narrow", "wide", "together"),
    [
        ({"key": "a"}, {"key": "a"}, 1),
        ({"key": "a", "operator": "Equal"}, {"operator": "Exists"}, 1),
        ({"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}, 2),
        ({"key": "a", "effect": "NoExecute"}, {"key": "a", "operator": "Exists", "effect": "NoSchedule"}, 2),
        (
            {"key": "a", "operator": "Exists", "effect": "NoExecute"},
            {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
            1,
        ),
        ({"key": "a", "operator": "Equal", "value": "x"}, {"key": "a", "value": "y"}, 2),
    ],
)
def test_a_toleration_that_another_includes_is_left_out(narrow: Obj, wide: Obj, together: int) -> None:
    assert len(merged_tolerations([narrow, wide])) == together


def test_owners_that_are_named_twice() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"}
    obj: Obj = {"metadata": {"ownerReferences": [owner, {**owner, "name": "b"}, dict(owner)]}}
    (warning,) = drop_repeated_owners(obj, patched=False)
    assert warning.startswith(".metadata.ownerReferences contains duplicate entries; API server dedups")
    assert warning.endswith("duplicate UID(s) observed: 1")
    assert len(obj["metadata"]["ownerReferences"]) == 2
    assert drop_repeated_owners(obj, patched=True) == []


def test_what_strategies_add_to_new_objects() -> None:
    limits: Obj = {"kind": "LimitRange", "metadata": {}}
    local: Obj = {"kind": "APIService", "metadata": {}, "spec": {}}
    rolling: Obj = {
        "kind": "StatefulSet",
        "spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 2}}},
    }
    for obj in (limits, local, rolling):
        prepare(obj, 36)
    assert len(limits["metadata"]["name"]) == 36
    assert local["status"]["conditions"][0]["reason"] == "Local"
    assert rolling["spec"]["updateStrategy"]["rollingUpdate"] == {}


@pytest.mark.parametrize(
    ("kind", "spec", "found"),
    [
        ("Pod", {"serviceAccount": "a"}, {"serviceAccount": "a", "serviceAccountName": "a"}),
        ("Pod", {"serviceAccount": "a", "serviceAccountName": "b"},
         {"serviceAccount": "b", "serviceAccountName": "b"}),
        ("Pod", {"terminationGracePeriodSeconds": -5}, {"terminationGracePeriodSeconds": 1}),
        ("Service", {"sessionAffinityConfig": {"clientIP": {}}}, {"sessionAffinity": "None"}),
        ("StatefulSet", {"updateStrategy": {"type": "RollingUpdate"}},
         {"updateStrategy": {"type": "RollingUpdate"}}),
        ("StatefulSet", {}, {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}}),
        ("Job", {"podFailurePolicy": {}}, {"podReplacementPolicy": "Failed"}),
    ],
)  # fmt: skip
def test_defaults_of_members_that_depend_on_others(kind: str, spec: Obj, found: Obj) -> None:
    obj: Obj = {"kind": kind, "spec": spec}
    set_defaults(obj)
    through_hub(obj)
    assert {name: obj["spec"].get(name) for name in found} == found
    assert "sessionAffinityConfig" not in obj["spec"]


def test_a_gated_pod_says_why_it_waits() -> None:
    gated: Obj = {"kind": "Pod", "spec": {"schedulingGates": [{"name": "a/b"}]}}
    plain: Obj = {"kind": "Pod", "spec": {}}
    prepare(gated, 36)
    prepare(plain, 36)
    (condition,) = gated["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PodScheduled",
        "False",
        "SchedulingGated",
    )
    assert "status" not in plain


CLAIM: Obj = {"kind": "PersistentVolumeClaim", "name": "a"}


@pytest.mark.parametrize(
    ("spec", "old", "new"),
    [
        ({"dataSource": {"kind": "K", "name": "a"}}, None, None),
        ({"dataSource": CLAIM}, CLAIM, CLAIM),
        (
            {"dataSourceRef": {"kind": "K", "name": "a"}},
            {"kind": "K", "name": "a"},
            {"kind": "K", "name": "a"},
        ),
        ({"dataSourceRef": {"name": "a", "namespace": "x"}}, None, None),
        ({}, None, None),
    ],
)
def test_a_claims_data_sources_agree(spec: Obj, old: Obj | None, new: Obj | None) -> None:
    claim: Obj = {"kind": "PersistentVolumeClaim", "metadata": {}, "spec": spec}
    prepare(claim, 36)
    assert (claim["spec"].get("dataSource"), claim["spec"].get("dataSourceRef")) == (old, new)


@pytest.mark.parametrize(("minor", "known"), [(28, False), (29, True)])
def test_a_volume_knows_when_its_phase_began(minor: int, known: bool) -> None:
    volume: Obj = {"kind": "PersistentVolume", "metadata": {}, "status": {"phase": "Pending"}}
    prepare(volume, minor)
    assert ("lastPhaseTransitionTime" in volume["status"]) is known


def test_a_node_allocates_its_capacity_unless_it_says_otherwise() -> None:
    node: Obj = {"kind": "Node", "status": {"capacity": {"cpu": "4"}}}
    less: Obj = {"kind": "Node", "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}}
    set_defaults(node)
    set_defaults(less)
    assert (node["status"]["allocatable"], less["status"]["allocatable"]) == ({"cpu": "4"}, {"cpu": "3"})


def test_a_headless_service_warns_of_what_it_ignores() -> None:
    spec = {"clusterIP": "None", "sessionAffinity": "ClientIP", "externalIPs": ["192.0.2.1"]}
    assert list(service_warnings({"spec": spec})) == [
        "spec.externalIPs is ignored for headless services",
        "spec.SessionAffinity is ignored for headless services",
    ]
    (warning,) = service_warnings({"spec": {**spec, "clusterIP": "10.0.0.1"}})
    assert warning == "spec.externalIPs is deprecated and may no longer be implemented in some clusters"


def test_a_namespaces_own_label_is_always_its_name() -> None:
    namespace: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    namespace["metadata"]["labels"] = {"kubernetes.io/metadata.name": "other"}
    set_defaults(namespace)
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "shop"}


def test_an_event_of_the_newer_group_keeps_what_it_says() -> None:
    said = {"deprecatedFirstTimestamp": "2026-01-02T03:04:05Z", "deprecatedSource": {"component": "a"}}
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", **said}
    set_defaults(event)
    assert event | said == event and "source" not in event and "firstTimestamp" not in event
    assert (event["eventTime"], event["deprecatedLastTimestamp"]) == (None, None)
