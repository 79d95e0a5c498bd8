"""A server for the Lab: LISTs that stream in, accounts of what they cost, a cache to compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from ktui.client.api import TimedResponse
from ktui.client.connection import ServerConnection
from ktui.contract.events import RequestFinished
from ktui.kube.continuetoken import decode, encode

from .fake_server import HEAD, PODS, FakeServer, Reply

STORED = 5_968  # bytes of a pod in etcd
JSON = 9_000  # bytes of a pod as JSON
SEATS = 8  # as many as one request may take
LONG_WAIT = 1_234_567


class Account(Reply):
    """What one request cost, by its id."""

    def __init__(self, account: RequestFinished) -> None:
        super().__init__(200)
        self.content = msgspec.json.encode(account)


class LabServer(FakeServer):
    """`accounts` by request id; `proof` is what the comparison with etcd finds."""

    connection = ServerConnection("http://127.0.0.1:1")

    def __init__(self) -> None:
        super().__init__()
        self.accounts: dict[int, RequestFinished] = {}
        self.proof = proof(equal=True)
        self.real = False  # it tells nothing of itself, as a kube-apiserver
        self.from_etcd = False  # whatever the rules say
        self.consistent_reads = True  # from the cache, as from 1.31 on

    async def _found(self, path: str) -> Any:
        if path.startswith("/ktui/v1/requests"):
            return {"requests": []}
        if path == "/version":
            return {"major": "1", "minor": "31+"}
        return await super()._found(path)

    async def request(self, method: str, path: str, body: Any = None) -> Reply:
        _, _, number = path.rpartition("/")
        if path.startswith("/ktui/v1/requests/"):
            return Account(self.accounts[int(number)])
        if path == "/metrics":
            return Reply(403, "forbidden")
        return await super().request(method, path, body)

    async def send_json(
        self, method: str, path: str, body: Any, content_type: str = "", kind: Any = Any
    ) -> Any:
        answer = await super().send_json(method, path, body, content_type)
        return msgspec.convert(self.proof, kind, strict=False) if path.endswith("/check") else answer

    async def send_timed(  # type: ignore[override]
        self,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        on_chunk: Callable[[bytes], None] = lambda chunk: None,
        enough: Callable[[], bool] = lambda: False,
        **_: Any,
    ) -> TimedResponse:
        if not self.gate.is_set():
            on_chunk(b" " * LONG_WAIT)
        await self._ask(path)
        self.fired.append(path)
        number = 9_000 + len(self.fired)
        unset = not self.consistent_reads and "resourceVersion" not in path and "continue" not in path
        partial = "Partial" in (headers or {}).get("Accept", "")
        answer = _Answer(path, partial, self.from_etcd or unset)
        on_chunk(answer.body)
        self.accounts[number] = answer.account(number)
        return answer.fired({} if self.real else answer.headers(number))


class _Answer:
    """3,000 pods, of which a selector lets every twelfth through."""

    def __init__(self, path: str, partial: bool, from_etcd: bool) -> None:
        parts = urlsplit(path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self.path = path
        self.cached = not from_etcd
        self.probes = self.cached and "resourceVersion" not in query and "continue" not in query
        self.watch = "watch" in query
        self.limit = int(query.get("limit", "0"))
        self.start = int(decode(query["continue"]).start) if "continue" in query else 0
        matching = PODS // 12 if "/namespaces/" in parts.path or "Selector" in path else PODS
        self.fetched = PODS // 12 if "/namespaces/" in parts.path else PODS
        self.returned = min(self.limit or matching, matching - self.start)
        self.token = (
            encode(HEAD, str(self.start + self.returned)) if self.start + self.returned < matching else ""
        )
        self.remaining = matching - self.start - self.returned
        self.each = 1_100 if partial else JSON
        self.ms = 3.0 + self.returned / 400 + self.fetched / (2_000 if self.cached else 60)
        self.body = self._stream() if self.watch else self._list()

    def _list(self) -> bytes:
        metadata: dict[str, Any] = {"resourceVersion": str(HEAD)}
        if self.token:
            metadata |= {"continue": self.token, "remainingItemCount": self.remaining}
        items = b",".join([b"{}"] * self.returned)
        head = json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": metadata})
        return head[:-1].encode() + b',"items":[' + items + b"]}"

    def _stream(self) -> bytes:
        annotations = {"k8s.io/initial-events-end": "true"}
        metadata = {"resourceVersion": str(HEAD), "annotations": annotations}
        end = json.dumps({"type": "BOOKMARK", "object": {"metadata": metadata}}, separators=(",", ":"))
        return b'{"type":"ADDED","object":{}}\n' * self.returned + end.encode() + b"\n"

    def fired(self, headers: dict[str, str]) -> TimedResponse:
        headers |= {"x-kubernetes-pf-prioritylevel-uid": "workload-low"}
        return TimedResponse(self.path, 200, headers, self.returned * self.each, self.ms / 4, self.ms)

    def headers(self, number: int) -> dict[str, str]:
        route, reason = ("cache", "c.any any version is accepted")
        if not self.cached:
            route, reason = "etcd", "d.rv_unset_legacy no resourceVersion asks for the newest"
        return {
            "x-ktui-route": route,
            "x-ktui-reason": reason,
            "x-ktui-cost": f"seats={SEATS}",
            "x-ktui-request-id": str(number),
        }

    def account(self, number: int) -> RequestFinished:
        rpcs = 1 if self.probes or not self.cached else 0
        return RequestFinished(
            id=number,
            status=200,
            route="cache" if self.cached else "etcd",
            ms=self.ms,
            phases={"etcd": 0.4 * rpcs, "filter": 0.8, "encode": self.ms / 2, "send": self.ms / 5},
            fetched=self.fetched,
            evaluated=self.fetched,
            matched=self.returned,
            returned=self.returned,
            etcd_gets=1 if self.probes else 0,
            etcd_lists=0 if self.cached else 1,
            etcd_rpcs=rpcs,
            etcd_keys=0 if self.cached else self.fetched,
            etcd_bytes=90 * rpcs if self.cached else self.fetched * STORED,
            cached_bytes=self.fetched * STORED if self.cached else 0,
            decoded_bytes=0 if self.cached else self.fetched * STORED,
            encoded_bytes=self.returned * self.each,
            sent_bytes=self.returned * self.each // 12,
            seats=SEATS,
            cpu_ms=self.ms * 0.7,
            peak_held=8 * self.returned + 262_144 if self.cached else self.fetched * STORED + 262_144,
            process_growth=None if self.cached else self.fetched * STORED * 2,
            rv=str(HEAD),
        )


def proof(*, equal: bool) -> dict[str, Any]:
    """What the server answers when it has compared a cache with etcd."""
    digest = "8c2f00d15ea5e001"
    return {
        "rv": str(HEAD),
        "consistent": equal,
        "cache": {"digest": digest, "objects": PODS if equal else PODS - 1},
        "etcd": {
            "digest": digest if equal else "00c0ffee00c0ffee",
            "objects": PODS,
            "rpcs": 3,
            "bytes": PODS * STORED,
        },
        "ms": 41.3,
    }
