"""Defaults of devices' claims and of admission policies, what is dropped, warned of, and not allowed."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.writes.before_create import prepare
from ktui.writes.defaults import set_defaults
from ktui.writes.gated_fields import drop_gated
from ktui.writes.validation.objects import new_errors, object_warnings, value_errors

from .objects import resource

Obj = dict[str, Any]
_RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
_MATCHED = {
    "resourceRules": [{**_RULE, "scope": "*"}],
    "matchPolicy": "Equivalent",
    "namespaceSelector": {},
    "objectSelector": {},
}


def defaulted(kind: str, spec: Obj) -> Obj:
    obj: Obj = {"kind": kind, "spec": spec}
    set_defaults(obj)
    found: Obj = obj["spec"]
    return found


@pytest.mark.parametrize(
    ("wanted", "added"),
    [
        ({}, {"allocationMode": "ExactCount", "count": 1}),
        ({"count": 3}, {"allocationMode": "ExactCount", "count": 3}),
        ({"allocationMode": "All"}, {}),
        ({"allocationMode": "Some"}, {}),
    ],
)
@pytest.mark.parametrize("member", ["exactly", "firstAvailable"])
def test_a_request_is_for_one_device(member: str, wanted: Obj, added: Obj) -> None:
    tolerations = [{"key": "a"}, {"operator": "Exists"}]
    sent = {**wanted, "tolerations": tolerations}
    request: Obj = {"name": "r", member: sent if member == "exactly" else [sent]}
    spec = {"devices": {"requests": [request]}}
    assert defaulted("ResourceClaimTemplate", {"spec": spec})["spec"] == defaulted("ResourceClaim", spec)
    (found,) = [request[member]] if member == "exactly" else request[member]
    assert found == {**wanted, **added, "tolerations": [{"key": "a", "operator": "Equal"}, tolerations[1]]}


def test_a_taint_has_a_time() -> None:
    spec = defaulted("ResourceSlice", {"devices": [{"taints": [{"key": "a"}, {"timeAdded": "t"}]}]})
    first, second = spec["devices"][0]["taints"]
    assert first["timeAdded"].endswith("Z") and second == {"timeAdded": "t"}


@pytest.mark.parametrize("kind", ["MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"])
def test_a_policy_matches_everything_and_fails_closed(kind: str) -> None:
    assert defaulted(kind, {}) == {"failurePolicy": "Fail"}
    spec = defaulted(kind, {"matchConstraints": {"resourceRules": [dict(_RULE)]}, "failurePolicy": "Ignore"})
    assert spec == {"matchConstraints": _MATCHED, "failurePolicy": "Ignore"}
    assert defaulted(f"{kind}Binding", {"policyName": "p"}) == {"policyName": "p"}
    spec = defaulted(f"{kind}Binding", {"matchResources": {"resourceRules": [dict(_RULE)]}})
    assert spec == {"matchResources": _MATCHED}


def test_fields_whose_gates_are_off_are_dropped() -> None:
    lease: Obj = {"kind": "Lease", "spec": {"strategy": "a", "preferredHolder": "b", "holderIdentity": "c"}}
    prepare(lease, 36)
    assert lease["spec"] == {"holderIdentity": "c"}
    device = {
        "name": "a",
        "nodeAllocatableResourceMappings": {"cpu": {}},
        "attributes": {"x": {"ints": [1]}, "y": {"int": 1, "versions": []}},
    }
    devices: Obj = {"kind": "ResourceSlice", "spec": {"devices": [device]}}
    prepare(devices, 36)
    assert device == {"name": "a", "attributes": {"x": {}, "y": {"int": 1}}}
    addresses: Obj = {"kind": "EndpointSlice", "endpoints": [{"deprecatedTopology": {"a": "b"}}]}
    prepare(addresses, 36)
    assert addresses["endpoints"] == [{}]


def test_an_update_keeps_what_the_stored_object_has() -> None:
    old = {"kind": "Lease", "spec": {"strategy": "a"}}
    new: Obj = {"kind": "Lease", "spec": {"strategy": "b", "preferredHolder": "c"}}
    drop_gated(new, old)
    assert new["spec"] == {"strategy": "b"}


@pytest.mark.parametrize(("driver", "warned"), [("a.b", 0), ("A.b", 1)])
def test_the_name_of_a_driver_should_be_in_lower_case(driver: str, warned: int) -> None:
    why = f'spec.driver: driver names should be lowercase; "{driver}" contains uppercase characters'
    found = object_warnings("resourceslices.resource.k8s.io", {"spec": {"driver": driver}})
    assert found == [why] * warned


def test_an_attribute_with_two_values_is_shown_as_upstreams_internal_type() -> None:
    device = {"name": "a", "attributes": {"x": {"int": 1, "bool": True}}}
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d", "nodeName": "n", "pool": pool, "devices": [device]}
    (error,) = new_errors({"spec": spec}, resource("resourceslices", "resource.k8s.io"), 36)
    shown = '{"IntValue":1,"BoolValue":true,"StringValue":null,"VersionValue":null,"IntValues":null,'
    shown += '"BoolValues":null,"StringValues":null,"VersionValues":null}'
    assert str(error) == (
        f"spec.devices[0].attributes[x]: Invalid value: {shown}: exactly one value must be specified"
    )


def test_causes_come_in_the_order_of_upstreams_functions() -> None:
    rule = {**_RULE, "operations": ["DELETE"], "resourceNames": ["a/b"]}
    mutations: list[Obj] = [{"patchType": "X"}, {"patchType": "JSONPatch", "applyConfiguration": {}}, {}]
    spec: Obj = {"matchConstraints": {"resourceRules": [rule]}, "mutations": mutations}
    obj: Obj = {"kind": "MutatingAdmissionPolicy", "metadata": {"name": "ff"}, "spec": spec}
    set_defaults(obj)
    own = resource("mutatingadmissionpolicies", "admissionregistration.k8s.io")
    assert [error.field for error in new_errors(obj, own, 36)] == [
        "spec.matchConstraints.resourceRules[0].resourceNames[0]",
        "spec.matchConstraints.resourceRules.operations",
        "spec.mutations[0].patchType",
        "spec.mutations[1].jsonPatch",
        "spec.mutations[1].applyConfiguration",
        "spec.mutations[2].patchType",
        "spec.reinvocationPolicy",
    ]


_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_ABSENT = "must be a fully qualified domain and path of the form 'example.com/signer-name'"


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("a.b/c", []),
        ("", ["Required value"]),
        ("a", [f'Invalid value: "a": {_ABSENT}']),
        ("a.b/c/d", [f'Invalid value: "a.b/c/d": {_ABSENT}']),
        ("a/b", ['Invalid value: "a": should be a domain with at least two segments separated by dots']),
        ("A.b/c", [f'Invalid value: "A.b": validating label "A": {_LABEL}']),
        (
            "kubernetes.io/legacy-unknown",
            [
                'Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via '
                "this API version"
            ],
        ),
    ],
)
def test_the_name_of_a_signer_has_a_domain_and_a_path(name: str, errors: list[str]) -> None:
    spec = {"request": "", "usages": ["any"], "signerName": name}
    found = value_errors("certificatesigningrequests.certificates.k8s.io", {"spec": spec})
    assert [error.message for error in found if error.field == "spec.signerName"] == errors


def test_the_tolerations_of_a_runtime_class_differ() -> None:
    tolerations = [{"key": "a"}, {"key": "a", "value": "b"}, {"key": "a"}]
    found = value_errors(
        "runtimeclasses.node.k8s.io", {"handler": "h", "scheduling": {"tolerations": tolerations}}
    )
    shown = '{"Key":"a","Operator":"","Value":"","Effect":"","TolerationSeconds":null}'
    assert [*map(str, found)] == [f"scheduling.tolerations[2]: Duplicate value: {shown}"]


def test_a_wrong_selector_of_aggregated_roles_is_reported_twice() -> None:
    rule = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}, {"matchExpressions": [{"key": "a"}]}]}
    found = value_errors("clusterroles.rbac.authorization.k8s.io", {"aggregationRule": rule})
    where = "aggregationRule.clusterRoleSelectors[1]"
    assert [*map(str, found)] == [
        f'{where}.matchExpressions[0].operator: Invalid value: "": not a valid selector operator',
        f"{where}: Invalid value: null: invalid label selector.",
    ]


def test_addresses_of_version_6_are_in_their_usual_form() -> None:
    addresses = ["2001:DB8::1", "2001:db8::1"]
    piece: Obj = {"kind": "EndpointSlice", "addressType": "IPv6", "endpoints": [{"addresses": addresses}]}
    found = value_errors("endpointslices.discovery.k8s.io", piece)
    why = 'Invalid value: "2001:DB8::1": must be in canonical form ("2001:db8::1")'
    assert [*map(str, found)] == [f"endpoints[0].addresses[0]: {why}"]


def test_an_empty_protocol_of_an_endpoint_slice_is_no_missing_one() -> None:
    piece: Obj = {
        "kind": "EndpointSlice",
        "addressType": "FQDN",
        "ports": [{}, {"name": "a", "protocol": ""}],
    }
    set_defaults(piece)
    assert piece["ports"] == [{"name": "", "protocol": "TCP"}, {"name": "a", "protocol": ""}]
    (error,) = value_errors("endpointslices.discovery.k8s.io", piece)
    assert error.message == 'Unsupported value: "": supported values: "SCTP", "TCP", "UDP"'
    warned = ["spec.addressType: FQDN endpoints are deprecated"]
    assert object_warnings("endpointslices.discovery.k8s.io", piece) == warned
    assert object_warnings("endpointslices.discovery.k8s.io", piece, piece) == []


@pytest.mark.parametrize("plural", ["mutatingwebhookconfigurations", "validatingadmissionpolicybindings"])
@pytest.mark.parametrize(("name", "warned"), [("a.b", 0), ("a.static.k8s.io", 1)])
def test_names_of_static_configurations_are_warned_of(plural: str, name: str, warned: int) -> None:
    why = (
        'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based '
        "configurations and cannot be managed via the API"
    )
    own = resource(plural, "admissionregistration.k8s.io").id
    assert object_warnings(own, {"metadata": {"name": name}}) == [why] * warned
