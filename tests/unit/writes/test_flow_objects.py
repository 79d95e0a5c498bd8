"""FlowSchemas and PriorityLevelConfigurations: defaults and errors, as in upstream's package flowcontrol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.kube.flow_schemas import default_levels, default_schemas
from ktui.writes.defaults import set_defaults
from ktui.writes.validation.objects import value_errors

Obj = dict[str, Any]
USER: Obj = {"kind": "User", "user": {"name": "u"}}
RULE: Obj = {"subjects": [USER], "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}]}
LEVEL: Obj = {"name": "global-default"}
QUEUING: Obj = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}


def faults(kind: str, spec: Obj, name: str = "own") -> list[str]:
    obj = json.loads(json.dumps({"kind": kind, "metadata": {"name": name}, "spec": spec}))
    set_defaults(obj)
    return [str(error) for error in value_errors(f"{kind.lower()}s.flowcontrol.apiserver.k8s.io", obj)]


@pytest.mark.parametrize("minor", [29, 33, 36])
def test_upstreams_own_objects_are_valid(minor: int) -> None:
    for kind, defaults in (
        ("FlowSchema", default_schemas(minor)),
        ("PriorityLevelConfiguration", default_levels(minor)),
    ):
        for name, spec in defaults.items():
            assert faults(kind, spec, name) == [], name


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"priorityLevelConfiguration": LEVEL, "rules": [RULE]}, []),
        ({}, ["spec.priorityLevelConfiguration.name: Required value: must reference a priority level"]),
        (
            {"matchingPrecedence": 1, "priorityLevelConfiguration": LEVEL},
            [
                "spec.matchingPrecedence: Invalid value: 1: "
                "only the schema named 'exempt' may have matchingPrecedence 1"
            ],
        ),
        (
            {"matchingPrecedence": 10_001, "priorityLevelConfiguration": LEVEL},
            ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"],
        ),
        (
            {"distinguisherMethod": {"type": "ByPod"}, "priorityLevelConfiguration": LEVEL},
            [
                'spec.distinguisherMethod.type: Unsupported value: {"Type":"ByPod"}: '
                'supported values: "ByNamespace", "ByUser"'
            ],
        ),
        (
            {"priorityLevelConfiguration": {"name": "a/b"}, "rules": [RULE]},
            [
                'spec.priorityLevelConfiguration.name: Invalid value: "a/b": a lowercase RFC 1123 subdomain '
                "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with "
                "an alphanumeric character (e.g. 'example.com', regex used for validation is "
                r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ],
        ),
        (
            {"priorityLevelConfiguration": LEVEL, "rules": [{"subjects": [{"kind": "User", "group": {}}]}]},
            [
                "spec.rules[0].subjects[0].user: Required value: "
                "user is required when subject kind is 'User'",
                "spec.rules[0].subjects[0].group: Forbidden: "
                "group is forbidden when subject kind is not 'Group'",
                "spec.rules[0]: Required value: "
                "at least one of resourceRules and nonResourceRules has to be non-empty",
            ],
        ),
    ],
)
def test_schemas(spec: Obj, expected: list[str]) -> None:
    assert faults("FlowSchema", spec) == expected


def limited(**response: Any) -> Obj:
    return {"type": "Limited", "limited": {"limitResponse": response}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (limited(type="Reject"), []),
        (limited(type="Queue", queuing={}), []),
        (
            {"type": "Exempt"},
            ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
        ),
        ({"type": "Bogus"}, ['spec.type: Unsupported value: "Bogus": supported values: "Exempt", "Limited"']),
        ({"type": "Limited"}, ["spec.limited: Required value: must not be empty when type is Limited"]),
        (
            {"type": "Limited", "limited": {"lendablePercent": 101, "limitResponse": {"type": "Drop"}}},
            [
                'spec.limited.limitResponse.type: Unsupported value: "Drop": '
                'supported values: "Queue", "Reject"',
                "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
            ],
        ),
        (
            limited(type="Queue"),
            [
                "spec.limited.limitResponse.queuing: Required value: "
                "must not be empty if limited.limitResponse.type is Limited"
            ],
        ),
        (
            limited(type="Queue", queuing={**QUEUING, "handSize": 65}),
            [
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 65: "
                "should not be greater than queues (64)"
            ],
        ),
        (
            limited(type="Queue", queuing={**QUEUING, "handSize": 20}),
            [
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 20: required entropy bits of "
                "deckSize 64 and handSize 20 should not be greater than 60"
            ],
        ),
    ],
)
def test_levels(spec: Obj, expected: list[str]) -> None:
    assert faults("PriorityLevelConfiguration", spec) == expected


def test_mandatory_objects_stay_as_they_are() -> None:
    schema = {**default_schemas(36)["catch-all"], "matchingPrecedence": 9_999}
    (fault,) = faults("FlowSchema", schema, "catch-all")
    assert fault.startswith('spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"catch-all"},')
    assert fault.endswith(": spec of 'catch-all' must equal the fixed value")
    limits = default_levels(36)["catch-all"]["limited"]
    level = {"type": "Limited", "limited": {**limits, "lendablePercent": 1}}
    (fault,) = faults("PriorityLevelConfiguration", level, "catch-all")
    assert fault.endswith(": spec of 'catch-all' must equal the fixed value")
    exempt = {"type": "Exempt", "exempt": {"nominalConcurrencyShares": 5, "lendablePercent": 0}}
    assert faults("PriorityLevelConfiguration", exempt, "exempt") == []
    (_, fault) = faults("PriorityLevelConfiguration", {**exempt, "limited": {}}, "exempt")
    assert fault.endswith(": spec of 'exempt' except the 'spec.exempt' field must equal the fixed value")


def test_defaults() -> None:
    level: Obj = {"kind": "PriorityLevelConfiguration", "spec": limited(type="Queue", queuing={"queues": 4})}
    schema: Obj = {"kind": "FlowSchema", "spec": {}}
    set_defaults(level)
    set_defaults(schema)
    found = level["spec"]["limited"]
    assert (found["nominalConcurrencyShares"], found["lendablePercent"]) == (30, 0)
    assert found["limitResponse"]["queuing"] == {"queues": 4, "handSize": 8, "queueLengthLimit": 50}
    assert schema["spec"]["matchingPrecedence"] == 1000
