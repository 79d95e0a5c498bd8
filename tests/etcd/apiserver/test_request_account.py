"""What a server says of its requests: headers, telemetry, audit log and metrics of 500 kinds of requests.

`request_account.json.gz` holds what an earlier version said, without times, ids and revisions. A change
that makes requests cheaper must not change any of it; one that is meant to is accepted with
`KTUI_ACCEPT_ACCOUNT=1 pytest tests/etcd/apiserver/test_request_account.py`, after a look at the differences.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from ktui.contract.events import RequestFinished, RequestRouted, RequestStarted
from ktui.etcd import embedded
from ktui.etcd.client import EtcdClient
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.embedded import EmbeddedEtcd
from ktui.kube.resources import BUILTIN
from ktui.kube.users import Requester
from ktui.requestlogs.audit_log import AuditLog
from ktui.requestlogs.audit_policy import EVERYTHING
from ktui.requestlogs.log_writer import LogFile, LogWriter
from ktui.telemetry.bus import Bus

from .conftest import JSON, MERGE, TABLE, Api, running

pytestmark = [pytest.mark.etcd, pytest.mark.anyio]

ACCOUNT = Path(__file__).parent / "request_account.json.gz"
INSIDE = "/api/v1/namespaces/a/configmaps"
PROTOBUF = {"Accept": "application/vnd.kubernetes.protobuf"}
METADATA = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
YAML = {"Accept": "application/yaml"}
FORMS: tuple[dict[str, str], ...] = ({}, TABLE, METADATA, PROTOBUF, YAML, {"Accept": "text/html"})
CACHED = (
    ("", "v1", "configmaps"), ("", "v1", "pods"), ("", "v1", "namespaces"), ("", "v1", "events"),
    ("", "v1", "nodes"), ("apps", "v1", "deployments"), ("coordination.k8s.io", "v1", "leases"),
    ("autoscaling", "v1", "horizontalpodautoscalers"), ("events.k8s.io", "v1", "events"),
)  # fmt: skip
USER = Requester("jane", groups=("team", "system:authenticated"))
BYTES = (
    "etcd_bytes",
    "imputed_bytes",
    "cached_bytes",
    "encoded_bytes",
    "sent_bytes",
    "peak_held",
    "decoded_bytes",
)
LENGTHS_DIFFER = 100  # bytes by which the same request may differ: revisions and times have other lengths
REQUEST_ID = "x-ktui-request-id"

Step = tuple[str, str, dict[str, str], Any]


def steps() -> Iterator[Step]:
    """(method, path with query, headers, body), in order: the writes are the same in every run."""
    for number in range(6):
        labels = {"app": f"x{number % 2}", "n": str(number)}
        body = {"metadata": {"name": f"m{number}", "labels": labels}, "data": {"k": "v" * 10 * number}}
        yield "POST", INSIDE, JSON, body
    yield "POST", INSIDE, JSON, {"metadata": {"name": "large"}, "data": {"k": "v" * 40_000}}
    yield "POST", INSIDE, JSON, {"metadata": {"name": "m0"}}
    yield "POST", INSIDE, JSON, {"metadata": {"name": "Not a name"}}
    yield "POST", INSIDE, JSON, {"metadata": {}}
    yield "POST", f"{INSIDE}?dryRun=All", JSON, {"metadata": {"name": "dry"}}
    yield "POST", f"{INSIDE}?dryRun=some", JSON, {"metadata": {"name": "dry"}}
    yield "POST", f"{INSIDE}?fieldValidation=Strict", JSON, {"metadata": {"name": "st"}, "dat": {}}
    yield "PUT", f"{INSIDE}/m1", JSON, {"metadata": {"name": "m1"}, "data": {"k": "put"}}
    yield "PUT", f"{INSIDE}/m1", JSON, {"metadata": {"name": "m1", "resourceVersion": "1"}}
    yield "PATCH", f"{INSIDE}/m2", MERGE, {"data": {"p": "1"}}
    yield "PATCH", f"{INSIDE}/none", MERGE, {"data": {"p": "1"}}
    yield "PATCH", f"{INSIDE}/m2", {"Content-Type": "text/plain"}, {"data": {}}
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ap"}, "data": {"a": "b"}}
    yield "PATCH", f"{INSIDE}/ap?fieldManager=me", {"Content-Type": "application/apply-patch+yaml"}, applied
    names = ("m0", "m1", "m4", "large", "none", "x" * 300)
    for name, form, query in itertools.product(names, FORMS, GET_QUERIES):
        yield "GET", f"{INSIDE}/{name}{query}", form, None
    for place, form, query in itertools.product((INSIDE, "/api/v1/configmaps"), FORMS, LIST_QUERIES):
        yield "GET", f"{place}{query}", form, None
    for path in PATHS:
        yield "GET", path, {}, None
    for method in ("HEAD", "OPTIONS", "POST", "PUT", "DELETE"):
        for path in ("/api/v1/nodes", "/api/v1/nodes/x", "/version", "/nosuch"):
            yield method, path, JSON, {} if method in ("POST", "PUT") else None
    for headers in OTHERS:
        yield "GET", f"{INSIDE}/m0?resourceVersion=0", headers, None
    yield "DELETE", f"{INSIDE}/m3", {}, None
    yield "DELETE", f"{INSIDE}/m3", {}, None
    yield "DELETE", f"{INSIDE}?labelSelector=app%3Dx1", {}, None
    # The answer of a deletion has no revision to wait for. Once this write is seen, deletions are counted.
    yield "POST", INSIDE, JSON, {"metadata": {"name": "last"}}


GET_QUERIES = (
    "",
    "?resourceVersion=0",
    "?resourceVersion=1",
    "?resourceVersion=x",
    "?pretty=1",
    "?timeout=9s",
)
LIST_QUERIES = (
    "", "?resourceVersion=0", "?limit=2", "?limit=2&resourceVersion=0", "?labelSelector=app%3Dx1",
    "?labelSelector=app%3Dx1&resourceVersion=0", "?labelSelector=%3D%3D", "?fieldSelector=metadata.name%3Dm1",
    "?fieldSelector=spec.no%3D1", "?resourceVersionMatch=Exact", "?resourceVersion=99999999&timeout=1ms",
    "?labelSelector=app+in+(x0,x1)", "?limit=1&continue=x", "?continue=x", "?limit=x",
    "?resourceVersion=1&resourceVersionMatch=NotOlderThan",
    "?watch=1&timeoutSeconds=0&resourceVersion=x", "?sendInitialEvents=true",
)  # fmt: skip
PATHS = (
    "/", "/api", "/apis", "/api/v1", "/apis/apps/v1", "/apis/nosuch", "/version", "/healthz", "/readyz",
    "/livez?verbose", "/api/v1/pods", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&resourceVersion=0",
    "/api/v1/namespaces/a", "/api/v1/namespaces/a/status", "/api/v1/nosuch",
    "/api/v1/namespaces/a/pods/x/log",
    "/apis/apps/v1/deployments?limit=5", "/apis/apps/v1/namespaces/a/deployments/x/scale",
    "/api/v1/componentstatuses", "/apis/coordination.k8s.io/v1/leases?resourceVersion=0", "/nosuch",
    "/api/v1/events", "/apis/events.k8s.io/v1/events", "/apis/autoscaling/v1/horizontalpodautoscalers",
    "/openid/v1/jwks", "/api/v1/namespaces/a/pods/", "/api//v1/pods", "/api/v1/pods%", "/apis/x/y/z/w",
)  # fmt: skip
OTHERS: tuple[dict[str, str], ...] = (
    {"User-Agent": "kubectl/v1.36"}, {"User-Agent": "curl/8"}, {"User-Agent": ""}, {"Audit-ID": "own"},
    {"Accept-Encoding": "gzip"}, {"Impersonate-User": "jane"}, {"Authorization": "Bearer wrong"},
    {"Authorization": "Basic x"}, {"Impersonate-Group": "g"}, {"Origin": "https://example.com"},
    {"Impersonate-User": "system:serviceaccount:a:b", "Impersonate-Group": "system:authenticated"},
    {"Host": "example.com"}, {"Accept": "application/json;q=0.1, application/yaml"}, {"Accept": "*/*"},
)  # fmt: skip


class Masked:
    """Replaces what differs between runs: ids, times, ports, and revisions from `first` on.

    A request queues for the loop when its work took a turn, as it does on a busy machine.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._seen: dict[str, str] = {}

    def text(self, text: str) -> str:
        text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", self._named, text)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "<time>", text)
        text = re.sub(r"dur=[\d.]+", "dur=", text)
        text = re.sub(r"127\.0\.0\.1:\d+", "<host>", text)
        return re.sub(r"\b\d{2,9}\b", self._revision, text)

    def _named(self, found: re.Match[str]) -> str:
        return "<id>"

    def _revision(self, found: re.Match[str]) -> str:
        return "<rv>" if self._first <= int(found[0]) < self._first + 400 else found[0]

    def answer(self, answer: httpx.Response) -> list[Any]:
        headers = [(k, v) for k, v in answer.headers.items() if k not in ("date", "server", "content-length")]
        timing = re.sub(r"queue;dur=[\d.]+, |;dur=[\d.]+", "", answer.headers.get("server-timing", ""))
        kept = [[k, self.text(v)] for k, v in headers if k not in ("server-timing", "x-ktui-request-id")]
        return [answer.status_code, kept, timing]

    def event(self, event: RequestStarted | RequestRouted | RequestFinished) -> dict[str, Any]:
        told: dict[str, Any] = msgspec.to_builtins(event)
        for name in ("id", "seq", "at", "ms", "cpu_ms", "peer", "process_growth", "initial_ms", "audit_id"):
            told.pop(name, None)
        if "phases" in told:
            told["phases"] = [phase for phase in told["phases"] if phase != "queue"]
        for stage in told.get("chain", []):
            stage.pop("ms", None)
        told["bytes"] = [told.pop(name, 0) for name in BYTES]
        return {"kind": type(event).__name__, **self.tree(told)}

    def tree(self, value: Any) -> Any:
        """The same tree with each text masked."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.tree(item) for item in value]
        return {name: self.tree(item) for name, item in value.items()} if isinstance(value, dict) else value


async def test_the_account_of_each_request_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # After five seconds etcd would tell idle caches its revision: LISTs that wait for it would be fewer.
    monkeypatch.setitem(embedded._TUNING, "experimental-watch-progress-notify-interval", "1h")
    etcd = await EmbeddedEtcd.start()
    try:
        client = await EtcdClient.connect(EtcdConfig((etcd.endpoint,), read_only=False), Bus())
        found = await _account(client, tmp_path)
        await client.close()
    finally:
        await etcd.stop()
    if os.environ.get("KTUI_ACCEPT_ACCOUNT"):
        ACCOUNT.write_bytes(gzip.compress(json.dumps(found, separators=(",", ":")).encode(), 9, mtime=0))
    kept = json.loads(gzip.decompress(ACCOUNT.read_bytes()))
    assert len(found["requests"]) == len(kept["requests"])
    for (step, *got), (_, *expected) in zip(found["requests"], kept["requests"], strict=True):
        for event, other in zip(got[1], expected[1], strict=False):
            sizes = zip(event.pop("bytes"), other.pop("bytes"), strict=True)
            assert all(abs(size - kept) < LENGTHS_DIFFER for size, kept in sizes), f"{step}: other sizes"
        assert got == expected, "\n".join([step, *_differences(got, expected)])
    assert found["audit"] == kept["audit"]
    assert found["metrics"] == kept["metrics"]


def _differences(got: Any, expected: Any, at: str = "") -> Iterator[str]:
    """Yield the places where two trees differ."""
    if isinstance(got, dict) and isinstance(expected, dict):
        for name in sorted({*got, *expected}):
            yield from _differences(got.get(name), expected.get(name), f"{at}.{name}")
    elif isinstance(got, list) and isinstance(expected, list):
        for number, (one, other) in enumerate(itertools.zip_longest(got, expected)):
            yield from _differences(one, other, f"{at}[{number}]")
    elif got != expected:
        yield f"{at}: {got!r}, expected {expected!r}"


async def _account(client: EtcdClient, directory: Path) -> dict[str, Any]:
    """Send all requests, one after another, and return what the server says of them."""
    file = LogFile(directory / "audit.log")
    audit = LogWriter("a log", file.write)
    audit.start()
    logs = (AuditLog(audit, EVERYTHING, 36),)
    async with running(client, "/t", users={"of-jane": USER}, request_logs=logs, seats=600) as api:
        answer = await api.create("/api/v1/namespaces", {"metadata": {"name": "a"}})
        assert answer.status_code == 201, answer.text
        for group, version, plural in CACHED:
            resource = BUILTIN.find(group, version, plural)
            assert resource is not None and await api.services.registry.for_resource(resource).ready()
        masked = Masked(int(answer.json()["metadata"]["resourceVersion"]))
        subscription = api.services.bus.subscribe()
        sent = [(step, await _send(api, step, as_user=i % 2 == 0)) for i, step in enumerate(steps())]
        metrics = (await api.get("/metrics")).text
        subscription.close()
        events: dict[int, list[Any]] = {}
        async for batch in subscription.batches():
            for event in batch:
                if isinstance(event, RequestStarted | RequestRouted | RequestFinished):
                    events.setdefault(event.id, []).append(masked.event(event))
    await audit.stop()
    file.close()
    requests = [
        [" ".join(step[:2]), masked.answer(answer), events.get(int(answer.headers.get(REQUEST_ID, 0)), [])]
        for step, answer in sent
    ]
    return {
        "requests": requests,
        "audit": _logged(directory / "audit.log", masked),
        "metrics": _counted(metrics),
    }


async def _send(api: Api, step: Step, *, as_user: bool) -> httpx.Response:
    """Send a request of the administrator, whom flow control does not limit, or of a user."""
    method, path, headers, body = step
    headers = {"Authorization": "Bearer of-jane", **headers} if as_user else headers
    content = None if body is None else json.dumps(body)
    answer = await api.http.request(method, path, headers=headers, content=content)
    written = method in ("POST", "PUT", "PATCH", "DELETE") and answer.status_code < 300
    revision = answer.json().get("metadata", {}).get("resourceVersion") if written else None
    if revision and "configmaps" in path:
        await api.seen(answer.json())
    return answer


def _logged(file: Path, masked: Masked) -> list[Any]:
    told = []
    for line in file.read_bytes().splitlines():
        event = json.loads(line)
        event.pop("sourceIPs", None)
        notes = event.get("annotations", {})
        for name in [name for name in notes if name.startswith("apiserver.latency")]:
            del notes[name]
        told.append(masked.tree(event))
    return told


def _counted(metrics: str) -> list[str]:
    """The counts of requests, without times, bytes and what others do meanwhile."""
    told = ("apiserver_request_", "apiserver_flowcontrol_", "apiserver_cache_list_", "apiserver_watch_cache_")
    ends = re.compile(r"(_total|_seconds_count|_seats_count|_sizes_count|_seats|_requests)(\{|$)")
    lines = (line for line in metrics.splitlines() if line.startswith(told))
    timed = re.compile("_demand_|_utilization_|read_vs_write|_target_|_smoothed|current_limit")
    return [line for line in lines if ends.search(line.partition("{")[0] + "{") and not timed.search(line)]
