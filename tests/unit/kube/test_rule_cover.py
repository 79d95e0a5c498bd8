"""Which rights of some rules others do not include."""

from __future__ import annotations

import pytest

from ktui.kube.rbac import PolicyRule, RuleIndex
from ktui.kube.rule_cover import MOST_COMBINATIONS, TooManyCombinations, described, refusal, uncovered
from ktui.kube.users import Requester


def rule(verbs: str, groups: str = "", resources: str = "", names: str = "", urls: str = "") -> PolicyRule:
    """Words separated by blanks; the core group is `-`."""
    lists = [tuple("" if w == "-" else w for w in words.split()) for words in (verbs, groups, resources)]
    return PolicyRule(*lists, tuple(names.split()), tuple(urls.split()))


PODS = rule("get list", "-", "pods")
ALL = rule("*", "*", "*")


@pytest.mark.parametrize(
    ("owned", "wanted", "lacking"),
    [
        ([PODS], [PODS], []),
        ([], [PODS], ['{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}']),
        ([PODS], [rule("get watch", "-", "pods")], ['{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}']),
        ([rule("get", "-", "pods"), rule("list", "-", "pods")], [PODS], []),
        ([ALL], [PODS, rule("*", "*", "*/scale")], []),
        ([rule("get", "*", "*")], [ALL], ['{APIGroups:["*"], Resources:["*"], Verbs:["*"]}']),
        (
            [rule("*", "apps", "*")],
            [rule("get", "*", "*")],
            ['{APIGroups:["*"], Resources:["*"], Verbs:["get"]}'],
        ),
        # subresources
        ([rule("get", "-", "*/log")], [rule("get", "-", "pods/log")], []),
        (
            [PODS],
            [rule("get", "-", "pods/log")],
            ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
        ),
        (
            [rule("get", "-", "*/log")],
            [rule("get", "-", "pods")],
            ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
        ),
        # names
        ([PODS], [rule("get", "-", "pods", "a b")], []),
        (
            [rule("get", "-", "pods", "a")],
            [rule("get", "-", "pods", "a b")],
            ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
        ),
        (
            [rule("get", "-", "pods", "a")],
            [rule("get", "-", "pods")],
            ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
        ),
        # paths
        ([rule("get", urls="/healthz/*")], [rule("get", urls="/healthz/etcd /healthz/*")], []),
        (
            [rule("get", urls="/healthz*")],
            [rule("get post", urls="/healthz /metrics")],
            [
                '{NonResourceURLs:["/healthz"], Verbs:["post"]}',
                '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
                '{NonResourceURLs:["/metrics"], Verbs:["post"]}',
            ],
        ),
        ([rule("get", urls="*")], [rule("get", urls="*")], []),
        ([ALL], [rule("get", urls="/x")], ['{NonResourceURLs:["/x"], Verbs:["get"]}']),
        # what allows nothing needs nothing
        ([], [rule("", "-", "pods"), rule("get", "-"), rule("get", resources="pods")], []),
        # upstream repeats the verbs of a rule that is there twice
        ([], [rule("get", "-", "pods")] * 2, ['{APIGroups:[""], Resources:["pods"], Verbs:["get" "get"]}']),
    ],
)
def test_what_is_not_covered(owned: list[PolicyRule], wanted: list[PolicyRule], lacking: list[str]) -> None:
    assert sorted(map(described, uncovered([RuleIndex(owned)], wanted))) == lacking
    each = [RuleIndex([rule]) for rule in owned]  # of several roles
    assert sorted(map(described, uncovered(each, wanted))) == lacking


def test_the_text_of_a_refusal() -> None:
    who = Requester("carol", ("a", 'b"'))
    missing = [rule("get", "-", "secrets"), rule("get", "apps", "deployments")]
    assert refusal(who, missing, 'role "x" not found') == (
        'user "carol" (groups=["a" "b\\""]) is attempting to grant RBAC permissions not currently held:\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}\n'
        '{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}'
        '; resolution errors: [role "x" not found]'
    )
    assert "(groups=[])" in refusal(Requester("nobody"), missing)


def test_combinations_are_bounded() -> None:
    words = " ".join(f"w{n}" for n in range(MOST_COMBINATIONS // 100))
    large = rule(words, words, words, words)
    with pytest.raises(TooManyCombinations, match="use several roles"):
        uncovered([RuleIndex([PODS])], [large])
    assert uncovered([RuleIndex([PODS, large])], [large]) == []
    assert uncovered([RuleIndex([PODS]), RuleIndex([ALL])], [large]) == []
    assert len(refusal(Requester("a"), uncovered([], [rule("get", words, "pods a b")])).splitlines()) == 1002
