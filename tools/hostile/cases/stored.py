"""Objects whose author may store them, and which then cost something at each request of everybody."""

from __future__ import annotations

import asyncio
from typing import Any

from tools.hostile.case import case
from tools.hostile.cases.rights import GROUP, INSIDE, as_mallory, binding, role
from tools.hostile.costly import DRY, MAPS, defined, definition, named
from tools.hostile.target import MALLORY, RBAC, Target

EVERYBODY = [{"kind": "Group", "apiGroup": GROUP, "name": "system:authenticated"}]
PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
RULES = 12_000


def many_rules(first: int = 0) -> list[dict[str, Any]]:
    """Rules that Mallory's own right includes; together about a megabyte."""
    return [{**PODS, "resourceNames": [f"n{number}"]} for number in range(first, first + RULES)]


@case("roles of 12,000 rules, bound to everybody", within=90, memory_mb=900)
async def roles_of_many_rules(target: Target) -> str:
    for number in range(8):
        name = f"many-{number}"
        answer = await as_mallory(target, "POST", f"{INSIDE}/roles", role(name, *many_rules(number)))
        target.expect(answer.status in (201, 409), answer)
        bound = binding(name, "Role", name) | {"subjects": EVERYBODY}
        answer = await as_mallory(target, "POST", f"{INSIDE}/rolebindings", bound)
        target.expect(answer.status in (201, 409), answer)
    slowest = 0.0
    for number in range(20):
        answer = await as_mallory(target, "GET", f"/api/v1/namespaces/{MALLORY}/pods/n{number}")
        target.expect(answer.status == 404, answer)
        slowest = max(slowest, answer.seconds)
    small = role("small", {**PODS, "resourceNames": ["a", "b"]})
    answer = await as_mallory(target, "PUT", f"{INSIDE}/roles/small", small)
    target.expect(answer.status in (200, 201), answer)
    reviewed = await as_mallory(
        target,
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
        {"spec": {"namespace": MALLORY}},
    )
    target.expect(reviewed.status == 201, reviewed)
    for number in range(8):
        await as_mallory(target, "DELETE", f"{INSIDE}/rolebindings/many-{number}")
        await as_mallory(target, "DELETE", f"{INSIDE}/roles/many-{number}")
    return f"the slowest GET {slowest * 1000:.0f} ms"


@case("a binding to 15,000 subjects, changed ten times", within=60, memory_mb=600)
async def binding_of_many_subjects(target: Target) -> str:
    subjects = [{"kind": "User", "apiGroup": GROUP, "name": f"user-{number}"} for number in range(15_000)]
    await target.create(f"{INSIDE}/roles", role("pods", PODS), user=MALLORY)
    for number in range(10):
        body = binding("crowd", "Role", "pods") | {"subjects": subjects[number:]}
        answer = await as_mallory(target, "PUT", f"{INSIDE}/rolebindings/crowd", body)
        target.expect(answer.status in (200, 201), answer)
    return "10 times"


@case("two roles of 12,000 rules that are aggregated into view", within=60, memory_mb=900)
async def aggregated_roles(target: Target) -> str:
    into_view = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    for number in range(2):
        body = role(f"many-{number}", *many_rules(RULES // 2 * number), kind="ClusterRole")
        body["metadata"]["labels"] = into_view
        await target.create(f"{RBAC}/clusterroles", body)
    for number in range(5):
        body = role(f"other-{number}", PODS, kind="ClusterRole")
        await target.create(f"{RBAC}/clusterroles", body)
    await asyncio.sleep(5)  # the controller says nothing when it is done
    for name in ("many-0", "many-1"):
        await target.send("DELETE", f"{RBAC}/clusterroles/{name}")
    answer = await target.send("GET", f"{RBAC}/clusterroles/view")
    return f"view has {len(answer.body) >> 10:,} KB"


@case("roles of 97,000 combinations in a body of 2 KB: by PUT and PATCH, and bound", within=60)
async def small_bodies_of_many_rights(target: Target) -> str:
    words = [f"w{number}" for number in range(46)]
    rule = {"apiGroups": words, "resources": words, "verbs": words}
    await target.create(f"{RBAC}/clusterroles", role("crossed", rule, kind="ClusterRole"))
    await target.create(f"{INSIDE}/roles", role("plain", PODS), user=MALLORY)
    merge = "application/merge-patch+json"
    for method, path, body, kind in (
        ("PUT", f"{INSIDE}/roles/plain", role("plain", rule), ""),
        ("PUT", f"{INSIDE}/roles/new", role("new", rule), ""),
        ("PATCH", f"{INSIDE}/roles/plain", {"rules": [rule]}, merge),
        ("POST", f"{INSIDE}/rolebindings", binding("crossed", "ClusterRole", "crossed"), ""),
        ("PUT", f"{INSIDE}/rolebindings/crossed", binding("crossed", "ClusterRole", "crossed"), ""),
    ):
        answer = await as_mallory(target, method, path, body, kind)
        target.expect(answer.status == 403, f"{method} {path}: {answer}")
    answer = await as_mallory(target, "POST", MAPS, named("after"))
    target.expect(answer.status in (201, 409), answer)
    return "5 refused"


@case(
    "3,000 items of a body of 10 KB, each with a default of 300 KB, 10,000 choices and required members",
    within=60,
)
async def large_schemas(target: Target) -> str:
    item = {
        "type": "object",
        "required": ["a"] * 10_000,
        "properties": {
            "a": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "default": {}},
            "large": {"type": "string"},
            "choice": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    item["properties"]["large"]["default"] = "x" * 300_000
    item["properties"]["choice"]["enum"] = [{"a": number} for number in range(10_000)]
    body = definition("larges", {"items": {"type": "array", "items": item}})
    path = f"/apis/redos.com/v1/namespaces/{MALLORY}/larges"
    await defined(target, body, path)
    head = {"apiVersion": "redos.com/v1", "kind": "Large"}
    many = {**head, **named("l", spec={"items": [{} for _ in range(3_000)]})}
    answer = await target.send("POST", path + DRY, many)
    target.expect(answer.status == 413, answer)
    chosen = [{"large": "", "choice": {"a": number}} for number in range(800)]
    answer = await target.send("POST", path + DRY, {**head, **named("l", spec={"items": chosen})})
    target.expect(answer.status == 201, answer)
    return f"413, 201 after {answer.seconds:.1f} s"


@case("a Table of 400 columns that each search 1,000 items", within=60)
async def searching_columns(target: Target) -> str:
    text = {"type": "object", "properties": {"a": {"type": "string"}}}
    body = definition("wides", {"items": {"type": "array", "items": text}})
    body["spec"]["versions"][0]["additionalPrinterColumns"] = [
        {"name": f"c{n}", "type": "string", "jsonPath": f".spec.items[?(@.a=='x{n}')].a"} for n in range(400)
    ]
    path = f"/apis/redos.com/v1/namespaces/{MALLORY}/wides"
    await defined(target, body, path)
    head = {"apiVersion": "redos.com/v1", "kind": "Wide"}
    wide = {**head, **named("w", spec={"items": [{"a": f"y{n}"} for n in range(1_000)]})}
    await target.create(path, wide)
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    answer = await target.send("GET", path, headers=table)
    target.expect(answer.status == 200, answer)
    return f"200 after {answer.seconds:.1f} s"
