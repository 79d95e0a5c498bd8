"""Which requests an audit policy selects, and which policies are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.kube.requestinfo import attributes_of, parse_path, request_verb, rules_verb
from ktui.kube.users import ANONYMOUS, Requester
from ktui.requestlogs.audit_policy import Audited, AuditPolicy, read_policy

KUBELET = Requester("system:node:n1", ("system:nodes", "system:authenticated"))
HEAD = "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
POLICY = """
omitStages: [RequestReceived]
rules:
- {level: None, users: [kube-proxy], verbs: [watch], resources: [{group: "", resources: [endpoints]}]}
- level: None
  userGroups: ["system:nodes"]
  verbs: [get]
  resources: [{group: "", resources: [nodes, nodes/status]}]
- {level: None, nonResourceURLs: ["/healthz*", /version]}
- level: None
  namespaces: [kube-system]
  resources: [{group: "", resources: [configmaps], resourceNames: [lock]}]
- {level: Metadata, resources: [{group: "", resources: ["*/status", "pods/*"]}], omitStages: [Panic]}
- {level: None, resources: [{group: batch}]}
- {level: Metadata, userGroups: ["system:nodes", "system:authenticated"]}
"""


def policy(tmp_path: Path, text: str) -> AuditPolicy:
    file = tmp_path / "policy.yaml"
    file.write_text(HEAD + text)
    return read_policy(file)


def audited(found: AuditPolicy, who: Requester | None, method: str, path: str, query: str = "") -> Audited:
    info = parse_path(path)
    return found.decide(who, attributes_of(info, rules_verb(info, request_verb(method, info, query))))


@pytest.mark.parametrize(
    ("who", "method", "path", "level"),
    [
        (Requester("kube-proxy"), "GET", "/api/v1/watch/endpoints", "None"),
        (KUBELET, "GET", "/api/v1/nodes/n1", "None"),
        (KUBELET, "GET", "/api/v1/nodes", "Metadata"),  # a LIST
        (KUBELET, "PUT", "/api/v1/nodes/n1/status", "Metadata"),
        (KUBELET, "GET", "/healthz/etcd", "None"),
        (KUBELET, "GET", "/version", "None"),
        (KUBELET, "GET", "/versions", "Metadata"),
        (KUBELET, "GET", "/api/v1/namespaces/kube-system/configmaps/lock", "None"),
        (KUBELET, "GET", "/api/v1/namespaces/kube-system/configmaps/other", "Metadata"),
        (KUBELET, "GET", "/api/v1/namespaces/shop/configmaps/lock", "Metadata"),
        (KUBELET, "POST", "/api/v1/namespaces/shop/pods/p/eviction", "Metadata"),
        (KUBELET, "GET", "/apis/batch/v1/namespaces/shop/jobs/j/status", "None"),  # another group's status
        (ANONYMOUS, "GET", "/api/v1/services", "None"),  # no rule
        (ANONYMOUS, "GET", "/api/v1/pods", "Metadata"),  # pods/* matches pods, too
        (None, "GET", "/api/v1/services", "None"),
        (None, "GET", "/api/v1/namespaces/shop/pods/p/log", "Metadata"),
    ],
)
def test_the_first_rule_that_matches_decides(
    tmp_path: Path, who: Requester | None, method: str, path: str, level: str
) -> None:
    assert audited(policy(tmp_path, POLICY), who, method, path).level == level


def test_stages_are_omitted_by_the_policy_and_by_the_rule(tmp_path: Path) -> None:
    found = policy(tmp_path, POLICY)
    assert audited(found, KUBELET, "GET", "/api/v1/nodes").omitted == {"RequestReceived"}
    omitted = audited(found, KUBELET, "PUT", "/api/v1/nodes/n1/status").omitted
    assert omitted == {"RequestReceived", "Panic"}


def test_a_member_that_is_null_is_absent(tmp_path: Path) -> None:
    found = policy(tmp_path, "omitStages: null\nrules: [{level: Request, users: null, namespaces: null}]")
    assert audited(found, KUBELET, "GET", "/api/v1/nodes").level == "Request"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("rules: []", "has no rules"),
        ("rules: [{level: Everything}]", "Invalid enum value 'Everything'"),
        ("rules: [{verbs: [get]}]", "missing required field `level`"),
        ("rules: [{level: None, verb: [get]}]", "unknown field `verb`"),
        ("rules: [{level: None, omitStages: [Done]}]", "Invalid enum value 'Done'"),
        ("rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]", "cannot apply to both"),
        ("rules: [{level: None, nonResourceURLs: [a]}]", "must begin with a slash"),
        ("rules: [{level: None, nonResourceURLs: ['/a*b']}]", "at the end only"),
        ("rules: [{level: None, resources: [{resourceNames: [a]}]}]", "requires at least one resource"),
        ("rules: [", "cannot be read"),
        ("kind: Policies", "cannot be read"),
    ],
)  # fmt: skip
def test_a_policy_that_cannot_be_followed_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ValueError, match="--audit-policy-file") as refused:
        policy(tmp_path, text)
    assert why in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere\.yaml cannot be read"):
        read_policy(tmp_path / "nowhere.yaml")


def test_a_rule_decides_about_managed_fields_before_the_policy(tmp_path: Path) -> None:
    found = policy(
        tmp_path,
        """
omitManagedFields: true
rules:
- {level: RequestResponse, resources: [{group: "", resources: [pods]}], omitManagedFields: false}
- {level: Request}
""",
    )
    assert audited(found, KUBELET, "GET", "/api/v1/pods") == ("RequestResponse", frozenset(), False)
    assert audited(found, KUBELET, "GET", "/api/v1/nodes") == ("Request", frozenset(), True)
