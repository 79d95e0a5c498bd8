"""What of a pod may change, and in which words upstream refuses the rest."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ktui.writes.validation.internal_types import MOST_BYTES
from ktui.writes.validation.updates.kinds import update_errors

OTHERS = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
    "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it "
    "was previously "
    "negative)\n"
)
NODE = {"key": "a", "operator": "Exists"}
TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


def named(old: str, new: str) -> str:
    """The lines by which upstream shows a changed name of the node."""
    before = ' "NodeSelector": null,\n  "ServiceAccountName": "",\n  "AutomountServiceAccountToken": null,\n'
    after = '  "SecurityContext": null,\n  "ImagePullSecrets": null,\n  "Hostname": "",\n'
    return f'@@ -42,7 +42,7 @@\n {before}- "NodeName": "{old}",\n+ "NodeName": "{new}",\n{after}'


def told(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The errors of an update from one spec to the other."""
    container = {"containers": [{"name": "c", "image": "i:1"}]}
    pods = ({"spec": {**container, **spec}} for spec in (old, new))
    return [str(error) for error in update_errors("pods", *pods)]


def affinity(*terms: list[str], preferred: int = 1) -> dict[str, Any]:
    required = [{"matchExpressions": [{"key": k, "operator": "Exists"} for k in keys]} for keys in terms]
    return {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": required},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": preferred}],
        }
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"containers": [{"name": "c", "image": "i:2"}]}),
        (
            {"initContainers": [{"name": "c", "image": "i:1"}]},
            {"initContainers": [{"name": "c", "image": "i:2"}]},
        ),
        ({}, {"activeDeadlineSeconds": 10}),
        ({"activeDeadlineSeconds": 10}, {"activeDeadlineSeconds": 9}),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}, {"key": "a"}]}),
        (
            {"tolerations": [{"key": "a", "effect": "NoExecute", "tolerationSeconds": 3}]},
            {"tolerations": [{"key": "a", "effect": "NoExecute", "tolerationSeconds": 4}]},
        ),
        ({"terminationGracePeriodSeconds": -1}, {"terminationGracePeriodSeconds": 1}),
        ({"schedulingGates": [{"name": "a"}, {"name": "b"}]}, {"schedulingGates": [{"name": "b"}]}),
        ({"serviceAccountName": "a", "serviceAccount": "a"}, {"serviceAccountName": "a"}),
        ({}, {"volumes": []}),
    ],
)
def test_what_may_change(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert told(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        ({}, {"nodeName": "n"}, [f"spec: {OTHERS}{named('', 'n')}"]),
        ({"nodeName": "n"}, {"nodeName": "m"}, [f"spec: {OTHERS}{named('n', 'm')}"]),
        (
            {},
            {"containers": [{"name": "c", "image": "i:2", "command": ["<"]}]},
            [
                f'spec: {OTHERS}@@ -5,7 +5,9 @@\n   {{\n    "Name": "c",\n    "Image": "i:1",\n'
                '-   "Command": null,\n+   "Command": [\n+    "\\u003c"\n+   ],\n'
                '    "Args": null,\n    "WorkingDir": "",\n    "Ports": null,\n'
            ],
        ),
        (
            {"terminationGracePeriodSeconds": 30},
            {"terminationGracePeriodSeconds": 1},
            [
                f"spec: {OTHERS}@@ -36,7 +36,7 @@\n"
                '  ],\n  "EphemeralContainers": null,\n  "RestartPolicy": "",\n'
                '- "TerminationGracePeriodSeconds": 30,\n+ "TerminationGracePeriodSeconds": 1,\n'
                '  "ActiveDeadlineSeconds": null,\n  "DNSPolicy": "",\n  "NodeSelector": null,\n'
            ],
        ),
        (
            {},
            {"containers": [{"name": "c", "image": "i"}] * 2, "nodeName": "n"},
            ["spec.containers: Forbidden: pod updates may not add or remove containers"],
        ),
        (
            {},
            {"initContainers": [{"name": "c", "image": "i"}]},
            ["spec.initContainers: Forbidden: pod updates may not add or remove containers"],
        ),
        ({}, {"containers": [{"name": "c"}]}, ["spec.containers[0].image: Required value"]),
        (
            {},
            {"containers": [{"name": "c", "image": " i"}]},
            ['spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace'],
        ),
        (
            {"activeDeadlineSeconds": 9},
            {"activeDeadlineSeconds": 10, "nodeName": "n"},
            ["spec.activeDeadlineSeconds: Invalid value: 10: must be less than or equal to previous value"],
        ),
        (
            {"activeDeadlineSeconds": 9},
            {},
            [
                "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer "
                "to nil"
                " value"
            ],
        ),
        (
            {},
            {"activeDeadlineSeconds": -1, "nodeName": "n"},
            [
                "spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647, inclusive",
            ],
        ),
        (
            {"tolerations": [{"key": "a"}]},
            {"tolerations": [{"key": "a"}, {"key": "b", "operator": "Near"}]},
            ['spec.tolerations[1].operator: Unsupported value: "Near": supported values: "Equal", "Exists"'],
        ),
        (
            {"tolerations": [{"key": "a", "effect": "NoExecute"}]},
            {"tolerations": [{"key": "a"}], "nodeName": "n"},
            [
                "spec.tolerations: Forbidden: existing toleration can not be modified except its "
                "tolerationSeconds",
                f"spec: {OTHERS}{named('', 'n')}",
            ],
        ),
        (
            {"schedulingGates": [{"name": "a"}]},
            {"schedulingGates": [{"name": "a"}, {"name": "b"}]},
            [
                "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new "
                "scheduling gate"
                " 'b'"
            ],
        ),
    ],
)
def test_what_is_refused(old: dict[str, Any], new: dict[str, Any], errors: list[str]) -> None:
    assert told(old, new) == errors


GATED = {"schedulingGates": [{"name": "g"}]}


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "2", "a": "1"}}, []),
        (
            {"nodeSelector": {"a": "1"}},
            {"nodeSelector": {"b": "2"}},
            [
                'spec.nodeSelector: Invalid value: {"b":"2"}: only additions to spec.nodeSelector are '
                "allowed (no"
                " mutations or deletions)"
            ],
        ),
        ({}, {"affinity": affinity(["a"])}, []),
        ({"affinity": affinity(["a"])}, {"affinity": affinity(["a", "b"], preferred=2)}, []),
        (
            {"affinity": affinity(["a"])},
            {"affinity": affinity(["a"], ["b"])},
            [
                f"{TERMS}: Invalid value: "
                f'[{{"MatchExpressions":[{{"Key":"a","Operator":"Exists","Values":null}}],'
                '"MatchFields":null},{"MatchExpressions":[{"Key":"b","Operator":"Exists","Values":null}],'
                '"MatchFields":null}]: no additions/deletions to non-empty NodeSelectorTerms list are allowed'
            ],
        ),
        (
            {"affinity": affinity(["a"])},
            {"affinity": affinity(["b"])},
            [
                f"{TERMS}[0]: Invalid value: "
                f'{{"MatchExpressions":[{{"Key":"b","Operator":"Exists","Values":null}}],'
                '"MatchFields":null}: only additions are allowed (no mutations or deletions)'
            ],
        ),
        (
            {"affinity": affinity(["a"])},
            {},
            [
                f"{TERMS}: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list "
                "are"
                " allowed"
            ],
        ),
    ],
)
def test_gated_pods(old: dict[str, Any], new: dict[str, Any], errors: list[str]) -> None:
    assert told({**GATED, **old}, {**GATED, **new}) == errors


def test_what_only_gated_pods_may_change() -> None:
    (error,) = told({}, {"nodeSelector": {"a": "1"}})
    assert '\n- "NodeSelector": null,\n+ "NodeSelector": {\n+  "a": "1"\n+ },\n' in error


def test_only_a_newline_ends_a_line_of_the_difference() -> None:
    (error,) = told({"hostname": "a\x85b\x0cc"}, {"hostname": "a\x85b"})
    assert '- "Hostname": "a\x85b\\fc",\n+ "Hostname": "a\x85b",\n' in error


def many_variables(count: int) -> dict[str, Any]:
    env = [{"name": f"V{number}", "value": str(number)} for number in range(count)]
    return {"containers": [{"name": "c", "image": "i:1", "env": env}]}


@pytest.mark.parametrize("count", [10, 300])
def test_a_difference_far_behind_in_a_long_pod_is_shown(count: int) -> None:
    """`spec.nodeName` follows the containers: at 300 variables after some 2,400 lines."""
    pods = [{**many_variables(count), "nodeName": name} for name in ("a", "b")]
    (error,) = told(*pods)
    changed = [line for line in error.split("\n") if line[:1] in ("+", "-")]
    assert changed == ['- "NodeName": "a",', '+ "NodeName": "b",']
    head = next(line for line in error.split("\n") if line.startswith("@@"))
    at = int(head.split()[1].removeprefix("-").partition(",")[0])
    assert at > 5 * count and head == f"@@ -{at},7 +{at},7 @@"


def test_both_values_of_a_difference_have_the_same_names() -> None:
    """One of them is just too long for Go's names, the other is not."""
    size = next(n for n in range(1, 2000) if len(msgspec.json.encode(many_variables(n))) > MOST_BYTES - 100)
    short = {**many_variables(size), "hostname": "x"}
    long = {**many_variables(size), "hostname": "x" * 200}
    (error,) = told(short, long)
    assert len([line for line in error.split("\n") if line[:1] in ("+", "-")]) == 2


@pytest.mark.parametrize("member", ["affinity", "dnsConfig", "resources"])
def test_an_empty_struct_is_not_a_missing_one(member: str) -> None:
    """As upstream compares pointers; empty lists and maps are equal to missing ones."""
    (error,) = told({}, {member: {}})
    assert error.startswith(f"spec: {OTHERS}")
    assert told({}, {"nodeSelector": {}, "volumes": []}) == []
