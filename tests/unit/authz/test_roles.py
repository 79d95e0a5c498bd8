"""The stored roles and bindings: a decision takes the same steps however many there are."""

from __future__ import annotations

import asyncio
import sys
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ktui.authz.authorizers import RbacAuthorizer
from ktui.authz.roles import Bindings, Roles
from ktui.kube.rbac import Binding, PolicyRule, RuleIndex, binding_of, rules_of
from ktui.kube.requestinfo import RequestAttributes
from ktui.kube.users import Requester, requester_of

WHO = Requester("mallory", ("system:authenticated",))
EVERYBODY = {"kind": "Group", "name": "system:authenticated"}
PODS = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}


def binding(name: str, role: str, *subjects: dict[str, str], namespace: str = "m") -> Binding:
    ref = {"kind": "Role", "name": role}
    return binding_of(
        {"metadata": {"name": name, "namespace": namespace}, "roleRef": ref, "subjects": subjects}
    )


def stored(roles: dict[str, list[dict[str, Any]]], bindings: list[Binding]) -> Roles:
    """Roles and bindings of the namespace `m`."""
    found = Roles(None)  # type: ignore[arg-type]
    rules = {("m", name): RuleIndex(rules_of({"rules": rules})) for name, rules in roles.items()}
    asyncio.run(found._roles["roles"].change(rules))
    asyncio.run(found._bindings["rolebindings"].change({("m", each.name): each for each in bindings}))
    return found


def calls(authorizer: RbacAuthorizer, asked: RequestAttributes) -> int:
    """Return the number of Python functions that a decision calls."""
    count = 0

    def step(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(step)
    try:
        authorizer.decide(WHO, asked)
    finally:
        sys.setprofile(None)
    return count


def test_a_decision_does_not_look_at_each_rule_subject_or_binding() -> None:
    """20 roles of 20,000 rules each, bound to everybody, took 100 to 400 ms of every request."""
    named = [{**PODS, "resourceNames": [f"n{number}"]} for number in range(5_000)]
    users = [{"kind": "User", "name": f"u{number}"} for number in range(5_000)]
    roles = stored(
        {"a": named, "b": named[1:], "c": [{**PODS, "resourceNames": [f"n{n}" for n in range(9_000)]}]},
        [
            *(binding(role, role, EVERYBODY) for role in "abc"),
            *(binding(f"of-others-{n}", "a", *users) for n in range(3)),
            *(binding(f"again-{n}", "a", EVERYBODY) for n in range(3_000)),
        ],
    )
    authorizer = RbacAuthorizer(roles)
    for asked, allowed in (
        (RequestAttributes("get", resource="pods", namespace="m", name="n4999"), True),
        (RequestAttributes("get", resource="pods", namespace="m", name="n8999"), True),
        (RequestAttributes("get", resource="pods", namespace="m", name="n9000"), False),
        (RequestAttributes("list", resource="secrets", namespace="m"), False),
        (RequestAttributes("get", resource="pods", namespace="other", name="n1"), False),
    ):
        assert authorizer.decide(WHO, asked).allowed is allowed
        assert calls(authorizer, asked) < 100


WORDS = st.lists(
    st.sampled_from(["*", "get", "list", "", "apps", "pods", "pods/log", "*/log", "a"]), max_size=3
)
PATHS = st.lists(st.sampled_from(["*", "/a", "/a*", "/a/*", "/a/b"]), max_size=2)
RULES = st.lists(st.builds(PolicyRule, *(WORDS.map(tuple) for _ in range(4)), PATHS.map(tuple)), max_size=80)
ASKED = st.builds(
    RequestAttributes,
    verb=st.sampled_from(["get", "list", "*"]),
    group=st.sampled_from(["", "apps"]),
    resource=st.sampled_from(["pods", "pods/log", "a"]),
    subresource=st.sampled_from(["", "log"]),
    path=st.sampled_from(["", "", "/a", "/a/b", "/b"]),
    name=st.sampled_from(["", "a", "b"]),
)


def _allows(rule: PolicyRule, asked: RequestAttributes) -> bool:
    """Upstream's evaluation helpers, rule by rule (pkg/apis/rbac/v1)."""
    if not {"*", asked.verb} & set(rule.verbs):
        return False
    if asked.path:
        urls = rule.non_resource_urls
        return any(
            url in ("*", asked.path) or (url.endswith("*") and asked.path.startswith(url.rstrip("*")))
            for url in urls
        )
    of_any = {f"*/{asked.subresource}"} if asked.subresource else set()
    return (
        bool({"*", asked.group} & set(rule.api_groups))
        and bool({"*", asked.full_resource, *of_any} & set(rule.resources))
        and (not rule.resource_names or asked.name in rule.resource_names)
    )


@given(RULES, ASKED)
def test_an_index_allows_what_one_of_its_rules_allows(
    rules: list[PolicyRule], asked: RequestAttributes
) -> None:
    assert RuleIndex(rules).allows(asked) is any(_allows(rule, asked) for rule in rules)


SUBJECTS = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["User", "Group", "ServiceAccount", "Robot"]),
            "name": st.sampled_from(["a", "b", "system:serviceaccount:m:a"]),
            "namespace": st.sampled_from(["", "m", "n"]),
        }
    ),
    max_size=3,
)
CHANGES = st.lists(st.tuples(st.sampled_from("xyz"), SUBJECTS | st.none()), max_size=8)


@given(CHANGES, st.sampled_from([Requester("a", ("b", "a")), requester_of("system:serviceaccount:m:a")]))
def test_bindings_are_found_by_their_subjects(changes: list[tuple[str, Any]], who: Requester) -> None:
    """After any changes those that `subject_of` matches, in the order of their names."""
    kept, now = Bindings(), dict[str, Binding]()
    for name, subjects in changes:
        new = None if subjects is None else binding(name, "r", *subjects)
        asyncio.run(kept.change({("m", name): new}))
        now.pop(name, None)
        if new is not None:
            now[name] = new
        expected = [each for _, each in sorted(now.items()) if each.subject_of(who)]
        assert [*kept.of(who, "m")] == expected
        assert [*kept.of(who, "n")] == []
