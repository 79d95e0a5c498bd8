"""No client raises its rights: by roles and bindings, or by an update that creates."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from ktui.cli.server.request_chain import RBAC
from ktui.etcd.client import EtcdClient
from tests.etcd.apiserver.conftest import Api, running

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

V1 = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
INSIDE = f"{V1}/namespaces/a"
MAPS = "/api/v1/namespaces/a/configmaps"
Obj = dict[str, Any]


def rule(verbs: str, resources: str, group: str = "", names: str = "") -> Obj:
    found = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    return {**found, "resourceNames": names.split()} if names else found


def role(name: str, *rules: Obj, **more: Any) -> Obj:
    return {"metadata": {"name": name}, "rules": list(rules), **more}


def binding(name: str, kind: str, of: str, user: str = "carol") -> Obj:
    subjects = [{"kind": "User", "name": user, "apiGroup": GROUP}]
    ref = {"apiGroup": GROUP, "kind": kind, "name": of}
    return {"metadata": {"name": name}, "roleRef": ref, "subjects": subjects}


WRITES = rule("create update patch get", "roles rolebindings clusterroles clusterrolebindings", GROUP)
READS = rule("get", "configmaps")


@pytest.fixture
async def api(client: EtcdClient, prefix: str) -> AsyncIterator[Api]:
    """Carol may write roles and bindings; in namespace `a` she may also get ConfigMaps."""
    async with running(client, prefix, mode=RBAC) as found:
        for path, body in (
            ("/api/v1/namespaces", {"metadata": {"name": "a"}}),
            ("/api/v1/namespaces", {"metadata": {"name": "b"}}),
            (f"{V1}/clusterroles", role("writes", WRITES)),
            (f"{V1}/clusterrolebindings", binding("writes", "ClusterRole", "writes")),
            (f"{INSIDE}/roles", role("reads", READS)),
            (f"{INSIDE}/rolebindings", binding("reads", "Role", "reads")),
        ):
            assert (await found.create(path, body)).status_code == 201
        await followed(found, "configmaps")
        await followed(found, "clusterroles", "update", group=GROUP)  # other collections
        yield found


async def followed(api: Api, resource: str, verb: str = "get", user: str = "carol", group: str = "") -> None:
    """Return once the server allows it; each round is an answer."""
    asked = {"verb": verb, "resource": resource, "namespace": "a", "group": group}
    while True:
        spec = {"spec": {"user": user, "resourceAttributes": asked}}
        answer = await api.http.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", json=spec)
        if answer.json()["status"]["allowed"]:
            return


async def send(
    api: Api, method: str, path: str, body: Obj | None = None, user: str = "carol", kind: str = ""
) -> httpx.Response:
    headers = {"Impersonate-User": user} if user else {}
    if method == "PATCH":
        headers["Content-Type"] = kind or "application/merge-patch+json"
    return await api.http.request(method, path, json=body, headers=headers)


def held(what: str, name: str, *lines: str) -> str:
    return (
        f'{what}.{GROUP} "{name}" is forbidden: user "carol" (groups=["system:authenticated"]) is attempting '
        "to grant RBAC permissions not currently held:\n" + "\n".join(lines)
    )


MAPS_LINE = '{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}'
ALL_LINES = (
    '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
    '{NonResourceURLs:["*"], Verbs:["*"]}',
)
APPLY = "application/apply-patch+yaml"
SELECTS = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
FULL = "must have cluster-admin privileges to use the aggregationRule"


async def test_roles_and_bindings_grant_only_what_their_author_may_do(api: Api) -> None:
    evil, every = rule("*", "*", "*"), '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'
    named = rule("get", "configmaps", names="x")
    kinds = {
        "roles": "Role",
        "rolebindings": "RoleBinding",
        "clusterroles": "ClusterRole",
        "clusterrolebindings": "ClusterRoleBinding",
    }
    cases: list[tuple[str, str, Obj, int, str]] = [
        # roles
        ("POST", f"{INSIDE}/roles", role("evil", evil), 403, held("roles", "evil", every)),
        ("PUT", f"{INSIDE}/roles/evil", role("evil", evil), 403, held("roles", "evil", every)),
        ("PUT", f"{INSIDE}/roles/reads", role("reads", evil), 403, held("roles", "reads", every)),
        ("PATCH", f"{INSIDE}/roles/reads", {"rules": [evil]}, 403, held("roles", "reads", every)),
        ("APPLY", f"{INSIDE}/roles/reads", role("reads", evil), 403, held("roles", "reads", every)),
        ("APPLY", f"{INSIDE}/roles/new", role("new", evil), 403, held("roles", "new", every)),
        ("POST", f"{INSIDE}/roles?dryRun=All", role("evil", evil), 403, held("roles", "evil", every)),
        ("POST", f"{INSIDE}/roles", role("fine", READS, named), 201, ""),
        ("PATCH", f"{INSIDE}/roles/fine", {"rules": [named]}, 200, ""),
        # the rights of namespace a are none in b, and none in the cluster
        (
            "POST",
            f"{V1}/namespaces/b/roles",
            role("reads", READS),
            403,
            held("roles", "reads", MAPS_LINE),
        ),
        ("POST", f"{V1}/clusterroles", role("r", READS), 403, held("clusterroles", "r", MAPS_LINE)),
        ("POST", f"{V1}/clusterroles", role("writes2", WRITES), 201, ""),
        ("POST", f"{V1}/clusterroles", role("all", **SELECTS), 403, f"clusterroles.{GROUP} {FULL}"),
        ("PATCH", f"{V1}/clusterroles/writes2", SELECTS, 403, f"clusterroles.{GROUP} {FULL}"),
        ("PATCH", f"{V1}/clusterroles/view", {"aggregationRule": None, "rules": []}, 403, FULL),
        # bindings
        (
            "POST",
            f"{V1}/clusterrolebindings",
            binding("evil", "ClusterRole", "cluster-admin"),
            403,
            held("clusterrolebindings", "evil", *ALL_LINES),
        ),
        (
            "APPLY",
            f"{V1}/clusterrolebindings/evil",
            binding("evil", "ClusterRole", "cluster-admin"),
            403,
            held("clusterrolebindings", "evil", *ALL_LINES),
        ),
        (
            "PATCH",
            f"{V1}/clusterrolebindings/cluster-admin",
            {"subjects": [{"kind": "User", "name": "carol", "apiGroup": GROUP}]},
            403,
            held("clusterrolebindings", "cluster-admin", *ALL_LINES),
        ),
        (
            "POST",
            f"{INSIDE}/rolebindings",
            binding("evil", "ClusterRole", "cluster-admin"),
            403,
            held("rolebindings", "evil", *ALL_LINES),
        ),
        (
            "POST",
            f"{INSIDE}/rolebindings",
            binding("none", "Role", "nosuch"),
            404,
            f'rolebindings.{GROUP} "nosuch" not found',  # upstream names the request's resource
        ),
        ("POST", f"{INSIDE}/rolebindings", binding("fine", "Role", "reads", "dave"), 201, ""),
        ("PUT", f"{INSIDE}/rolebindings/fine", binding("fine", "Role", "reads", "eve"), 200, ""),
        ("PUT", f"{INSIDE}/rolebindings/other", binding("other", "Role", "reads"), 201, ""),
        ("POST", f"{V1}/clusterrolebindings", binding("fine", "ClusterRole", "writes2"), 201, ""),
    ]
    for method, path, body, code, message in cases:
        if method == "APPLY":
            plural = path.rsplit("/", 2)[1]
            body = {"apiVersion": f"{GROUP}/v1", "kind": kinds[plural], **body}
            answer = await send(api, "PATCH", f"{path}?fieldManager=t&force=true", body, kind=APPLY)
        else:
            answer = await send(api, method, path, body)
        assert answer.status_code == code, (method, path, answer.text)
        if message.endswith(FULL):
            assert answer.json()["message"].endswith(f"is forbidden: {FULL}")
        elif message:
            assert answer.json()["message"] == message, (method, path)
    assert (await send(api, "GET", "/api/v1/secrets")).status_code == 403


async def test_who_may_grant_more(api: Api) -> None:
    """`escalate` and `bind` allow it, each for what it names; system:masters may always."""
    admin = binding("x", "ClusterRole", "cluster-admin")
    rights = [
        rule("escalate", "roles", GROUP, names="named"),
        rule("bind", "clusterroles", GROUP, names="cluster-admin"),
    ]
    assert (await api.create(f"{INSIDE}/roles", role("more", *rights))).status_code == 201
    assert (await api.create(f"{INSIDE}/roles", role("named", READS))).status_code == 201
    assert (await api.create(f"{INSIDE}/rolebindings", binding("more", "Role", "more"))).status_code == 201
    while (await send(api, "POST", f"{INSIDE}/rolebindings?dryRun=All", admin)).status_code != 201:
        pass  # each is an answer of the server
    evil = [rule("*", "*", "*")]
    for method, path, body, code in (
        ("PATCH", f"{INSIDE}/roles/named", {"rules": evil}, 200),
        ("PATCH", f"{INSIDE}/roles/reads", {"rules": evil}, 403),
        ("POST", f"{INSIDE}/roles", role("new", *evil), 403),
        ("POST", f"{INSIDE}/rolebindings", binding("v", "ClusterRole", "admin"), 403),
        ("POST", f"{V1}/clusterrolebindings", admin, 403),
    ):
        assert (await send(api, method, path, body)).status_code == code, (method, path)
    assert (await send(api, "POST", f"{V1}/clusterrolebindings", admin, user="")).status_code == 201


async def test_the_garbage_collector_may_write_what_it_writes(api: Api) -> None:
    """The update of an owner needs no right of the role, another label does."""
    path = f"{V1}/clusterrolebindings/cluster-admin"
    for body, code in (
        ({"metadata": {"finalizers": ["example.io/x"]}}, 200),
        ({"metadata": {"labels": {"a": "b"}}}, 403),
    ):
        assert (await send(api, "PATCH", path, body)).status_code == code


async def test_an_update_that_creates_needs_both_rights(api: Api) -> None:
    rules = [rule("update patch get", "configmaps services"), rule("update", "leases", "coordination.k8s.io")]
    assert (await api.create(f"{INSIDE}/roles", role("writes", *rules))).status_code == 201
    assert (
        await api.create(f"{INSIDE}/rolebindings", binding("dave", "Role", "writes", "dave"))
    ).status_code == 201
    await followed(api, "configmaps", "patch", "dave")
    new = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": "b"}}
    where = f"{MAPS}/new?fieldManager=t"
    refused = await send(api, "PATCH", where, new, user="dave", kind=APPLY)
    assert (refused.status_code, refused.json()["message"]) == (403, 'configmaps "new" is forbidden: ')
    assert refused.json()["details"] == {"name": "new", "kind": "configmaps"}
    lease = "/apis/coordination.k8s.io/v1/namespaces/a/leases/new"
    refused = await send(api, "PUT", lease, {"metadata": {"name": "new"}}, user="dave")
    assert refused.json()["message"] == 'leases.coordination.k8s.io "new" is forbidden: '
    assert (await api.get(f"{MAPS}/new")).status_code == 404
    assert (await send(api, "PATCH", where, new, user="", kind=APPLY)).status_code == 201
    new["data"] = {"a": "c"}
    assert (await send(api, "PATCH", f"{where}&force=true", new, user="dave", kind=APPLY)).status_code == 200


async def test_odd_roles_and_references_have_an_answer_of_upstream(api: Api) -> None:
    """Nulls and empty texts reach the check before the validation."""
    path, named = f"{V1}/clusterroles/writes?dryRun=All", {"metadata": {"name": "writes"}}
    for rules, code in (
        ([None], 422),
        ([{"verbs": None}], 422),
        ([{"verbs": ["get"], "apiGroups": None, "resources": ["pods"]}], 422),
        ([{"verbs": [""], "apiGroups": [""], "resources": [""]}], 403),
        (None, 200),
    ):
        answer = await send(api, "PUT", path, {**named, "rules": rules})
        assert answer.status_code == code, (rules, answer.text)
    for ref, code, message in (
        (None, 500, 'unsupported role reference kind: ""'),
        ({"kind": "X", "name": "y"}, 500, 'unsupported role reference kind: "X"'),
        ({"kind": "Role", "name": "x"}, 400, "Namespace parameter required."),
        ({"kind": "ClusterRole"}, 404, f'clusterrolebindings.{GROUP} "" not found'),
    ):
        body = {"metadata": {"name": "odd"}, "roleRef": ref}
        answer = await send(api, "POST", f"{V1}/clusterrolebindings?dryRun=All", body)
        assert (answer.status_code, answer.json()["message"]) == (code, message)
