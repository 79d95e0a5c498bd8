"""Rules of roles against requests, as upstream's evaluation helpers decide."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.kube.rbac import BindingSubject, RuleIndex, aggregated_rules, binding_of, encoded_rules, rules_of
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import Requester, requester_of

HEALTH = RequestAttributes("get", path="/healthz/a")


def pods(verb: str = "get", **more: str) -> RequestAttributes:
    return RequestAttributes(verb, resource="pods", **more)


@pytest.mark.parametrize(
    ("rule", "asked", "allowed"),
    [
        ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, pods("delete", subresource="log"), True),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, pods(), True),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, pods("list"), False),
        ({"verbs": ["get"], "apiGroups": ["apps"], "resources": ["pods"]}, pods(), False),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, pods(subresource="log"), False),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]}, pods(subresource="log"), True),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["*/log"]}, pods(subresource="log"), True),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["*/log"]}, pods(), False),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}, pods(), False),
        (
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]},
            pods(name="a"),
            True,
        ),
        (
            {"verbs": ["get"], "nonResourceURLs": ["/healthz/*"]},
            RequestAttributes("get", path="/healthz/a"),
            True,
        ),
        (
            {"verbs": ["get"], "nonResourceURLs": ["/healthz"]},
            RequestAttributes("get", path="/healthz/a"),
            False,
        ),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, pods(), False),
        ({}, pods(), False),
    ],
)
def test_rules(rule: dict[str, list[str]], asked: RequestAttributes, allowed: bool) -> None:
    (found,) = rules_of({"rules": [rule]})
    assert RuleIndex([found]).allows(asked) is allowed
    assert found.document() == rule


@pytest.mark.parametrize(
    ("subject", "who", "namespace", "matches"),
    [
        (BindingSubject("User", "jane"), Requester("jane"), "", True),
        (BindingSubject("User", "jane"), Requester("joe"), "", False),
        (BindingSubject("Group", "qa"), Requester("joe", ("qa",)), "", True),
        (BindingSubject("ServiceAccount", "b", "a"), requester_of("system:serviceaccount:a:b"), "", True),
        (BindingSubject("ServiceAccount", "b"), requester_of("system:serviceaccount:a:b"), "a", True),
        (BindingSubject("ServiceAccount", "b"), requester_of("system:serviceaccount:a:b"), "", False),
        (BindingSubject("Robot", "jane"), Requester("jane"), "", False),
    ],
)
def test_subjects(subject: BindingSubject, who: Requester, namespace: str, matches: bool) -> None:
    assert subject.matches(who, namespace) is matches


def test_a_binding_describes_itself() -> None:
    """As in a review's reason."""
    stored = {
        "metadata": {"name": "readers", "namespace": "shop"},
        "roleRef": {"kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": "web"}],
    }
    binding = binding_of(stored)
    assert binding.described(requester_of("system:serviceaccount:shop:web")) == (
        'RoleBinding "readers/shop" of ClusterRole "view" to ServiceAccount "web/shop"'
    )


@pytest.mark.parametrize("broken", [{"rules": 5}, {"rules": [{"verbs": 1}]}])
def test_what_cannot_be_understood_is_named(broken: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="Expected"):
        rules_of(broken)


def test_an_aggregated_role_has_each_rule_of_those_it_selects_once() -> None:
    def role(name: str, *verbs: str, **labels: str) -> dict[str, Any]:
        rules = [{"verbs": [verb], "apiGroups": [""], "resources": ["pods"]} for verb in verbs]
        return {"metadata": {"name": name, "labels": labels}, "rules": encoded_rules({"rules": rules})}

    def aggregated(*selectors: dict[str, Any]) -> list[str] | None:
        whole = {**role("whole", "old", to="view"), "aggregationRule": {"clusterRoleSelectors": [*selectors]}}
        roles = [
            role("b", "get", "list", to="view"),
            role("a", "watch", "get", to="view"),
            role("c", "x"),
            whole,
        ]
        rules = aggregated_rules(whole, {found["metadata"]["name"]: found for found in roles})
        return None if rules is None else [json.loads(rule)["verbs"][0] for rule in rules]

    by_label = {"matchLabels": {"to": "view"}}
    without = {"matchExpressions": [{"key": "to", "operator": "DoesNotExist"}]}
    assert aggregated(by_label) == ["watch", "get", "list"]
    assert aggregated(without, by_label) == ["x", "watch", "get", "list"]
    assert aggregated() == []
    assert aggregated_rules(role("plain", "get"), {}) is None
    with pytest.raises(ValueError, match="not a valid label selector operator"):
        aggregated({"matchExpressions": [{"key": "to", "operator": "Like"}]})
