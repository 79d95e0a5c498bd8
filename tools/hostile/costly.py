"""What the cases of costly requests send, and how a case of one request is added."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from tools.hostile.case import case
from tools.hostile.target import ADMIN, MALLORY, Target

Obj = dict[str, Any]
Make = Callable[[], Any]

OWN = f"/api/v1/namespaces/{MALLORY}"
MAPS, PODS, SERVICES = f"{OWN}/configmaps", f"{OWN}/pods", f"{OWN}/services"
NETWORKING = f"/apis/networking.k8s.io/v1/namespaces/{MALLORY}"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EVILS = f"/apis/redos.com/v1/namespaces/{MALLORY}/evils"
DRY = "?dryRun=All"
STRATEGIC, JSON_PATCH, MERGE, APPLY, YAML = (
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
    "application/yaml",
)


def named(name: str, **members: Any) -> Obj:
    return {"metadata": {"name": name}, **members}


def containers(count: int, first: int = 0, **more: Any) -> list[Obj]:
    return [{"name": f"c{n}", "image": "i", **more} for n in range(first, first + count)]


def pod(name: str, count: int, **more: Any) -> Obj:
    return named(name, spec={"containers": containers(count), **more})


def ports(count: int, kind: str = "NodePort", **more: Any) -> Obj:
    many = [{"name": f"p{n}", "port": n % 60_000 + 1, **more} for n in range(count)]
    return named("s", spec={"type": kind, "ports": many})


def keys(count: int, value: str = "v") -> dict[str, str]:
    return {f"key{n}": value for n in range(count)}


def definition(plural: str, properties: Obj, **more: Any) -> Obj:
    kind = plural[:-1].title()
    names = {"plural": plural, "singular": plural[:-1], "kind": kind, "listKind": f"{kind}List"}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties, **more}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "redos.com", "scope": "Namespaced", "names": names, "versions": [version]}
    return named(f"{plural}.redos.com", spec=spec)


async def defined(target: Target, body: Obj, path: str) -> None:
    """Create a definition, and return once it is established and its resource at `path` is served."""
    await target.create(CRDS, body)
    query = f"watch=true&fieldSelector=metadata.name%3D{body['metadata']['name']}&timeoutSeconds=30"
    head = f"GET {CRDS}?{query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ADMIN}\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", target.port, ssl=target.tls, limit=1 << 26)
    try:
        writer.write(head.encode())
        async with asyncio.timeout(30):
            while b'"type":"Established","status":"True"' not in await reader.readline():
                target.expect(not reader.at_eof(), "the WATCH of the definition has ended")
    finally:
        writer.transport.abort()
    async with asyncio.timeout(30):
        while (await target.send("GET", path)).status != 200:  # each try is an answer of the server
            pass


PATTERNS = {"nested": "^(a+)+$", "counted": "[ab]*a.{900}c$", "either": "^(a|a|b)*c$"}
WITH_PATTERNS = {name: {"type": "string", "pattern": pattern} for name, pattern in PATTERNS.items()}


async def with_patterns(target: Target) -> None:
    listed = {"type": "array", "items": {"type": "string", "enum": [f"e{n}" for n in range(20_000)]}}
    await defined(target, definition("evils", {**WITH_PATTERNS, "many": listed}), EVILS)


def evil(**spec: Any) -> Obj:
    return {"apiVersion": "redos.com/v1", "kind": "Evil", **named("e", spec=spec)}


async def with_pod(target: Target) -> None:
    await target.create(PODS, pod("p500", 500))


async def with_maps(target: Target) -> None:
    for number in range(100):
        body = {"metadata": {"name": f"m{number}", "labels": {"a": f"v{number}"}}}
        await target.create(MAPS, body)


async def with_managers(target: Target) -> None:
    entry = {"operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    entries = [{**entry, "manager": f"m{n}", "fieldsV1": {"f:data": {f"f:key{n}": {}}}} for n in range(3000)]
    body = named("managed", data=keys(3000))
    await target.create(MAPS, body, user=MALLORY)
    body["metadata"]["managedFields"] = entries
    answer = await target.send("PUT", f"{MAPS}/managed", body, user=MALLORY)
    target.expect(answer.status == 200, answer)


async def with_limits(target: Target) -> None:
    """Limits and a quota in Mallory's namespace, which apply to what she creates there."""
    limits = [{"type": "Container", "default": {f"example.com/r{n}": "1" for n in range(50)}}]
    await target.create(f"{OWN}/limitranges", named("l", spec={"limits": limits}))
    await target.create(f"{OWN}/resourcequotas", named("q", spec={"hard": {"requests.cpu": "1"}}))


async def without_limits(target: Target) -> None:
    for path in ("limitranges/l", "resourcequotas/q"):
        await target.send("DELETE", f"{OWN}/{path}")


def add(
    name: str,
    sent: str,
    statuses: tuple[int, ...],
    method: str,
    path: str,
    make: Make,
    content_type: str = "application/json",
    before: Callable[[Target], Awaitable[None]] | None = None,
    user: str = MALLORY,
    within: float = 20.0,
    after: Callable[[Target], Awaitable[None]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Add a case of one request."""

    async def run(target: Target) -> str:
        if before is not None:
            await before(target)
        body = await asyncio.to_thread(_bytes, make)
        answer = await target.send(method, path, body, user=user, content_type=content_type, headers=headers)
        target.expect(answer.status in statuses, answer)
        if after is not None:
            await after(target)
        size = 0 if body is None else len(body)
        return f"{size >> 10:,} KB, {answer.status} after {answer.seconds:.2f} s"

    run.__name__ = name
    case(sent, within=within)(run)


def _bytes(make: Make) -> bytes | None:
    found = make()
    return found if isinstance(found, bytes | None) else json.dumps(found).encode()


def post(name: str, sent: str, statuses: tuple[int, ...], path: str, make: Make, **more: Any) -> None:
    add(name, sent, statuses, "POST", path + DRY, make, **more)


def patch(
    name: str, sent: str, statuses: tuple[int, ...], kind: str, path: str, make: Make, **more: Any
) -> None:
    joint = "&" if "?" in path else "?"
    add(name, sent, statuses, "PATCH", f"{path}{joint}dryRun=All", make, content_type=kind, **more)


def labels(name: str, text: str, count: int) -> None:
    selector = ",".join(text.format(n) for n in range(count))
    path = f"{MAPS}?labelSelector={quote(selector)}"
    add(
        name, f"a LIST with {count:,} times `{text}`", (200, 429), "GET", path, lambda: None, before=with_maps
    )
