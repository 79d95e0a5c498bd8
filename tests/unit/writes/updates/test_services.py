"""What services keep, what is given back to them, and what goes with their type."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.validation.objects import value_errors
from ktui.writes.validation.updates import pods, services
from ktui.writes.validation.updates.kinds import update_errors

ADDRESS = {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"]}
DUAL = {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1", "fd00::1"], "ipFamilies": ["IPv4", "IPv6"]}
LOCAL = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30001}

NO_NAME = "spec.externalName: Required value"


def told(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The errors of an update as it comes, after what is put back."""
    was, wanted = {"spec": old}, {"spec": new}
    services.settled(old, new)
    found = update_errors("services", was, wanted) + value_errors("services", wanted)
    return [str(error) for error in found if error.field != "spec.ports"]


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        (ADDRESS, {}, []),
        (ADDRESS, {"clusterIP": "10.0.0.1", "type": "NodePort"}, []),
        ({}, {"clusterIP": "10.0.0.2"}, []),
        (
            ADDRESS,
            {**ADDRESS, "clusterIP": "10.0.0.2"},
            ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
        ),
        (
            ADDRESS,
            {"clusterIP": "None"},
            ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set'],
        ),
        (
            {"clusterIP": "None", "clusterIPs": ["None"]},
            {"clusterIP": "10.0.0.2"},
            ['spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set'],
        ),
        (
            DUAL,
            {**ADDRESS, "ipFamilies": ["IPv4"]},
            [
                "spec.ipFamilyPolicy: Invalid value: null: must be set to 'SingleStack' when releasing the"
                f" secondary {what}"
                for what in ("clusterIP", "ipFamily")
            ],
        ),
        (DUAL, {**ADDRESS, "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}, []),
        (
            {**ADDRESS, "ipFamilies": ["IPv4"]},
            {**ADDRESS, "ipFamilies": ["IPv6"]},
            [
                'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
                'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by '
                "`ipFamilies[0]`",
            ],
        ),
        (ADDRESS, {"type": "ExternalName"}, [NO_NAME]),
        (ADDRESS, {**ADDRESS, "type": "ExternalName", "externalName": "a.example"}, []),
        (
            {"type": "ExternalName", "externalName": "a.example"},
            {"type": "ExternalName", "externalName": "a.example", **ADDRESS},
            ["spec.clusterIPs: Forbidden: may not be set for ExternalName services"],
        ),
        (
            {},
            {"ports": [{"port": 1, "nodePort": 30000}]},
            ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
        ),
        (LOCAL, {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}, []),
        (
            LOCAL,
            {**LOCAL, "healthCheckNodePort": 30002},
            ["spec.healthCheckNodePort: Forbidden: field is immutable"],
        ),
        (
            {"type": "LoadBalancer", "loadBalancerClass": "a.example/b"},
            {"type": "LoadBalancer"},
            ["spec.loadBalancerClass: Invalid value: null: may not change once set"],
        ),
        (
            {"type": "LoadBalancer", "loadBalancerClass": "a.example/b"},
            {"loadBalancerClass": "a.example/c"},
            ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"],
        ),
        (
            {},
            {"externalTrafficPolicy": "Local"},
            [
                'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for '
                "externally-accessible"
                " services"
            ],
        ),
    ],
)
def test_services(old: dict[str, Any], new: dict[str, Any], errors: list[str]) -> None:
    assert told(old, new) == errors


def test_what_was_given_is_put_back() -> None:
    old = {"type": "NodePort", **ADDRESS, "ports": [{"name": "a", "port": 1, "nodePort": 30001}]}
    new: dict[str, Any] = {"type": "NodePort", "ports": [{"name": "a", "port": 2}, {"name": "b", "port": 3}]}
    services.settled(old, new)
    assert new["clusterIPs"] == ["10.0.0.1"]
    assert new["ports"] == [{"name": "a", "port": 2, "nodePort": 30001}, {"name": "b", "port": 3}]


def test_what_the_new_type_has_not_goes() -> None:
    old = {
        **LOCAL,
        **ADDRESS,
        "allocateLoadBalancerNodePorts": True,
        "ports": [{"port": 1, "nodePort": 30001}],
    }
    new = {**old, "type": "ClusterIP", "ports": [{"port": 1, "nodePort": 30001}]}
    assert told(old, new) == []
    assert new == {"type": "ClusterIP", **ADDRESS, "ports": [{"port": 1}]}


def test_what_the_priority_plugin_gave_a_pod_stays() -> None:
    new: dict[str, Any] = {"nodeName": "n"}
    pods.settled({"priority": 7, "preemptionPolicy": "Never"}, new)
    assert new == {"nodeName": "n", "priority": 7, "preemptionPolicy": "Never"}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"ipFamilies": ["IPv4"]}, ["IP family"]),
        (ADDRESS, ["cluster IP"]),
        ({**ADDRESS, "ipFamilies": ["IPv4"]}, ["cluster IP", "IP family"]),
        ({**ADDRESS, "ipFamilyPolicy": "SingleStack"}, []),
        ({"ipFamilies": ["IPv4"], "type": "ExternalName"}, []),
        ({"ipFamilies": None}, []),
    ],
)
def test_only_the_policy_gives_up_a_family(change: dict[str, Any], what: list[str]) -> None:
    old = {**DUAL, "ipFamilyPolicy": "PreferDualStack"}
    found = [
        error.message.partition("release the secondary ")[2]
        for error in services.family_errors(old, {**old, **change})
    ]
    assert found == what


def test_the_policy_alone_gives_up_the_second_family() -> None:
    old = {**DUAL, "ipFamilyPolicy": "PreferDualStack"}
    new = {**old, "ipFamilyPolicy": "SingleStack"}
    services.settled(old, new)
    assert (new["clusterIPs"], new["ipFamilies"]) == (["10.0.0.1"], ["IPv4"])


def test_an_external_name_drops_only_what_did_not_change() -> None:
    old = {**DUAL, "ipFamilyPolicy": "PreferDualStack"}
    new = {**old, "type": "ExternalName", "ipFamilies": ["IPv4"]}
    services.settled(old, new)
    assert new == {"type": "ExternalName", "ipFamilies": ["IPv4"]}


@pytest.mark.parametrize(("kind", "kept"), [("LoadBalancer", True), ("NodePort", False), (None, False)])
def test_only_a_load_balancer_keeps_its_addresses(kind: str | None, kept: bool) -> None:
    service: dict[str, Any] = {"spec": {"type": kind}, "status": {"loadBalancer": {"ingress": [{}]}}}
    services.drop_balancer(service)
    assert bool(service["status"]["loadBalancer"]) == kept
