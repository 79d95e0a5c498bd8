"""Which requests a FlowSchema matches, and which specs kube-apiserver ignores."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.flow_rules import FlowRule, LevelSpec, SchemaSpec, level_spec, schema_spec
from ktui.kube.flow_schemas import Classifier, FlowSchema, PriorityLevel, default_levels, default_schemas
from ktui.kube.gates import NEWEST_MINOR
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import Requester, requester_of

JANE = requester_of("jane", ["dev"])
BUILDER = requester_of("system:serviceaccount:ci:builder")
PODS = {
    "verbs": ["list"],
    "apiGroups": [""],
    "resources": ["pods"],
    "namespaces": ["*"],
    "clusterScope": True,
}
LIST = RequestAttributes("list", "", "pods", namespace="shop")


def rule(subject: dict[str, Any], **rules: list[Any]) -> FlowRule:
    return schema_spec({"spec": {"rules": [{"subjects": [subject], **rules}]}}).rules[0]


def account(namespace: str, name: str) -> dict[str, Any]:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}


@pytest.mark.parametrize(
    ("subject", "who", "matches"),
    [
        ({"kind": "User", "user": {"name": "jane"}}, JANE, True),
        ({"kind": "User", "user": {"name": "*"}}, BUILDER, True),
        ({"kind": "User", "user": {"name": "bob"}}, JANE, False),
        ({"kind": "User"}, JANE, False),
        ({"kind": "Group", "group": {"name": "dev"}}, JANE, True),
        ({"kind": "Group", "group": {"name": "*"}}, Requester("nobody"), True),
        ({"kind": "Group", "group": {"name": "dev"}}, BUILDER, False),
        (account("ci", "builder"), BUILDER, True),
        (account("ci", "*"), BUILDER, True),
        (account("c", "*"), BUILDER, False),
        (account("ci", "build"), BUILDER, False),
        ({"kind": "Robot", "user": {"name": "jane"}}, JANE, False),
    ],
)
def test_a_subject_matches_by_its_kind(subject: dict[str, Any], who: Requester, matches: bool) -> None:
    assert rule(subject).matches_subject(who) is matches


@pytest.mark.parametrize(
    ("change", "asked", "matches"),
    [
        ({}, LIST, True),
        ({}, RequestAttributes("get", "", "pods", namespace="shop"), False),
        ({}, RequestAttributes("list", "apps", "pods", namespace="shop"), False),
        ({}, RequestAttributes("list", "", "pods", "log", namespace="shop"), False),
        ({"resources": ["pods/log"]}, RequestAttributes("list", "", "pods", "log", namespace="shop"), True),
        ({"resources": ["*"]}, RequestAttributes("list", "", "pods", "log", namespace="shop"), True),
        ({}, RequestAttributes("list", "", "pods"), True),
        ({"clusterScope": False}, RequestAttributes("list", "", "pods"), False),
        ({"namespaces": ["shop"]}, LIST, True),
        ({"namespaces": ["other"]}, LIST, False),
        ({"namespaces": []}, LIST, False),
        ({"verbs": ["*"]}, RequestAttributes("watch", "", "pods"), True),
        # A star among others is no wildcard.
        ({"verbs": ["get", "*"]}, RequestAttributes("watch", "", "pods"), False),
        ({}, RequestAttributes("list", path="/metrics"), False),
    ],
)
def test_a_resource_rule_matches_verb_resource_and_scope(
    change: dict[str, Any], asked: RequestAttributes, matches: bool
) -> None:
    found = rule({"kind": "User", "user": {"name": "*"}}, resourceRules=[PODS | change])
    assert found.matches_request(asked) is matches


@pytest.mark.parametrize(
    ("urls", "path", "matches"),
    [
        (["/healthz"], "/healthz", True),
        (["/healthz"], "/healthz/etcd", True),
        (["/healthz"], "/healthzz", False),
        (["/healthz/*"], "/healthz/etcd", True),
        (["/healthz/*"], "/healthz", False),
        (["*"], "/anything", True),
        ([], "/anything", False),
    ],
)
def test_a_path_rule_matches_what_is_below_it(urls: list[str], path: str, matches: bool) -> None:
    paths = [{"verbs": ["get"], "nonResourceURLs": urls}]
    found = rule({"kind": "User", "user": {"name": "*"}}, nonResourceRules=paths)
    assert found.matches_request(RequestAttributes("get", path=path)) is matches
    assert not found.matches_request(RequestAttributes("post", path=path))


def schema(name: str, precedence: int, user: str = "*") -> FlowSchema:
    subjects = [{"kind": "User", "user": {"name": user}}]
    rules = [{"subjects": subjects, "resourceRules": [PODS]}]
    spec = schema_spec({"spec": {"matchingPrecedence": precedence, "rules": rules}})
    return FlowSchema(name, PriorityLevel("l", 1), spec)


def test_precedence_decides_and_then_the_name() -> None:
    classifier = Classifier([schema("z", 10), schema("b", 5), schema("a", 5, "jane"), schema("last", 100)])
    assert classifier.classify(JANE, LIST).name == "a"
    assert classifier.classify(BUILDER, LIST).name == "b"
    # What no rule matches goes to the last one.
    assert classifier.classify(JANE, RequestAttributes("delete", "", "pods")).name == "last"


def test_a_flow_is_a_user_or_a_namespace() -> None:
    def flow(method: str) -> str:
        spec = schema_spec({"spec": {"distinguisherMethod": {"type": method}} if method else {}})
        return spec.flow_of(JANE, LIST)

    assert [flow("ByUser"), flow("ByNamespace"), flow("")] == ["jane", "shop", ""]


@pytest.mark.parametrize(
    ("name", "spec", "fault"),
    [
        ("a", {"type": "Limited", "limited": {}}, ""),
        ("a", {"type": "Limited"}, "type and limited do not agree"),
        ("exempt", {"type": "Exempt", "exempt": {}}, ""),
        ("a", {"type": "Exempt", "exempt": {}}, "only the level named exempt is of type Exempt"),
        ("a", {"type": "Limited", "limited": {}, "exempt": {}}, "a Limited level has no exempt"),
        (
            "a",
            {"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 2}}}},
            "handSize 8 of 2 queues",
        ),
    ],
)
def test_a_level_that_contradicts_itself_is_ignored(name: str, spec: dict[str, Any], fault: str) -> None:
    assert level_spec({"spec": spec}).fault(name) == fault


def test_a_list_that_a_server_prints_as_null_is_absent() -> None:
    """A stored rule of the cluster scope alone has `"namespaces": null`."""
    everyone = {"kind": "User", "user": {"name": "*"}}
    found = rule(everyone, resourceRules=[PODS | {"namespaces": None}], nonResourceRules=None)
    assert found.matches_request(RequestAttributes("list", "", "pods"))
    assert not found.matches_request(LIST)
    assert level_spec({"spec": {"type": "Limited", "limited": None, "exempt": None}}).limits


@pytest.mark.parametrize("spec", [{"rules": [{"subjects": "all"}]}, {"matchingPrecedence": "high"}])
def test_a_spec_of_another_form_is_a_value_error(spec: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Expected"):
        schema_spec({"spec": spec})


@pytest.mark.parametrize("minor", range(20, NEWEST_MINOR + 1))
def test_the_defaults_of_every_version_are_whole(minor: int) -> None:
    levels = {name: level_spec({"spec": doc}) for name, doc in default_levels(minor).items()}
    schemas = {name: schema_spec({"spec": doc}) for name, doc in default_schemas(minor).items()}
    assert {spec.level for spec in schemas.values()} <= set(levels)
    assert all(isinstance(spec, SchemaSpec) and spec.rules for spec in schemas.values())
    faults = {name: spec.fault(name) for name, spec in levels.items() if isinstance(spec, LevelSpec)}
    assert not any(faults.values()), faults
    assert list(schemas) == sorted(schemas, key=lambda name: (schemas[name].matching_precedence, name))
