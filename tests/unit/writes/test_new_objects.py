"""What the server adds to new objects, refuses in them, and warns of."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ktui.kube.status import StatusError
from ktui.writes.admission.mutation import check_overhead
from ktui.writes.before_create import prepare
from ktui.writes.defaults import set_defaults
from ktui.writes.validation.objects import value_errors
from ktui.writes.validation.updates import services

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
        check_overhead(pod)
    assert refused.value.code == 403
    check_overhead({"spec": {"overhead": {"cpu": "1"}, "runtimeClassName": "sandboxed"}})


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
        ({"dataSourceRef": {"name": "a", "namespace": "x"}}, None, {"name": "a", "namespace": "x"}),
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
    assert services.warnings({"spec": spec}) == [
        "spec.externalIPs is ignored for headless services",
        "spec.SessionAffinity is ignored for headless services",
    ]
    assert services.warnings({"spec": {**spec, "clusterIP": "10.0.0.1"}}) == []


def test_only_a_load_balancer_has_addresses() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    (error,) = services.status_errors({"spec": {"type": "ClusterIP"}, "status": status})
    assert "may only be used when `spec.type` is 'LoadBalancer'" in str(error)
    assert services.status_errors({"spec": {"type": "LoadBalancer"}, "status": status}) == []


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
