"""`--authorization-mode RBAC`: the stored roles decide, and reviews say so."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from ktui.cli.server.request_chain import RBAC
from ktui.etcd.client import EtcdClient
from tests.etcd.apiserver.conftest import Api, running
from tests.etcd.apiserver.definitions import define

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

RBAC_V1 = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1"
BOB = {"Impersonate-User": "bob"}
REF = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}
TO_BOB = [{"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}]


@pytest.fixture
async def api(client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    async with running(client, prefix, mode=RBAC) as found:
        await made(found, "/api/v1/namespaces", {"metadata": {"name": "a"}})
        yield found


async def made(api: Api, path: str, body: dict[str, Any]) -> None:
    answer = await api.create(path, body)
    assert answer.status_code == 201, answer.text


async def give_bob_reads(api: Api) -> None:
    """In namespace a; returns when the server follows the roles that far."""
    await give_bob(api, {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]})


async def give_bob(api: Api, rule: dict[str, Any]) -> None:
    inside = f"{RBAC_V1}/namespaces/a"
    await made(api, f"{inside}/roles", {"metadata": {"name": "reader"}, "rules": [rule]})
    binding = {"metadata": {"name": "bobs"}, "roleRef": REF, "subjects": TO_BOB}
    await made(api, f"{inside}/rolebindings", binding)
    while not (await may(api, "get", rule["resources"][0], group=rule["apiGroups"][0]))["allowed"]:
        pass  # each is an answer of the server


async def may(
    api: Api, verb: str, resource: str = "configmaps", namespace: str = "a", group: str = ""
) -> dict[str, Any]:
    asked = {"verb": verb, "resource": resource, "namespace": namespace, "group": group}
    spec = {"resourceAttributes": asked}
    answer = await api.http.post(f"{REVIEWS}/subjectaccessreviews", json={"spec": {**spec, "user": "bob"}})
    assert answer.status_code == 201, answer.text
    status: dict[str, Any] = answer.json()["status"]
    return status


async def as_bob(api: Api, path: str, **more: Any) -> httpx.Response:
    return await api.http.request("GET", path, headers=BOB, **more)


async def test_what_bob_may_do(api: Api) -> None:
    path = "/api/v1/namespaces/a/configmaps"
    refused = await as_bob(api, path)
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" '
        'in the namespace "a"',
    )
    await api.warm()
    await give_bob_reads(api)
    assert (await as_bob(api, path)).status_code == 200
    assert (await as_bob(api, "/api/v1/configmaps")).status_code == 403
    assert (await as_bob(api, "/api/v1/namespaces/a/pods")).status_code == 403
    assert (await as_bob(api, "/metrics")).json()["message"] == (
        'forbidden: User "bob" cannot get path "/metrics"'
    )
    allowed = await may(api, "list")
    assert allowed == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "bobs/a" of Role "reader" to User "bob"',
    }
    assert await may(api, "delete") == {"allowed": False}


async def test_the_verb_of_the_path_is_authorized(api: Api, widgets: dict[str, Any]) -> None:
    """A write below `/watch/` needs `watch`, whatever its method; HEAD of a collection needs `list`."""
    await define(api, widgets)
    path = "/apis/example.io/v1/namespaces/a/widgets"
    body = {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "w"}}
    await made(api, path, body | {"spec": {"color": "red"}})
    verbs = ["get", "create", "update", "patch", "delete"]
    await give_bob(api, {"apiGroups": ["example.io", ""], "resources": ["widgets", "pods"], "verbs": verbs})
    assert (await api.http.head(f"{path}/w", headers=BOB)).status_code == 200
    for method, target, verb in (
        *((m, "widgets", "watch") for m in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "BREW")),
        *((m, "widgets/w", "watch") for m in ("GET", "POST", "PUT", "PATCH", "DELETE")),
        ("HEAD", "", "list"),
        ("HEAD", "?watch=1", "watch"),
    ):
        where = f"/apis/example.io/v1/watch/namespaces/a/{target}" if "w" in target[:1] else f"{path}{target}"
        answer = await api.http.request(
            method, where, headers=BOB, content=b"{}" if method == "POST" else b""
        )
        assert answer.status_code == 403, (method, where, answer.text)
        if method != "HEAD":
            assert f'User "bob" cannot {verb} resource "widgets"' in answer.json()["message"]
    for method in ("POST", "DELETE", "GET"):
        answer = await api.http.request(method, "/api/v1/watch/namespaces/a/pods", headers=BOB)
        assert answer.status_code == 403


async def test_a_binding_to_a_missing_role(api: Api) -> None:
    binding = {"metadata": {"name": "x"}, "roleRef": {**REF, "kind": "ClusterRole"}, "subjects": TO_BOB}
    await made(api, f"{RBAC_V1}/clusterrolebindings", binding)
    while "reason" not in (status := await may(api, "get")):
        pass
    reason = 'RBAC: clusterrole.rbac.authorization.k8s.io "reader" not found'
    assert status == {"allowed": False, "reason": reason}


async def test_my_rules(api: Api) -> None:
    await give_bob_reads(api)
    asked = {"spec": {"namespace": "a"}}
    answer = await api.http.post(f"{REVIEWS}/selfsubjectrulesreviews", json=asked, headers=BOB)
    assert answer.status_code == 201, answer.text
    status = answer.json()["status"]
    assert {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]} in status[
        "resourceRules"
    ]
    # The default roles system:basic-user and system:discovery are everybody's.
    assert any("selfsubjectreviews" in rule["resources"] for rule in status["resourceRules"])
    assert any("/healthz" in rule["nonResourceURLs"] for rule in status["nonResourceRules"])
    assert status["incomplete"] is False
    empty = await api.http.post(f"{REVIEWS}/selfsubjectrulesreviews", json={"spec": {}})
    assert (empty.status_code, empty.json()["message"]) == (400, "no namespace on request")


async def test_the_default_roles(api: Api) -> None:
    for name, least in (("clusterroles", 70), ("clusterrolebindings", 51)):
        items = (await api.http.get(f"{RBAC_V1}/{name}?limit=500")).json()["items"]
        labelled = [item for item in items if item["metadata"].get("labels")]
        assert len(labelled) == least
    assert (await as_bob(api, "/version")).status_code == 200
    anonymous = await api.http.get("/readyz", headers={"Authorization": ""})
    assert anonymous.status_code == 200
    scheduler = {"Impersonate-User": "system:kube-scheduler"}
    assert (await api.http.get("/api/v1/nodes?limit=1", headers=scheduler)).status_code != 403


PODS = {"verb": "get", "resource": "pods", "namespace": "a"}
FIELDS = "spec.resourceAttributes.fieldSelector"


@pytest.mark.parametrize(
    ("review", "body", "message"),
    [
        (
            "selfsubjectaccessreviews",
            {},
            "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
            "resourceAttributes must be specified",
        ),
        (
            "selfsubjectaccessreviews",
            {"spec": {"resourceAttributes": PODS, "nonResourceAttributes": {"path": "/x", "verb": "get"}}},
            'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in '
            "combination with resourceAttributes",
        ),
        (
            "selfsubjectaccessreviews",
            {"metadata": {"name": "x", "uid": "u"}, "spec": {"resourceAttributes": PODS}},
            'metadata: Invalid value: {"name":"x","managedFields":[…]}: must be empty',
        ),
        (
            "subjectaccessreviews",
            {"spec": {"resourceAttributes": PODS}},
            'spec.user: Invalid value: "": at least one of user or group must be specified',
        ),
        (
            "subjectaccessreviews",
            {"spec": {"user": "bob", "resourceAttributes": {**PODS, "fieldSelector": {}}}},
            f"{FIELDS}.requirements: Required value: when {FIELDS} is specified, requirements or rawSelector "
            "is required",
        ),
        (
            "namespaces/a/localsubjectaccessreviews",
            {"spec": {"user": "bob", "resourceAttributes": {**PODS, "namespace": "b"}}},
            'spec.resourceAttributes.namespace: Invalid value: "b": must match metadata.namespace',
        ),
        (
            "namespaces/a/localsubjectaccessreviews",
            {"spec": {"user": "bob", "nonResourceAttributes": {"path": "/x", "verb": "get"}}},
            'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind '
            "of request",
        ),
    ],
)
async def test_invalid_reviews(api: Api, review: str, body: dict[str, Any], message: str) -> None:
    """As upstream, which has lost the kind by then."""
    answer = await api.http.post(f"{REVIEWS}/{review}", json=body)
    found = re.sub(r"(managedFields\":\[).*(?=\]\})", r"\1…", answer.json()["message"])
    assert (answer.status_code, found) == (
        422,
        f'.authorization.k8s.io "" is invalid: {message}',
    )


async def test_a_review_of_another_namespace(api: Api) -> None:
    body = {"metadata": {"namespace": "b"}, "spec": {"user": "bob", "resourceAttributes": PODS}}
    answer = await api.http.post(f"{REVIEWS}/namespaces/a/localsubjectaccessreviews", json=body)
    assert answer.status_code == 400 and "does not match the namespace sent" in answer.json()["message"]


async def test_a_review_is_answered_as_its_type_keeps_it(api: Api) -> None:
    """Without empty texts and unknown fields; what of its selectors could not be understood is said."""
    some = [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "Newer"}]
    spec = {
        "user": "bob",
        "resourceAttributes": {
            **PODS, "group": "", "labelSelector": {"requirements": some},
            "fieldSelector": {"rawSelector": "a=b=c"},
        },
    }  # fmt: skip
    answer = await api.http.post(f"{REVIEWS}/subjectaccessreviews", json={"spec": spec, "more": 1})
    found = answer.json()
    assert "group" not in found["spec"]["resourceAttributes"] and "more" not in found
    assert found["status"] == {
        "allowed": False,
        "evaluationError": "spec.resourceAttributes.fieldSelector ignored due to parse error; "
        "spec.resourceAttributes.labelSelector partially ignored due to parse error",
    }
