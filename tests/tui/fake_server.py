"""A server's answers without a server: for the screens that ask for themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ktui.client.api import Fired
from ktui.client.connection import ClientError

DATA = Path(__file__).parent / "data"
PODS = 3_000


class Reply:
    """What a write answers, as far as screens look at it."""

    def __init__(self, status_code: int, text: str = "") -> None:
        self.status_code = status_code
        self.text = text

    @property
    def is_success(self) -> bool:
        return self.status_code < 300


class FakeServer:
    """Stands in for ApiClient. `asked` is every question in order; `fail` makes all of them fail."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fired: list[str] = []
        self.fail = ""
        self.answers: dict[str, Any] = json.loads((DATA / "answers.json").read_text(encoding="utf-8"))
        self.lists: dict[str, Fired] = {}
        self.on_fire: Callable[[Fired], None] | None = None

    async def get_json(self, path: str) -> Any:
        self._ask(path)
        parts = urlsplit(path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if parts.path == "/ktui/v1/caches/pods/objects":
            return pods_page(int(query["offset"]), int(query["limit"]), query.get("filter", ""))
        for known in (path, f"{parts.path}?{_main(query)}", parts.path):
            if known in self.answers:
                return self.answers[known]
        raise ClientError(f"404: nothing is known of {path}")

    async def request(self, method: str, path: str, body: Any = None) -> Reply:
        self._ask(f"{method} {path}")
        return Reply(202)

    async def fire(
        self,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        keep_body: bool = False,
        on_bytes: Callable[[int], None] | None = None,
    ) -> Fired:
        self._ask(path)
        self.fired.append(path)
        fired = self.lists.get(path) or answer_of(path, len(self.fired))
        if self.on_fire is not None:
            self.on_fire(fired)
        return fired

    async def close(self) -> None:
        """Nothing is open."""

    def _ask(self, path: str) -> None:
        self.asked.append(path)
        if self.fail:
            raise ClientError(self.fail)


def _main(query: Mapping[str, str]) -> str:
    """The part of a query that says what is asked: a prefix or a key."""
    return "&".join(f"{name}={query[name]}" for name in ("prefix", "key", "after", "reveal") if name in query)


def pods_page(offset: int, limit: int, wanted: str = "") -> dict[str, Any]:
    """A page of 3,000 pods, one of them with a name that would bite."""
    names = [f"web-{n:04}" for n in range(PODS)]
    names[3] = "x[red]y\x1b[31m"
    rows = [
        {"namespace": f"team-{n % 12:02}", "name": name, "rv": 44_000 + n, "bytes": 5_900 + n % 97}
        for n, name in enumerate(names)
        if wanted in name
    ]
    return {"rv": 48_102, "total": len(rows), "objects": rows[offset : offset + limit]}


def answer_of(path: str, request_id: int) -> Fired:
    """A LIST's answer by its query: from the cache with resourceVersion, by the page with limit."""
    query = parse_qs(urlsplit(path).query)
    cached = "continue" not in query and query.get("resourceVersionMatch") != ["Exact"]
    limit = int(query.get("limit", ["0"])[0])
    returned = limit or PODS
    more = bool(limit) and "continue" not in query
    metadata: dict[str, Any] = {"resourceVersion": "48102"}
    if more:
        metadata |= {"continue": "bmV4dA", "remainingItemCount": PODS - returned}
    body = json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": []}).encode()
    milliseconds = 3.0 + returned / (400 if cached else 60)
    return Fired(
        path=path,
        status=200,
        headers={
            "x-ktui-route": "cache" if cached else "etcd",
            "x-ktui-reason": "c.any any version will do" if cached else "d.continue the page comes from etcd",
            "x-ktui-cost": f"fetched={returned}, evaluated={returned}, returned={returned}, "
            f"etcd_gets=0, etcd_lists={0 if cached else 1}, seats={max(1, returned // 100)}",
            "x-ktui-request-id": str(9_000 + request_id),
        },
        body_bytes=returned * 5_968,
        first_byte_ms=milliseconds / 4,
        total_ms=milliseconds,
        body=body if limit else None,
    )
