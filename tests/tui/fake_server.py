"""A server's answers without a server: for the screens that ask for themselves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from ktui.client.api import RefusedError, TimedResponse
from ktui.client.connection import ClientError, ServerConnection
from ktui.kube.continuetoken import decode, encode

DATA = Path(__file__).parent / "data"
PODS = 3_000
HEAD = 48_102
LEASE = 0x694D71DDF8A1FF05
HOSTILE = "x[red]y\x1b[31m"


class Reply:
    """What a write answers, as far as screens look at it."""

    def __init__(self, status_code: int, text: str = "") -> None:
        self.status_code = status_code
        self.text = text
        self.headers: dict[str, str] = {}
        self.content = b"{}"

    @property
    def is_success(self) -> bool:
        return self.status_code < 300


class FakeServer:
    """Stands in for ApiClient.

    `asked` is every question in order; `failing` makes all of them fail with that
    sentence; while `gate` is not set nothing is answered.
    """

    def __init__(self) -> None:
        self.connection = ServerConnection("https://127.0.0.1:6443")
        self.asked: list[str] = []
        self.fired: list[str] = []
        self.failing = ""
        self.warm_reply = Reply(202)
        self.gate = asyncio.Event()
        self.gate.set()
        self.answers: dict[str, Any] = json.loads((DATA / "answers.json").read_text(encoding="utf-8"))
        self.bodies: dict[str, bytes] = {}
        self.lists: dict[str, TimedResponse] = {}
        self.on_fire: Callable[[TimedResponse], None] = lambda fired: None

    async def get_json(self, path: str, kind: Any = Any) -> Any:
        return msgspec.convert(await self._found(path), kind, strict=False)

    async def _found(self, path: str) -> Any:
        await self._ask(path)
        parts = urlsplit(path)
        query = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        made = _MADE.get(parts.path)
        if parts.path == "/ktui/v1/etcd/key" and int(query.get("revision", 0)) in PAST:
            return _as_it_was(self.answers[f"{parts.path}?key={query['key']}"], int(query["revision"]))
        if made is not None and (answer := made(query)) is not None:
            return answer
        wanted = "&".join(f"{name}={query[name]}" for name in ("prefix", "key", "reveal") if name in query)
        for known in (f"{parts.path}?{wanted}", parts.path):
            if known in self.answers:
                return self.answers[known]
        raise ClientError(f"404: nothing is known of {path}")

    async def request(self, method: str, path: str, body: Any = None) -> Reply:
        await self._ask(f"{method} {path}")
        return Reply(200)

    async def send_json(self, method: str, path: str, body: Any, content_type: str = "") -> Any:
        sent = msgspec.to_builtins(body)
        await self._ask(f"{method} {path} {json.dumps(sent)}")
        if path.endswith("/warm") and self.warm_reply.status_code >= 400:
            raise ClientError(f"{self.warm_reply.status_code}: {self.warm_reply.text}")
        return sent

    async def read(self, path: str, accept: str, received: object) -> AsyncIterator[bytes]:
        """`bodies` by path; a status other than 200 for one that is not there."""
        await self._ask(f"{accept} {path}")
        if path not in self.bodies:
            raise RefusedError("404: not found", 404, {}, b'{"kind": "Status",\n"code": 404}')
        for at in range(0, len(self.bodies[path]), 10_000):
            yield self.bodies[path][at : at + 10_000]

    async def send_timed(
        self,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        on_bytes: Callable[[int], None] | None = None,
    ) -> TimedResponse:
        if on_bytes is not None:
            on_bytes(1_234_567)
        await self._ask(path)
        self.fired.append(path)
        fired = self.lists.get(path) or answer_of(path, 9_000 + len(self.fired))
        self.on_fire(fired)
        return fired

    async def close(self) -> None:
        """Nothing is open."""

    async def _ask(self, path: str) -> None:
        self.asked.append(path)
        await self.gate.wait()
        if self.failing:
            raise ClientError(self.failing)


def _pods_page(query: Mapping[str, str]) -> dict[str, Any]:
    """A page of 3,000 pods, one of them with a name that would bite."""
    wanted, offset, limit = query.get("filter", ""), int(query["offset"]), int(query["limit"])
    names = [HOSTILE if n == 3 else f"web-{n:04}" for n in range(PODS)]
    rows = [
        {"namespace": f"team-{n % 12:02}", "name": name, "rv": str(44_000 + n), "bytes": 5_900 + n % 97}
        for n, name in enumerate(names)
        if wanted in name
    ]
    return {"rv": str(HEAD), "total": len(rows), "objects": rows[offset : offset + limit]}


def _pod_events(query: Mapping[str, str]) -> dict[str, Any]:
    types = ("MODIFIED", "ADDED", "MODIFIED", "DELETED", "MODIFIED")
    count = 200 if "revision" in query else int(query["limit"])
    names = [HOSTILE if n == 2 else f"web-{n * 37 % PODS:04}" for n in range(count)]
    events = [
        {"rv": str(HEAD - n * 3), "type": types[n % 5], "namespace": f"team-{n % 12:02}", "name": name}
        for n, name in enumerate(names)
    ]
    if "revision" in query:
        events = [event for event in events if event["rv"] == query["revision"]]
    return {"events": events}


def _namespaces(query: Mapping[str, str]) -> dict[str, Any]:
    names = ["default", *(f"team-{n:02}" for n in range(12))]
    objects = [{"namespace": "", "name": name, "rv": "100", "bytes": 700} for name in names]
    return {"rv": str(HEAD), "total": len(names), "objects": objects}


def _keys(query: Mapping[str, str]) -> dict[str, Any] | None:
    """Keys of the prefixes that tests look into, in pages by `after`."""
    prefix, limit = query["prefix"], int(query["limit"])
    names, lease, size = {
        "/registry/pods/": ([f"team-{n // 250:02}/web-{n:04}" for n in range(PODS)], 0, 5_968),
        "/registry/pods/team-00/": ([f"web-{n:04}" for n in range(250)], 0, 5_968),
        "/registry/pods/team-01/": ([f"web-{n:04}" for n in range(250)], 0, 5_968),
        "/registry/events/": ([f"team-00/web.17f{n:03x}" for n in range(812)], LEASE, 788),
        "/registry/secrets/": (["team-00/token"], 0, 310),
        "/registry/weird[red]/": ([HOSTILE], 0, 120),
        "x": ([""], 0, 12),
        "/registry/apiregistration.k8s.io/": ([f"apiservices/v1.{g}" for g in ("", "apps", "batch")], 0, 402),
    }.get(prefix, ([], 0, 0))
    keys = [prefix + name for name in names]
    start = keys.index(query["after"]) + 1 if query.get("after") else 0
    page = [
        {
            "key": key,
            "mod_revision": 44_000 + at * 7,
            "create_revision": 31_000 + at * 3,
            "version": 3 + at % 5,
            "lease": lease + at if lease else 0,
            "bytes": size + at % 97,
        }
        for at, key in enumerate(keys if "sort" in query else keys[start : start + limit], start)
    ]
    if sort := query.get("sort"):
        column = {"rev": "mod_revision"}.get(sort.removeprefix("-"), sort.removeprefix("-"))
        page = sorted(page, key=lambda row: row[column], reverse=sort.startswith("-"))[:limit]
        return {"revision": HEAD, "count": len(keys), "keys": page}
    more = page[-1]["key"] if start + limit < len(keys) else ""
    return {"revision": HEAD, "count": len(keys), "keys": page, "next": more}


# Revisions of every key: created, scheduled, running.
PAST = {44_000: (3, 5_968), 38_412: (2, 5_102), 31_000: (1, 3_870)}


def _history(query: Mapping[str, str]) -> dict[str, Any]:
    rows = [
        {
            "key": query["key"],
            "mod_revision": at,
            "create_revision": 31_000,
            "version": version,
            "bytes": size,
        }
        for at, (version, size) in PAST.items()
    ]
    return {"key": query["key"], "revisions": rows, "complete": True}


def _as_it_was(now: dict[str, Any], revision: int) -> dict[str, Any]:
    """A key's answer as of one of its earlier revisions: a pod before it ran, before it was scheduled."""
    version, size = PAST[revision]
    then = json.loads(json.dumps(now)) | {"mod_revision": revision, "version": version, "raw_bytes": size}
    if "metadata" in then["json"]:
        then["json"]["metadata"]["resourceVersion"] = str(revision)
    if revision < 44_000 and "status" in then["json"]:
        then["json"]["status"] = {"phase": "Pending"}
    if revision < 38_412 and "spec" in then["json"]:
        del then["json"]["spec"]["nodeName"]
    return then


_MADE: dict[str, Callable[[Mapping[str, str]], dict[str, Any] | None]] = {
    "/ktui/v1/caches/pods/objects": _pods_page,
    "/ktui/v1/caches/pods/events": _pod_events,
    "/ktui/v1/caches/namespaces/objects": _namespaces,
    "/ktui/v1/etcd/keys": _keys,
    "/ktui/v1/etcd/history": _history,
}


def answer_of(path: str, request_id: int) -> TimedResponse:
    """A LIST's answer by its query: from the cache unless Exact was asked, by the page with limit."""
    query = {key: values[0] for key, values in parse_qs(urlsplit(path).query).items()}
    cached = query.get("resourceVersionMatch") != "Exact"
    limit = int(query.get("limit", "0"))
    start = int(decode(query["continue"]).start) if "continue" in query else 0
    returned = min(limit or PODS, PODS - start)
    metadata: dict[str, Any] = {"resourceVersion": str(HEAD)}
    if start + returned < PODS:
        token = encode(HEAD, str(start + returned))
        metadata |= {"continue": token, "remainingItemCount": PODS - start - returned}
    body = json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": []}).encode()
    milliseconds = 3.0 + returned / (400 if cached else 60)
    return TimedResponse(
        path=path,
        status=200,
        headers={
            "x-ktui-route": "cache" if cached else "etcd",
            "x-ktui-reason": "c.any any version is accepted"
            if cached
            else "d.exact_nosnap older than the snapshots",
            "x-ktui-cost": f"fetched={returned}, evaluated={returned}, returned={returned}, "
            f"etcd_gets=0, etcd_lists={0 if cached else 1}, seats={max(1, returned // 300)}",
            "x-ktui-request-id": str(request_id),
        },
        body_bytes=returned * 5_968,
        first_byte_ms=milliseconds / 4,
        total_ms=milliseconds,
        body=body if limit else None,
    )
