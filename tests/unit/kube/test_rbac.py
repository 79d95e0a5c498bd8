"""Rules of roles against requests, as upstream's evaluation helpers decide."""

from __future__ import annotations

import pytest

from ktui.kube.rbac import BindingSubject, binding_of, rules_of
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
    assert found.allows(asked) is allowed
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
    assert subject.is_of(who, namespace) is matches


def test_a_binding_describes_itself() -> None:
    """As in a review's reason."""
    stored = {
        "metadata": {"name": "readers", "namespace": "shop"},
        "roleRef": {"kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": "web"}],
    }
    binding = binding_of(stored)
    assert binding.described(binding.subjects[0]) == (
        'RoleBinding "readers/shop" of ClusterRole "view" to ServiceAccount "web/shop"'
    )


@pytest.mark.parametrize("broken", [{"rules": 5}, {"rules": [{"verbs": 1}]}])
def test_what_cannot_be_understood_is_named(broken: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="Expected"):
        rules_of(broken)
