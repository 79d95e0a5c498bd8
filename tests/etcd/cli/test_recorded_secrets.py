"""No recording holds what is secret: values of Secrets, tokens, passwords."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from aetcd import rpc

from ktui.contract.events import EtcdCall, RequestStarted
from ktui.contract.recording import LineDecoder, encode_lines
from ktui.core.sharing.share import Sharer
from ktui.etcd.client_config import EtcdConfig
from ktui.etcd.endpoints import Endpoints
from tests.etcd.members import cluster_of
from tests.etcd.serving import Served, serving
from tests.recordings import read_recording

pytestmark = pytest.mark.anyio

VALUE, ANNOTATED, TOKEN = "canary-value", "canary-annotation", "canary-bearer"
PASSWORD = "canary-etcd-password"
NAME = "canary-name"
HIDDEN = (VALUE, ANNOTATED, TOKEN, PASSWORD)


async def _users(endpoint: str) -> None:
    endpoints = Endpoints(EtcdConfig((endpoint,)))
    auth = rpc.AuthStub(endpoints.connection().channel)
    await auth.UserAdd(rpc.AuthUserAddRequest(name="root", password=PASSWORD))
    await auth.RoleAdd(rpc.AuthRoleAddRequest(name="root"))
    await auth.UserGrantRole(rpc.AuthUserGrantRoleRequest(user="root", role="root"))
    await auth.AuthEnable(rpc.AuthEnableRequest())
    await endpoints.close()


def _secret(name: str, text: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "default", "annotations": {"last-applied": ANNOTATED}},
        "data": {"plain": base64.b64encode(text.encode()).decode()},
    }


async def _work(served: Served) -> None:
    """Write, read, watch, change and lose Secrets, as clients with tokens do."""
    secrets = "/api/v1/namespaces/default/secrets"
    served.http.headers["Authorization"] = f"Bearer {TOKEN}"
    await served.http.post("/api/v1/namespaces", json={"metadata": {"name": "default"}})
    for number in range(3):
        answer = await served.http.post(secrets, json=_secret(f"{NAME}-{number}", VALUE))
        assert answer.status_code == 201, answer.text
    refused = await served.http.post(secrets, json={**_secret(NAME, VALUE), "data": {"plain": VALUE + "%"}})
    assert refused.status_code >= 400
    page = await served.json("/api/v1/secrets?limit=1")
    await served.json(f"/api/v1/secrets?limit=1&continue={page['metadata']['continue']}")
    await served.json(f"/api/v1/secrets?fieldSelector=metadata.name%3D{NAME}-1")
    read = await served.json(f"{secrets}/{NAME}-0")
    assert base64.b64decode(read["data"]["plain"]).decode() == VALUE
    async with served.http.stream("GET", f"{secrets}?watch=1&timeoutSeconds=1") as watch:
        patch = {"data": {"plain": base64.b64encode(VALUE[::-1].encode() + VALUE.encode()).decode()}}
        kind = {"Content-Type": "application/merge-patch+json"}
        changed = await served.http.patch(f"{secrets}/{NAME}-0", json=patch, headers=kind)
        assert changed.status_code == 200, changed.text
        assert [line async for line in watch.aiter_lines()]
    await served.json(f"/ktui/v1/etcd/key?key=/registry/secrets/default/{NAME}-0&reveal=1")
    await served.http.delete(f"{secrets}/{NAME}-2")
    missing = await served.http.get(f"{secrets}/{NAME}-9")
    assert missing.status_code == 404


async def _telemetry(served: Served, until: asyncio.Event) -> bytes:
    """What a dashboard would be told, and record."""
    told = b""
    async with served.http.stream("GET", "/telemetry") as stream:
        async for chunk in stream.aiter_bytes():
            told += chunk
            if until.is_set():
                return told
    return told


def _forms(text: str) -> list[bytes]:
    """A text and how it looks in base64, wherever it begins in what was encoded."""
    inner = [base64.b64encode(b"x" * lead + text.encode())[4 * bool(lead) : -4] for lead in range(3)]
    return [text.encode(), *inner]


async def test_neither_recorder_writes_what_is_secret(tmp_path: Path) -> None:
    file = tmp_path / "server.ndjson"
    async with cluster_of(1, tmp_path) as (member,):
        await _users(member.endpoint)
        words = (
            "--etcd",
            member.endpoint,
            "--user",
            f"root:{PASSWORD}",
            "--allow-writes",
            "--record",
            str(file),
        )
        async with serving(tmp_path, *words, environ={"KTUI_TOKEN": TOKEN}) as served:
            done = asyncio.Event()
            listening = asyncio.create_task(_telemetry(served, done))
            await _work(served)
            done.set()
            await served.http.get("/api/v1/pods")  # whatever it answers: one more event
            told = await listening
    for lines in (told, file.read_bytes()):
        assert b'"resource":"secrets"' in lines and NAME.encode() in lines
        found = [text for text in HIDDEN for form in _forms(text) if form in lines]
        assert not found, f"{found} must not be in a recording"
    events = [*LineDecoder().feed(told), *read_recording(file)]
    assert any(isinstance(event, EtcdCall) and event.op == "txn" for event in events)
    assert any(isinstance(event, RequestStarted) and "continue=" in event.query for event in events)
    shared = encode_lines(Sharer(b"k" * 32, hashing=False).share(events))
    left = [form for form in (*_forms(NAME), member.endpoint.encode()) if form in shared]
    assert not left and b'"namespace":"default"' in shared
