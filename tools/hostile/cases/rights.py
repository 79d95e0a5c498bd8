"""Requests that would give a client rights that it does not have, or hide what it did."""

from __future__ import annotations

import asyncio
from typing import Any

from ktui.client.metrics_page import samples_of
from tools.hostile.case import case
from tools.hostile.target import MALLORY, RBAC, Answer, Target

GROUP = "rbac.authorization.k8s.io"
INSIDE = f"{RBAC}/namespaces/{MALLORY}"  # Mallory may write roles and bindings here
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
GRANTS = "is attempting to grant RBAC permissions not currently held"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
MAPS = "/api/v1/namespaces/default/configmaps"
FULL = "--audit-log-path=/dev/full"
Obj = dict[str, Any]


def role(name: str, *rules: Obj, kind: str = "Role", **more: Any) -> Obj:
    head = {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}}
    return {**head, "rules": list(rules), **more}


def binding(name: str, kind: str, of: str) -> Obj:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": of},
        "subjects": [{"kind": "User", "apiGroup": GROUP, "name": MALLORY}],
    }


@case("a LIST of all Secrets by a user with rights in one namespace")
async def secrets_of_all_namespaces(target: Target) -> str:
    answer = await as_mallory(target, "GET", "/api/v1/secrets")
    target.expect(answer.status == 403, answer)
    return str(answer.status)


@case("roles and bindings that grant more than their author may do")
async def escalation(target: Target) -> str:
    fine = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    for path, body, user in (
        (f"{INSIDE}/roles", role("fine", fine), MALLORY),
        (f"{INSIDE}/rolebindings", binding("fine", "Role", "fine"), MALLORY),
        (f"{RBAC}/clusterroles", role("writes-roles", WRITES_ROLES, kind="ClusterRole"), ""),
        (f"{RBAC}/clusterrolebindings", binding("w", "ClusterRole", "writes-roles") | CLUSTER_KIND, ""),
    ):
        await target.create(path, body, **({"user": user} if user else {}))
    while (await as_mallory(target, "GET", f"{RBAC}/clusterroles")).status != 200:
        await asyncio.sleep(0.05)
    admin = binding("evil", "ClusterRole", "cluster-admin")
    selects = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    tries: list[tuple[str, str, Obj, str, int]] = [
        ("POST", f"{INSIDE}/roles", role("evil", EVERYTHING), "", 403),
        ("POST", f"{INSIDE}/roles?dryRun=All", role("evil", EVERYTHING), "", 403),
        ("PUT", f"{INSIDE}/roles/evil", role("evil", EVERYTHING), "", 403),
        ("PUT", f"{INSIDE}/roles/fine", role("fine", EVERYTHING), "", 403),
        ("PATCH", f"{INSIDE}/roles/fine", {"rules": [EVERYTHING]}, MERGE, 403),
        ("PATCH", f"{INSIDE}/roles/new?fieldManager=m", role("new", EVERYTHING), APPLY, 403),
        ("PATCH", f"{INSIDE}/roles/fine?fieldManager=m&force=1", role("fine", EVERYTHING), APPLY, 403),
        ("POST", f"{INSIDE}/rolebindings", admin, "", 403),
        ("PUT", f"{INSIDE}/rolebindings/evil", admin, "", 403),
        ("PATCH", f"{INSIDE}/rolebindings/evil?fieldManager=m", admin, APPLY, 403),
        ("POST", f"{RBAC}/clusterrolebindings", admin | CLUSTER_KIND, "", 403),
        ("PATCH", f"{RBAC}/clusterrolebindings/cluster-admin", {"subjects": admin["subjects"]}, MERGE, 403),
        ("POST", f"{RBAC}/clusterroles", role("evil", EVERYTHING, kind="ClusterRole"), "", 403),
        ("POST", f"{RBAC}/clusterroles", role("evil", kind="ClusterRole", **selects), "", 403),
        ("PATCH", f"{RBAC}/clusterroles/writes-roles", selects, MERGE, 403),
        ("PATCH", f"{RBAC}/clusterroles/view", {"rules": [EVERYTHING]}, MERGE, 403),
        ("POST", f"{INSIDE}/rolebindings", binding("none", "Role", "nosuch"), "", 404),
    ]
    for method, path, body, kind, code in tries:
        answer = await as_mallory(target, method, path, body, kind)
        target.expect(answer.status == code, f"{method} {path}: {answer}")
        named = code != 403 or GRANTS in answer.message or "aggregationRule" in answer.message
        target.expect(named, f"{method} {path}: {answer}")
    answer = await as_mallory(target, "GET", "/api/v1/namespaces/default/secrets")
    target.expect(answer.status == 403, answer)
    return f"{len(tries)} refused"


WRITES_ROLES = {
    "apiGroups": [GROUP],
    "resources": ["clusterroles", "clusterrolebindings"],
    "verbs": ["get", "list", "create", "update", "patch"],
}
CLUSTER_KIND = {"kind": "ClusterRoleBinding"}


@case("roles with a trillion, and with a hundred thousand, combinations of group, resource and verb")
async def large_roles(target: Target) -> str:
    told = []
    for size in (10_000, 46):
        words = [f"w{number}" for number in range(size)]
        rule = {"apiGroups": words, "resources": words, "verbs": words}
        answer = await as_mallory(target, "POST", f"{INSIDE}/roles", role("large", rule))
        target.expect(answer.status == 403, answer)
        told.append(f"{answer.status} after {answer.seconds:.2f} s")
    return ", ".join(told)


@case("every method below /watch/, by a user who may not watch, and by one who may")
async def watch_paths(target: Target) -> str:
    await define_gadgets(target)
    tried = 0
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"):
        for prefix, plural in (("/api/v1", "secrets"), ("/apis/example.org/v1", "gadgets")):
            for where in (plural, f"namespaces/default/{plural}", f"namespaces/default/{plural}/x"):
                path = f"{prefix}/watch/{where}?timeoutSeconds=1"
                answer = await as_mallory(target, method, path, {} if method in ("POST", "PUT") else None)
                target.expect(answer.status == 403, f"{method} {path}: {answer}")
                tried += 1
            if method != "GET" and plural == "secrets":
                answer = await target.send(method, f"{prefix}/watch/namespaces/default/{plural}/x")
                target.expect(answer.status == 405, f"{method} {plural}: {answer}")
                tried += 1
    return f"{tried} refused"


@case("HEAD of a collection with the right to get, and an apply of a missing object without create")
async def neighbouring_verbs(target: Target) -> str:
    await define_gadgets(target)
    rules = [
        {"apiGroups": ["example.org"], "resources": ["gadgets"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch", "update"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["update"]},
    ]
    where = f"{RBAC}/namespaces/default"
    await target.create(f"{where}/roles", role("neighbours", *rules))
    await target.create(f"{where}/rolebindings", binding("neighbours", "Role", "neighbours"))
    gadgets = "/apis/example.org/v1/namespaces/default/gadgets"
    while (await as_mallory(target, "GET", f"{gadgets}/none")).status == 403:
        await asyncio.sleep(0.05)
    new = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}}
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    for method, path, body, kind in (
        ("HEAD", gadgets, None, ""),
        ("HEAD", f"{gadgets}?watch=1", None, ""),
        ("GET", gadgets, None, ""),
        ("PATCH", f"{MAPS}/new?fieldManager=m", new, APPLY),
        ("PUT", f"{leases}/new", {"metadata": {"name": "new"}}, ""),
    ):
        answer = await as_mallory(target, method, path, body, kind)
        target.expect(answer.status == 403, f"{method} {path}: {answer}")
    target.expect((await target.send("GET", f"{MAPS}/new")).status == 404, "it was created")
    return "5 refused"


VERBS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
NAMED = "?fieldSelector=metadata.name%3Dm"
# With one right alone, of ConfigMaps and of Gadgets: the methods, and the ends of the path. (As upstream, a
# custom resource's POST ignores a name in the path.)
ALLOWED = {
    "get": {(method, "/m") for method in ("GET", "HEAD")},
    "list": {(method, place) for method in ("GET", "HEAD") for place in ("", NAMED)},
    "watch": {(method, "?watch=1") for method in ("GET", "HEAD")},
    "create": {("POST", place) for place in ("", "/m", "/new", NAMED, "?watch=1")},
    "update": {("PUT", "/m")},
    "patch": {("PATCH", "/m"), ("APPLY", "/m")},
    "delete": {("DELETE", "/m")},
    "deletecollection": {("DELETE", place) for place in ("", NAMED, "?watch=1")},
}
PLACES = ("", "/m", "/new", "/m/status", NAMED, "?watch=1")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "APPLY", "DELETE", "OPTIONS", "get", "BREW")


@case("every method on objects and collections, with each verb as the only right", within=120)
async def one_right_at_a_time(target: Target) -> str:
    await define_gadgets(target)
    kinds = (("", "v1", "ConfigMap", "configmaps"), ("example.org", "example.org/v1", "Gadget", "gadgets"))
    for group, version, kind, plural in kinds:
        base = f"/apis/{version}" if group else "/api/v1"
        head = {"apiVersion": version, "kind": kind}
        await target.create(f"{base}/namespaces/beside/{plural}", {**head, "metadata": {"name": "m"}})
    inside, tried = f"{RBAC}/namespaces/beside", 0
    groups, plurals = [group for group, *_ in kinds], [plural for *_, plural in kinds]
    for verb in VERBS:
        for path in ("rolebindings/one", "roles/one"):
            await target.send("DELETE", f"{inside}/{path}")
        await _decided(target, verb, allowed=False)
        rule = {"apiGroups": groups, "resources": plurals, "verbs": [verb]}
        await target.create(f"{inside}/roles", role("one", rule))
        await target.create(f"{inside}/rolebindings", binding("one", "Role", "one"))
        await _decided(target, verb, allowed=True)
        for group, version, kind, plural in kinds:
            base = f"/apis/{version}" if group else "/api/v1"
            for place in PLACES:
                for method in METHODS:
                    path = f"{base}/namespaces/beside/{plural}{place}{'&' if '?' in place else '?'}"
                    path += "dryRun=All&timeoutSeconds=1&fieldManager=m"
                    name = "new" if place == "/new" else "m"
                    body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
                    sent = body if method in ("POST", "PUT", "PATCH", "APPLY") else None
                    content = {"APPLY": APPLY, "PATCH": MERGE}.get(method, "")
                    answer = await as_mallory(
                        target, "PATCH" if method == "APPLY" else method, path, sent, content
                    )
                    may = (method, place) in ALLOWED[verb]
                    tried += 1
                    target.expect(
                        may or answer.status in (400, 403, 404, 405, 415),
                        f"{method} {path} with {verb}: {answer}",
                    )
    return f"{tried} requests"


async def _decided(target: Target, verb: str, *, allowed: bool) -> None:
    """Return once the server follows a right of Mallory's."""
    asked = {"verb": verb, "resource": "configmaps", "namespace": "beside", "name": "m"}
    spec = {"spec": {"user": MALLORY, "resourceAttributes": asked}}
    while True:
        answer = await target.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", spec)
        if answer.json["status"]["allowed"] is allowed:
            return


@case("two Host or Authorization headers, and a Host that is not a host")
async def ambiguous_headers(target: Target) -> str:
    token = b"Authorization: Bearer admin\r\n"
    heads = (
        b"Host: localhost\r\nHost: localhost\r\n" + token,
        b"Host: localhost\r\n" + token + b"Authorization: Bearer mallory\r\n",
        b"Host: localhost#evil.com\r\n" + token,
        b"Host: evil.com@127.0.0.1\r\n" + token,
        b"Host: localhost/evil\r\n" + token,
    )
    for head in heads:
        answer = await target.send_raw(b"GET /api/v1/nodes HTTP/1.1\r\n" + head + b"\r\n")
        target.expect(answer.status == 400, f"{head!r}: {answer}")
    return f"{len(heads)} refused"


@case("an audit log on a full disk", options=[FULL])
async def full_disk(target: Target) -> str:
    for number in range(20):
        await target.send("GET", f"{MAPS}/{number}")
    page = (await target.send("GET", "/metrics")).body
    lost = sum(sample.value for sample in samples_of(page, "apiserver_audit_error_total"))
    target.expect(lost >= 20, f"{lost:.0f} Events counted as lost")
    warnings = (await target.send("GET", "/ktui/v1/info")).json["warnings"]
    target.expect(any("its lines are lost" in text for text in warnings), warnings)
    return f"{lost:.0f} Events counted as lost"


async def as_mallory(
    target: Target, method: str, path: str, body: Any = None, content_type: str = ""
) -> Answer:
    return await target.send(
        method, path, body, user=MALLORY, content_type=content_type or "application/json"
    )


async def define_gadgets(target: Target) -> None:
    names = {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": "example.org", "scope": "Namespaced", "names": names, "versions": [version]}
    body = {"metadata": {"name": "gadgets.example.org"}, "spec": spec}
    await target.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    while (await target.send("GET", "/apis/example.org/v1/gadgets")).status != 200:
        await asyncio.sleep(0.05)
